/* SPDX-License-Identifier: Apache-2.0 */
/* framework_files.h - registry: the outputs of a collection, beyond those of its PROF directory. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_FILES_H
#define ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_FILES_H

#include "base/memory/arena.h"
#include "export/comm/communication.h"
#include "export/framework/collection_export.h"
#include "export/lanes.h"
#include "export/places.h"
#include "export/trace.h"
#include "profile/chrome_sink.h"
#include "profile/collection.h"
#include "profile/framework.h"
#include "profile/ms_data.h"

/* host_tracks.c: the interface through which trace_view.c writes the data of a framework on the timeline. One for each
 * framework.
 *
 * These events are the largest part of the largest file. They are therefore written in parts, by several threads.
 * Every part has at least one event, so that a comma before a part is always right. */

struct host_tracks {
    void *(*take)(const struct collection_export *x); /* allocated in x->mem; NULL: out of memory */
    size_t (*n_parts)(const void *tracks);
    /* Writes part i. t has no lanes, because slices are not written in the order of time: they know their tids. */
    void (*write)(const void *tracks, size_t i, struct trace *t);
    /* Writes the end of the timeline: flow events to the device, and what is derived from device data. `lanes` knows
     * where slices of the device were drawn; NULL: there is no device. False: no memory. */
    bool (*finish)(const struct collection_export *x, const void *tracks, struct trace *t, const struct lanes *lanes);
    int64_t (*begin_ns)(const struct framework *f); /* the begin of the first event; INT64_MAX: there is none */
};

/* Functions for both frameworks. A section of n_rows rows is written in host_parts() parts. */
size_t host_parts(size_t n_rows);
/* The rows of part *i, first up to end. False: the part is in a later section, and *i is now counted from its begin. */
bool host_part(size_t n_rows, size_t *i, size_t *first, size_t *end);
void host_arg_name(struct trace *t, const char *key, name_id name);      /* NO_NAME: the argument is left out */
int64_t host_earliest(const int64_t *begin_ns, size_t n, int64_t least); /* the least of them and `least` */

/* framework_db.c: the databases of a collection of a framework.
 *
 * ascend_pytorch_profiler_{rank}.db has the tables of the device's database and the data of the framework. Texts are
 * ids of STRING_IDS, numbered from 0 in the order of their first use. (The reference numbers those of the framework
 * from 2^28 and those of memory from 2^29, but readers look ids up in the table.) An empty text is NO_STRING, which is
 * not in the table. */

bool pytorch_db_write(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);

/* ascend_mindspore_profiler_{rank}.db has the tables of the device's database, and of the framework its steps. */
bool ms_db_write(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);

/* Their tables, to any database. */
bool pytorch_tables(const struct collection_export *x, struct db *db, struct error *e);
bool ms_tables(const struct collection_export *x, struct db *db, struct error *e);

enum { NO_STRING = UINT32_MAX };

/* The cell of a text of the framework in a column of ids. */
static inline struct cell cell_string(name_id name)
{
    return name == NAME_EMPTY ? cell_uint(NO_STRING) : cell_name(name);
}

/* framework_api_db.c: the framework's calls in the database: PYTORCH_API and its texts. */
/* PYTORCH_API, CONNECTION_IDS and PYTORCH_CALLCHAINS. */
bool pytorch_api_db(const struct collection_export *x, struct db *db, struct error *e);

/* framework_memory.c: memory of a PyTorch collection: memory_record.csv, operator_memory.csv, npu_module_mem.csv.
 * framework_memory_db.h has it in the database. */
bool framework_memory_record(const struct collection_export *x, struct table *out, struct error *e);
bool framework_operator_memory(const struct collection_export *x, struct table *out, struct error *e);
bool framework_module_memory(const struct collection_export *x, struct table *out, struct error *e);

/* framework_memory_db.c: memory of a PyTorch collection in the database: MEMORY_RECORD and OP_MEMORY. */
bool framework_memory_db(const struct collection_export *x, struct db *db, struct error *e);

/* framework_tracks.c: the data of PyTorch on the timeline: operators, the task queue, Python calls, garbage
 * collections. */
extern const struct host_tracks torch_host_tracks;

/* kernel_details.c: kernel_details.csv: op_summary with the framework's names of columns, and the step of each row. */
bool collection_has_kernels(const struct collection *s); /* a device was recorded, at a level that has kernels */
bool kernel_details_table(const struct collection_export *x, struct table *out, struct error *e);

/* ms_memory.c: memory of a collection of MindSpore: memory_record.csv, operator_memory.csv. */
bool ms_memory_record(const struct collection_export *x, struct table *out, struct error *e);
/* Older releases wrote the table themselves: then it is a copy. */
bool ms_operator_memory_write(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);

/* ms_pipeline_tables.c: the dataset pipeline of MindSpore: its nodes as a table, and a summary with advice. */
bool ms_pipeline_raw_table(const struct collection_export *x, struct table *out, struct error *e);
bool ms_pipeline_summary_csv(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);
bool ms_pipeline_summary_json(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);

/* ms_step_trace.c: step_trace_time.csv of MindSpore: the time of each step on the device, by kind.
 *
 * A step is the time of its range on the host. Work that began in it counts as a whole; free time is cut at the ends of
 * the step. */
bool ms_step_trace_table(const struct collection_export *x, struct table *out, struct error *e);

/* ms_tables.c: tables of what MindSpore records of its operators and datasets: dataset.csv, operator_details.csv. */
bool ms_dataset_table(const struct collection_export *x, struct table *out, struct error *e);
bool ms_operator_details_table(const struct collection_export *x, struct table *out, struct error *e);

/* ms_tracks.c: the data of MindSpore on the timeline: ranges, Python calls, operators of the CPU, flow events, layers
 * of scopes. */
extern const struct host_tracks ms_host_tracks;

/* operator_details.c: operator_details.csv: host and device time of each operator, own and with everything that it
 * called. */
bool collection_has_framework(const struct collection *s);
bool operator_details_table(const struct collection_export *x, struct table *out, struct error *e);

/* ms_scopes.c: layers of a network on the timeline: when the operators of each layer ran.
 *
 * Names of operators are paths ("Default/network-Net/conv-Conv2d/MatMul-op2"). Each component but the last is a layer;
 * its depth is the number of its track. A slice of a layer lasts as long as successive operators have that component
 * at that depth. */

bool ms_scopes_draw(const struct collection_export *x, struct trace *t); /* false: no memory */

/* ms_pipeline_advice.c: advice about a slow dataset pipeline, from the CPU use of its nodes and the fill of their
 * queues.
 *
 * Rules and limits are those of the reference; the texts are not. Texts are in the arena of struct advice. */

/* The figures of a node in the summary; percentages are rounded as they are shown. */
struct node_figures {
    const char *name, *label; /* "Batch", "Batch(id=2)" */
    bool has_queue;           /* an output queue with samples */
    double utilization_pct;   /* the mean fill of that queue; -1: unknown, also below */
    double empty_pct;         /* of the samples in which it was empty */
    double cpu_pct;           /* of each worker */
};

struct pipeline_advice {
    LIST(const char *) cpu, queue;
    const char *bottleneck, *suggestion; /* NULL: none */
    struct arena *mem;
};

bool ms_pipeline_advise(struct pipeline_advice *a, const struct ms_pipeline *p,
                        const struct node_figures *f); /* false: no memory */

enum { PERCENT_TEXT = 40 };
/* As Python shows a rounded number: 12.5, 3.0 */
const char *rounded_text(double v, int decimals, char out[PERCENT_TEXT]);

/* step_collectives.c: the collectives of a collection by step: first those between two ranks (p2p), then the others.
 *
 * Everything is in the arena of the caller. */

enum { KIND_P2P, KIND_COLLECTIVE, KINDS };
extern const char *const collective_kind_name[KINDS];

struct step_collectives {
    enum framework_id framework_id;
    struct collectives all;
    struct collective_place *place; /* of each collective */
    size_t n_steps;                 /* without steps 1: all collectives are in one step without a number */
    name_id *step;                  /* "step3" */
    uint32_t *order; /* the collectives that have a place, sorted by step, then by kind, then as they are listed */
    uint32_t *first; /* by bin_of(): the first position of a step and kind in `order`; one more at the end */
};

/* `in_any_case`: if no collective is in a step, all of them are put into one step without a number. *has_any is false
 * when there is nothing to report; the fields above are not set then. False: no memory. */
bool step_collectives_find(struct step_collectives *c, const struct collection_export *x, bool in_any_case,
                           bool *has_any);

/* Writes the sum of a step and kind: without a start time and without ratios of links. */
void json_step_total(const struct comm_cost *total, struct out *o);

static inline size_t bin_of(size_t step, int kind)
{
    return step * KINDS + (size_t)kind;
}

/* communication_json.c: the communication of a collection by step.
 *
 * communication.json (time of each collective, bytes by kind of link), communication_matrix.json (bytes between
 * ranks), and the same as tables of analysis.db. */

bool communication_json_write(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);
bool communication_matrix_write(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);

/* communication_analyzer.db: the collectives of the whole collection without steps, as `ascope communication` has
 * them. */
bool communication_analyzer_write(const struct collection_export *x, const char *path, uint64_t *n_rows,
                                  struct error *e);

/* CommAnalyzerTime, CommAnalyzerBandwidth, CommAnalyzerMatrix. */
bool communication_json_db(const struct collection_export *x, struct db *db, struct error *e);

/* framework_lanes.c: the places of kernels on the timeline, at which flow events of the framework end. */

struct place {
    uint32_t pid;
    int64_t tid;
};
struct kernel_places {
    const struct profile *p;
    unsigned comm_sort; /* the sort index in the pid of the process of collectives */
    const uint32_t *row_of_stream;
    struct comm_groups *groups; /* by device */
    struct arena *mem;
};
bool kernel_places_take(struct kernel_places *out, const struct profile *p, struct arena *mem); /* false: no memory */
struct place kernel_place(const struct kernel_places *places, const struct kernels *k, size_t row);

/* step_trace_time.c: step_trace_time.csv: the time of each step on each device, by kind. */

enum {
    STEP_TRACE_DEVICE,
    STEP_TRACE_STEP,
    STEP_TRACE_COMPUTING,
    STEP_TRACE_EXPOSED,
    STEP_TRACE_OVERLAPPED,
    STEP_TRACE_COMMUNICATION,
    STEP_TRACE_FREE,
    STEP_TRACE_STAGE,
    STEP_TRACE_BUBBLE,
    STEP_TRACE_EXPOSED_WITHOUT_RECEIVE,
    STEP_TRACE_PREPARING,
    STEP_TRACE_COLUMNS
};
/* A table without the device has the columns from STEP_TRACE_STEP on. */
extern const struct column step_trace_columns[STEP_TRACE_COLUMNS];

bool step_trace_time_table(const struct collection_export *x, struct table *out, struct error *e);

/* framework_lanes.c: further lanes for events of a thread that overlap without nesting.
 *
 * A range of the user begins inside the Python call that opens it and ends long after that call. Viewers have one
 * stack of slices for a track and drop such a range. It is put into a further lane of its thread: see lanes.h. */

enum thread_slices { SLICES_OPS, SLICES_ENQUEUE, SLICES_DEQUEUE, SLICES_PYTHON, SLICES_KINDS };

/* A further lane of a thread. */
struct framework_lane {
    uint32_t process, thread, lane;
};

struct framework_lanes {
    uint8_t *lane[SLICES_KINDS];         /* the lane of each row of a table; NULL: all are in lane 0 */
    LIST(struct framework_lane) further; /* in order of their first slices */
};

/* In `mem`. False: no memory. */
bool framework_lanes_find(struct framework_lanes *out, const struct framework *f, struct arena *mem);

/* The tid at which row i of a table is drawn, with its flow events. */
int64_t framework_lane_row(const struct framework_lanes *l, enum thread_slices kind, size_t i, uint32_t thread);
/* Writes the names of further lanes, first up to end. */
void framework_lanes_write(const struct framework_lanes *l, struct trace *t, size_t first, size_t end);

/* trace_view.c: the timeline of a collection: framework, device, and flow events from operators to what they started. */

/* Passes the events to a sink instead of writing them. */
bool trace_view_draw(const struct collection_export *x, const struct chrome_sink *sink, uint64_t *n_events,
                     struct error *e);
/* Writes the file, compressed if the path ends with .gz. *n_events 0: there is nothing to show, and no file. */
bool trace_view_write(const struct collection_export *x, const char *path, uint64_t *n_events, struct error *e);

/* analysis_db.c: analysis.db: communication and steps of a collection as tables. */

bool analysis_db_write(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);
/* Its tables, to any database. */
bool analysis_tables(const struct collection_export *x, struct db *db, struct error *e);
/* Parts of them: communication; StepTraceTime. */
bool communication_tables(const struct collection_export *x, struct db *db, struct error *e);
bool step_times_db(const struct collection_export *x, struct db *db, struct error *e);

#endif
