/* SPDX-License-Identifier: Apache-2.0 */
/* view_input.h - something that is looked at: a trace in Chrome's form, or a collection whose timeline is drawn for it.
 *
 * Loaded by a thread of its own, while the pages already ask how far it is. What is below `lock` may be read under it once `state` is
 * ready, and does not change until it is loaded again.
 */
#ifndef ASCOPE_VIEW_VIEW_INPUT_H
#define ASCOPE_VIEW_VIEW_INPUT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "view/view_progress.h"
#include "view/view_timeline.h"

enum view_state { VIEW_LOADING, VIEW_READY, VIEW_FAILED, VIEW_NEW };

/* A step, and what its time was spent on, in ns from the begin of the timeline. */
/* An answer in words, with the place to look at; end before begin: none. */
struct view_sentence {
    const char *text;
    int64_t begin_ns, end_ns;
};
struct view_step {
    const char *name;
    int64_t begin_ns, end_ns, time_ns, part_ns[4]; /* computing, overlapped, communication, free */
    bool is_slow;
    LIST(struct view_sentence) why; /* of slow ones: what they had more of */
};
struct view_series {
    const char *title;
    int64_t median_ns;
    LIST(struct view_step) steps;
};
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
/* What another command answers with --json, as that text. */
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
    int64_t begin_ns, end_ns; /* INT64_MAX: it was not given back */
    int64_t bytes;
    uint32_t allocator;
    const char *name; /* of the operator that took it; "": unknown */
};

/* What memory was used for, at moments. Found when it is asked for. */
enum { VIEW_CATEGORIES = 8 };
struct view_categorised {
    int64_t ns, bytes[VIEW_CATEGORIES];
};
struct view_categories {
    const char *device, *name[VIEW_CATEGORIES];
    LIST(struct view_categorised) points;
    struct arena *mem; /* NULL: nobody has asked yet */
};

/* Records that could not be used, and the first of them. */
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

/* Kernels of an operator with the same shapes and types, against what their device can do. */
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
/* What a device can do at most. */
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

struct view_input {
    const char *path, *name;
    const char *const *more_paths; /* of a joint input: what else it is made of */
    size_t n_more_paths;
    const char *kind; /* "PyTorch collection", "Chrome trace" */
    /* How it is made into a trace: fills trace and the answers below; false: e says why. */
    bool (*load)(struct view_input *in, struct error *e);
    const void *context; /* of load */
    bool is_on_demand;   /* not loaded before a page asks for it: another input shows it, too */
    pthread_t thread;
    bool has_thread;
    atomic_int state;      /* enum view_state */
    atomic_bool is_adding; /* it is loaded, and its thread adds to it */
    struct view_progress progress;
    atomic_bool has_answers;  /* the answers below are there, before the timeline is */
    struct view_input *first; /* the begin of a large file, shown until all is loaded; under lock; NULL: none */
    atomic_uint n_loads;
    atomic_ullong stamp;     /* source_stamp() when it was loaded */
    atomic_ullong stamp_now; /* as it was found last, at looked_ns of a steady clock */
    atomic_ullong looked_ns;
    char step[64]; /* of two runs: at whose begin they are aligned, as a page has chosen; under lock; "": none was */
    pthread_rwlock_t lock; /* read while something below is in use; written when it is released to be loaded again */

    /* All from here on is filled by loading. */
    struct error error;       /* of VIEW_FAILED */
    atomic_bool is_simulated; /* known as soon as there are answers, or of joint ones with the first that was read */
    bool is_lossy;            /* something could not be read or used: what is shown is without it */
    void (*add)(struct view_input *in); /* what is found when all is shown, and added under lock; NULL: nothing */
    struct mapped drawn;                /* the text of the trace, where it is no file of the user's */
    struct chrome_trace trace;
    struct view_timeline timeline;
    LIST(struct view_series) series;
    LIST(struct view_sentence) sentences;
    LIST(struct view_fact) facts;
    LIST(struct view_rank) ranks;
    LIST(struct view_text) texts;
    LIST(struct view_allocator) allocators;
    size_t n_blocks;
    struct view_block *blocks;
    /* Fills the categories; it is there if they are. */
    bool (*categorise)(const struct view_input *in, struct view_categories *out, struct error *e);
    struct view_categories *categories; /* NULL: what it takes was not recorded */
    LIST(struct view_loss) losses;
    LIST(struct view_kernel_counter) kernel_counters;
    LIST(struct view_work) work; /* by run, the longest first */
    LIST(struct view_roof) roofs;
    double kernels_us, worked_us; /* all kernels; those in `work` */
    const char *db_path;          /* its tables are part of SQL; NULL: it is no database */
    unsigned char *db_image;      /* the same in memory, of db_bytes; NULL: none */
    size_t db_bytes;
    LIST(struct view_db_table) db_tables;
    struct arena *mem;
};

void view_input_init(struct view_input *in); /* before all others */
bool view_input_start(struct view_input *in,
                      struct error *e); /* begins to load it, also again; nothing happens while it is loaded */
/* Under its lock: what can be shown of it, which is all, the begin of it, or nothing yet (NULL). */
const struct view_input *view_input_shown(const struct view_input *in);
/* Of a joint timeline: to which rank a process belongs; NULL: it is not joint. */
const struct view_rank *view_rank_of(const struct view_input *in, uint32_t process);
enum view_source { VIEW_AS_LOADED, VIEW_CHANGED, VIEW_GONE };
enum view_source view_input_source(struct view_input *in); /* the file or directory; looks at most once a second */
void view_input_wait(struct view_input *in);               /* until it is loaded, or has failed */
void view_input_close(struct view_input *in);              /* waits for its thread; one that is all zero is fine */

bool view_losses_keep(struct view_input *in, const struct losses *lost); /* copies them; false: no memory */
/* Shows the begin of a file, about so many bytes, while all of it is loaded: for a `load`. What goes wrong here is left to the rest. */
void view_load_first(struct view_input *in, uint64_t most_bytes);
bool view_load_chrome(struct view_input *in, struct error *e); /* a `load` for files */
bool view_is_large(uint64_t bytes);                            /* a text of which the begin is shown first */
bool view_say_usual(struct view_input *in);                    /* that no step is slow; false: no memory */

#endif
