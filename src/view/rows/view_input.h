/* SPDX-License-Identifier: Apache-2.0 */
/* view_input.h - registry: an input of the viewer: a Chrome trace, or a collection or database that is converted to one.
 *
 * Each input is loaded by its own thread, while pages already ask for the progress. The fields below `lock` may be read
 * with the lock once `state` is VIEW_READY, and do not change until the input is loaded again.
 */
#ifndef ASCOPE_VIEW_ROWS_VIEW_INPUT_H
#define ASCOPE_VIEW_ROWS_VIEW_INPUT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/text/error.h"
#include "profile/chrome_trace.h"
#include "view/rows/view_timeline.h"
#include "view/server/view_progress.h"

enum view_state { VIEW_LOADING, VIEW_READY, VIEW_FAILED, VIEW_NEW };

/* A sentence of an answer, and the range of the timeline that it is about; end before begin: none. */
struct view_sentence {
    const char *text;
    int64_t begin_ns, end_ns;
    const char *event; /* the slice; NULL: none */
};
/* A step, and what its time was spent on. */
struct view_step {
    const char *name;
    int64_t begin_ns, end_ns, time_ns, part_ns[4]; /* computing, overlapped, communication, free */
    bool is_slow;
    LIST(struct view_sentence) why; /* of slow steps: the causes */
};
/* What is slow in a run, with the time of its steps, and its largest causes. */
struct view_finding {
    struct view_sentence says;
    struct view_sentence because; /* text NULL: it is not explained, or there is no large cause */
    bool is_start_up;             /* it is no fault */
};
struct view_series {
    const char *title;
    bool is_host; /* there is no device: operators of the host compute */
    int64_t median_ns;
    int64_t whole_ns, whole_part_ns[4]; /* of all steps, or of the whole recording if it has none */
    LIST(struct view_step) steps;
    LIST(struct view_finding) findings; /* or one that nothing is slow; none: there are no steps to compare */
};
void view_series_sum(struct view_series *s); /* the whole, from its steps */
/* The slowest of the slow steps; NULL: none is slow. */
const struct view_step *view_slowest(const struct view_series *s);
struct view_fact {
    const char *name, *text;
};

/* Of a joint timeline: a rank of a job, or of one of two runs; its processes follow each other. */
struct view_rank {
    const char *title; /* "Rank 3": stands before the names of its processes */
    int64_t rank;      /* below 0: it has none */
    uint32_t first_process, n_processes;
};
/* The JSON text that another command prints with --json. */
struct view_text {
    const char *key, *json;
};

/* Memory that an allocator held, as it reported. */
struct view_held {
    int64_t ns, allocated_bytes, reserved_bytes;
};
struct view_allocator {
    const char *name; /* "NPU 0" */
    LIST(struct view_held) held;
};
struct view_block {
    int64_t begin_ns, end_ns; /* INT64_MAX: not released */
    int64_t bytes;
    uint32_t allocator;
    const char *name; /* of the operator that allocated it; "": unknown */
};

/* Records of one kind that could not be used: their number, and file and offset of the first one. */
struct view_loss {
    const char *what, *file;
    uint64_t n, at;
    bool is_damage;
};

/* A metric of all kernels of one name and type. */
struct view_kernel_counter {
    const char *run; /* the title of a rank in a joint timeline, or "" */
    const char *name, *task_type, *metric;
    uint64_t count;              /* of kernels that have a value */
    double mean, most, total_us; /* the mean is weighted by duration; NAN: they took no time */
};

/* The kernels of an operator with the same shapes and types, compared with the peak performance of their device. */
struct view_work {
    const char *run; /* as above */
    const char *name, *input_shapes, *input_types, *input_formats, *output_shapes, *numbers;
    uint64_t count;
    double total_us;
    double operations, bytes;                 /* of all of them; 0: not known */
    double counted_operations, counted_bytes; /* by the cores; 0: not counted */
    const char *operations_by, *bytes_by;     /* "shapes", "shapes, no mask", "counters", "" */
    double share;                             /* of its roof; NAN: not known */
    int64_t begin_ns, end_ns;                 /* the longest run */
};
/* A peak of a device: operations of a kind of numbers, or memory. */
struct view_roof {
    const char *run;
    const char *what;   /* "FP16, BF16"; "memory" */
    const char *source; /* "device": of cores and clocks; "published"; "observed" */
    double per_s;       /* operations; bytes */
};

/* A table of a database that is shown as it is. */
struct view_db_table {
    const char *name, *filtered; /* the latter: what a filter is about, as SQL */
};

struct operator_times;
struct view_input {
    const char *path, *name;
    const char *const *more_paths; /* of a joint input: the other paths */
    size_t n_more_paths;
    const char *kind; /* "PyTorch collection", "Chrome trace" */
    /* Loads the input: fills trace and the answers below; false: e says why. */
    bool (*load)(struct view_input *in, struct error *e);
    const void *context;      /* of load */
    bool is_on_demand;        /* loaded when a page requests it, because another input contains its data, too */
    pthread_mutex_t starting; /* held while the two below change */
    pthread_t thread;
    bool has_thread;
    atomic_int state;      /* enum view_state */
    atomic_bool is_adding; /* it is loaded, and its thread runs `add` */
    struct view_progress progress;
    atomic_bool has_answers;  /* the answers below are there, before the timeline is */
    struct view_input *first; /* the begin of a large file, shown until all of it is loaded; under lock; NULL: none */
    atomic_uint n_loads;
    atomic_ullong stamp;     /* source_stamp() when it was loaded */
    atomic_ullong stamp_now; /* source_stamp() at looked_ns, of a steady clock */
    atomic_ullong looked_ns;
    char step[64];         /* of two runs: the step at which a page aligned them; under lock; "": none */
    pthread_rwlock_t lock; /* held for reading while fields below are used, for writing to replace them */

    /* The fields from here on are filled by loading. */
    struct error error;       /* of VIEW_FAILED */
    atomic_bool is_simulated; /* known as soon as there are answers, or of joint ones with the first that was read */
    bool is_lossy;            /* some records could not be read or used */
    void (*add)(
        struct view_input *in); /* called when the input is ready, to add slower results under lock; NULL: none */
    struct mapped drawn;        /* the text of the trace, if it is not a file of the user */
    struct chrome_trace trace;
    struct view_timeline timeline;
    const char *device; /* "NVIDIA H200"; NULL: not known */
    bool has_rank;
    int64_t rank; /* of a single one */
    LIST(struct view_series) series;
    LIST(struct view_sentence) sentences;
    LIST(struct view_fact) facts;
    LIST(struct view_rank) ranks;
    LIST(struct view_text) texts;
    LIST(struct view_allocator) allocators;
    size_t n_blocks;
    struct view_block *blocks;
    struct operator_times *operators; /* see operator_times.h; NULL: there is no timeline yet */
    LIST(struct view_loss) losses;
    LIST(struct view_kernel_counter) kernel_counters;
    LIST(struct view_work) work; /* by run, the longest first */
    LIST(struct view_roof) roofs;
    double kernels_us, worked_us; /* all kernels; those in `work` */
    const char *db_path;          /* its tables are part of SQL; NULL: it is no database */
    bool db_has_log;              /* pages of it are in the -wal file beside it */
    unsigned char *db_image;      /* the same in memory, of db_bytes; NULL: none */
    size_t db_bytes;
    LIST(struct view_db_table) db_tables;
    struct arena *mem;
};

void view_input_init(struct view_input *in); /* before all others */
/* Starts to load an input, or to load it again; does nothing while it is being loaded. False: there is no thread, e
 * says why. */
bool view_input_start(struct view_input *in, struct error *e);
/* Under its lock: the input itself if it is ready, the begin of its file, or NULL if there is nothing to show yet. */
const struct view_input *view_input_shown(const struct view_input *in);
/* The rank of a process of a joint timeline; NULL: the timeline is not joint. */
const struct view_rank *view_rank_of(const struct view_input *in, uint32_t process);
enum view_source { VIEW_AS_LOADED, VIEW_CHANGED, VIEW_GONE };
enum view_source view_input_source(struct view_input *in); /* the file or directory; looks at most once a second */
void view_input_wait(struct view_input *in);               /* until it is loaded, or has failed */
void view_input_close(struct view_input *in);              /* waits for its thread; one that is all zero is fine */

bool view_losses_keep(struct view_input *in, const struct losses *lost); /* copies them; false: no memory */
/* For a `load`: shows about the first most_bytes of a file while the rest is loaded. Errors are not reported here:
 * loading all of it reports them. */
void view_load_first(struct view_input *in, uint64_t most_bytes);
bool view_load_chrome(struct view_input *in, struct error *e); /* a `load` for files */
bool view_is_large(uint64_t bytes);                            /* a text of which the begin is shown first */

/* device_tracks.c: which tracks show what a device does. They are shown first, then those of the host, then processes
 * that have only counters; the ranks of a joint timeline stay in their order. */

/* Fills timeline.is_device and orders its processes, when an input is loaded. False: no memory. */
bool device_tracks_first(struct view_input *in);

/* How long the work of a device track took in a range: kernels, copies, collectives. */
int64_t device_track_busy_ns(const struct view_input *in, uint32_t track, int64_t begin_ns, int64_t end_ns);

/* joint_trace.c: several traces as one: the ranks of a job, or two runs, below each other on one clock.
 *
 * Parts are added one after the other and taken over; joint_finish() makes one trace of them, in which the processes
 * of a part follow each other, have its title before their names, and are shifted by its time. Flow events stay within
 * their part; the caller adds ties between parts. */

struct joint_part {
    const char *title; /* "Rank 3" */
    int64_t shift_ns;  /* is added to all of its times */
    uint64_t at;       /* of its text in the joint one */
    struct chrome_trace trace;
    struct mapped drawn; /* its text, where it is not mapped by the trace itself */
};

struct joint {
    LIST(struct joint_part *) parts; /* pointers: a mapping must stay where it is */
    int fd;                          /* the joint text; -1 in the beginning */
    uint64_t n_bytes;
    struct arena *mem; /* the caller's */
};

/* The next part, to be filled by the caller: title, trace, drawn. NULL: no memory. */
struct joint_part *joint_add(struct joint *j);
/* After filling: copies the text of the part to an unnamed file in `dir` or in a temporary directory, and releases
 * it. */
bool joint_take(struct joint *j, struct joint_part *p, const char *dir, struct error *e);
/* A part that could not be filled: it is left out. */
void joint_drop(struct joint *j, struct joint_part *p);
/* Makes one trace of all parts and maps its text; `out` and `text` are zero before. The caller releases them with
 * chrome_trace_free() and memory_unmap(), also after a failure. */
bool joint_finish(struct joint *j, struct chrome_trace *out, struct mapped *text, const char *path, struct error *e);
void joint_close(struct joint *j); /* in any case */

/* view_tables_load.c: a folder of tables (the text results of a cluster: *.csv and *.json) as an input of the viewer.
 *
 * Each file is a table of SQL; of a JSON file, one row for each of its values with the path to it. There is no
 * timeline. */

bool view_tables_load(struct view_input *in,
                      struct error *e); /* a `load` of struct view_input; its path is the folder */

#endif
