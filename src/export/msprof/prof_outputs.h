/* SPDX-License-Identifier: Apache-2.0 */
/* prof_outputs.h - registry: the outputs of a PROF directory. */
#ifndef ASCOPE_EXPORT_MSPROF_PROF_OUTPUTS_H
#define ASCOPE_EXPORT_MSPROF_PROF_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sqlite/db.h"
#include "base/text/table.h"
#include "export/export.h"
#include "export/msprof/tracks/prof_trace.h"
#include "export/trace.h"
#include "profile/collector.h"
#include "profile/profile.h"

/* api_statistic.c: calls of the host's software stack by name: counts and durations. */
bool api_statistic_report(const struct export *x, struct table *out, struct error *e);

/* fusion.c: operators that a model's compiler fused from several: fusion_op. */
bool fusion_report(const struct export *x, struct table *out, struct error *e);

/* gpu_copies.c: the table of memory copies and sets of GPUs: size, kinds of memory, bandwidth. */
bool gpu_copies_report(const struct export *x, struct table *out, struct error *e);

/* marks_table.c: marks of the user as a table: msprof_tx.csv and MSTX_EVENTS. */
bool marks_report(const struct export *x, struct table *out, struct error *e);
bool marks_db(const struct export *x, struct db *db, struct error *e);

/* memory_tables.c: memory of operators: memory_record, operator_memory and static_op_mem, and NPU_OP_MEM of the
 * database. */
bool memory_record_report(const struct export *x, struct table *out, struct error *e);
bool operator_memory_report(const struct export *x, struct table *out, struct error *e);
bool static_memory_report(const struct export *x, struct table *out, struct error *e);
bool memory_db(const struct export *x, struct db *db, struct error *e);

/* op_statistic.c: operators by type: counts and durations. */
bool op_statistic_report(const struct export *x, struct table *out, struct error *e);

/* op_summary.c: one row for each operator that ran on a device: name, times, data, and the counters of the cores. */
bool op_summary_report(const struct export *x, struct table *out, struct error *e);

/* overlap_track.c: computing, communication and idle times of a device: a process of the timeline and
 * OVERLAP_ANALYSIS. */
bool overlap_track(const struct export *x, struct trace *t, struct error *e);
bool overlap_db(const struct export *x, struct db *db, struct error *e);

/* pmu_db.c: the metrics of tasks in the database: one row for each task and metric. */
bool pmu_db(const struct export *x, struct db *db, struct error *e);

/* step_rows.c: iterations and training steps as a table: step_trace.csv. step_track.h has them on the timeline. */
bool step_trace_report(const struct export *x, struct table *out, struct error *e);

/* step_track.c: iterations and training steps on the timeline. */
bool step_trace_track(const struct export *x, struct trace *t, struct error *e);

/* task_time.c: every task of a device: kernel, type, begin and duration. */
bool task_time_report(const struct export *x, struct table *out, struct error *e);

/* aicpu.c: kernels of the AI CPU, and the queue that feeds a model: aicpu, dp and aicpu_mi. */
bool aicpu_report(const struct export *x, struct table *out, struct error *e);
bool data_queue_report(const struct export *x, struct table *out, struct error *e);
bool queue_wait_report(const struct export *x, struct table *out, struct error *e);

/* hardware.c: the tasks of the devices on the timeline: the process Ascend Hardware. hardware_db.c has them in the
 * database. */
bool hardware_track(const struct export *x, struct trace *t, struct error *e);

/* part_tracks.c: parts of tasks on the timeline: of fused tasks, and the first and last blocks of each task. */

bool fused_track(const struct export *x, struct trace *t, struct error *e);
bool block_track(const struct export *x, struct trace *t, struct error *e);

/* summary_rows.c: the operators of a scope in the order of summaries: by device and begin, kernels and collectives
 * together. */

struct summary_row {
    uint32_t row;    /* of the device's tasks, or of its collectives */
    uint16_t device; /* which one of the profile, from 0 */
    bool is_comm;
};

struct summary_rows {
    size_t n;
    struct summary_row *at;
    bool has_ops; /* false: the host recorded no operators, so that only collectives are known */
};

/* Allocated in x->mem. False: no memory. */
bool summary_rows_build(const struct export *x, struct summary_rows *out, struct error *e);

static inline const struct device *summary_device(const struct export *x, const struct summary_row *r)
{
    return &x->profile->device[r->device];
}
int64_t summary_begin_ns(const struct export *x, const struct summary_row *r);
int64_t summary_end_ns(const struct export *x, const struct summary_row *r);

/* dpu.c: what data processing units of the host ran: processes of the timeline, a table. */

bool dpu_track(const struct export *x, struct trace *t, struct error *e);
bool dpu_db(const struct export *x, struct db *db, struct error *e);

/* step_rows.c: the iterations of one device as its reports show them: which rows, and which numbers.
 *
 * The two presentations differ. The newer one shows iterations that began during the collection, in whole nanoseconds.
 * The older one (is_generic) shows every iteration, with fractions of a nanosecond. */

struct step_rows {
    const struct source *source;
    const struct steps *steps;
    bool is_generic;
    uint64_t first_index, last_index; /* only iterations with an index in this range are rows */
    size_t n;
    uint32_t *row;      /* rows of steps.iterations, sorted by their ends */
    uint64_t *data_aug; /* ticks from the end of the previous row to the forward pass; 0: there is no previous row */
    uint32_t *first_reduce,
        *first_get_next; /* index of the first span of each iteration, and behind them the number of spans */
};

/* Makes the rows of a device, allocated in x->mem. False: no memory. */
bool step_rows_make(const struct export *x, const struct device *d, struct step_rows *r, struct error *e);
/* Keeps only the rows of the iterations of x's scope. */
void step_rows_choose(const struct export *x, struct step_rows *r);

/* True when the presentation shows what began at this tick. */
bool step_rows_show(const struct step_rows *r, uint64_t begin_tick);
/* True when a row of steps.iterations is among the rows. */
bool step_rows_have(const struct step_rows *r, size_t iteration);

double step_us(const struct step_rows *r, uint64_t ticks); /* a duration with its fraction */
static inline int64_t step_ns(const struct step_rows *r, uint64_t ticks)
{
    return ticks_to_ns(r->source->device_clock.tick, (int64_t)ticks);
}

/* api_statistic.c: count, sum, least, greatest, mean and variance of durations, as the reports round them.
 *
 * task_statistics are of device tasks, whose durations may have fractions of a nanosecond; call_statistics are of
 * calls of the host. Both start with zeros and own nothing. */

struct task_statistics {
    uint64_t n;
    double total_ns, min_ns, max_ns;
    bool has_fractions;
};

void task_statistics_add(struct task_statistics *s, double ns);
/* The mean. If all durations are whole nanoseconds it is rounded down to a whole one, as SQLite divides integers
 * (op_statistic). */
double task_statistics_average_ns(const struct task_statistics *s);

/* Two passes over the calls: add() every duration, then settle() the mean (rounded to 3 decimals of a µs), then
 * spread() every duration, which adds the square of its distance from the mean. With `rounds_each` each square is
 * rounded, too, as in the older form of api_statistic. */
struct call_statistics {
    uint64_t n;
    double total_ns, min_ns, max_ns;
    double average_us, squares;
};

void call_statistics_add(struct call_statistics *s, double ns);
void call_statistics_settle(struct call_statistics *s, bool rounds_each);
void call_statistics_spread(struct call_statistics *s, double ns, bool rounds_each);
double call_statistics_variance(const struct call_statistics *s);

/* cann.c: the calls of the host: the CANN process of the timeline and the CANN_API table. */

bool cann_track(const struct export *x, struct trace *t, struct error *e);
bool cann_db(const struct export *x, struct db *db, struct error *e);

/* The name of a call, looked up in the dictionary each time: a million calls share a few hundred names. */
name_id call_api_name(const struct profile *p, size_t row);
const char *call_level_text(const struct export *x, uint16_t level); /* "acl", or "" */

/* hardware_db.c: tasks of the devices in the database: TASK, COMPUTE_TASK_INFO, COMMUNICATION_SCHEDULE_TASK_INFO and
 * MEMCPY_INFO. */

bool hardware_db(const struct export *x, struct db *db, struct error *e);

/* Rows of host_tasks that run an operator, one for each global id: those of COMPUTE_TASK_INFO, or with is_schedule
 * those of COMMUNICATION_SCHEDULE_TASK_INFO. In `mem`; NULL: no memory. */
uint32_t *op_task_rows(const struct profile *p, bool is_schedule, struct arena *mem, size_t *n);

/* The names of models. */

/* The name under which a model was loaded last. False: unknown, and *name stays as it was. A collection has a handful
 * of models. */
static inline bool model_name_find(const struct profile *p, uint64_t model, name_id *name)
{
    const struct graph_ids *g = &p->host.records.graph_ids;
    for (size_t i = g->n; i > 0; i--)
        if (g->model[i - 1] == model) {
            *name = dictionary_hash(&p->dictionary, g->name[i - 1]);
            return true;
        }
    return false;
}

static inline struct cell model_name_cell(const struct profile *p, uint64_t model)
{
    name_id name;
    return model_name_find(p, model, &name) ? cell_name(name) : cell_na();
}

/* recording_facts.c: the facts of ascope's recorder about a recording, in the results.
 *
 * The same facts under the same names are rows of a database, an event of a timeline, and lines of a README and of a
 * log. Recordings of other collectors have none. */

struct recording_fact {
    const char *name, *value; /* "clock_mhz", "2400.03125" */
    bool is_number;           /* the value is a number in JSON's spelling */
};
struct recording_facts {
    LIST(struct recording_fact) list; /* in mem; incomplete if arena_failed(mem) */
};
struct recording_facts recording_facts(const struct collector *c, struct arena *mem);

/* Rows of META_DATA: "ASCOPE_CLOCK_MHZ". */
void recording_metadata(struct grid *g, const struct collector *c);
/* The table ASCOPE_STEP_COST: what recording cost in each step. Without steps there is no table. */
bool recording_steps_db(struct db *db, const struct collector *c, struct arena *mem, struct error *e);
/* A metadata event in the process of the last event, with a name that viewers ignore. */
void recording_trace(struct trace *t, const struct recording_facts *facts);

/* db_identity.c: the tables of the database that describe the others: collection, machine, names of numbers. */

/* The tables of all db writers of the registry. */
bool device_db(const struct export *x, struct db *db, struct error *e);
/* SESSION_TIME_INFO, NPU_INFO, HOST_INFO. */
bool identity_db(const struct export *x, struct db *db, struct error *e);
/* RANK_DEVICE_MAP and META_DATA of a database without a framework, written last. Losses are rows of META_DATA whose
 * names begin with ASCOPE_; readers of the reference's databases ignore such names. */
bool about_db(const struct export *x, struct db *db, int64_t rank, struct error *e);
/* All ENUM_* tables. */
bool enums_db(const struct export *x, struct db *db, struct error *e);

/* Parts of the same, for the database of a framework. */
/* rank -1: unknown, but for what the device says */
bool ranks_db(const struct export *x, struct db *db, int64_t rank, struct error *e);
bool host_info_db(struct db *db, const char *uid, const char *name, struct arena *mem, struct error *e);
void metadata_schema(struct grid *g);
void metadata_losses(struct grid *g, const struct losses *lost);
void metadata_simulated(struct grid *g);
bool metadata_db(struct db *db, const struct grid *g, struct error *e);

/* Writes a small table that was filled row by row. Without rows the database has no such table. */
bool grid_db(struct db *db, const char *name, const struct db_column *column, const struct grid *g, struct error *e);

#endif
