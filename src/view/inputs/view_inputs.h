/* SPDX-License-Identifier: Apache-2.0 */
/* view_inputs.h - registry: what the viewer can open, and what it computes of it. */
#ifndef ASCOPE_VIEW_INPUTS_VIEW_INPUTS_H
#define ASCOPE_VIEW_INPUTS_VIEW_INPUTS_H

#include <jansson.h>

#include "answers/checks/advise.h"
#include "answers/run/collective_match.h"
#include "answers/run/roofline.h"
#include "answers/run/run_rank.h"
#include "base/memory/arena.h"
#include "base/text/error.h"
#include "export/output_options.h"
#include "open/inputs.h"
#include "open/recording_open.h"
#include "profile/chrome_trace.h"
#include "profile/profile.h"
#include "view/rows/view_input.h"

/* view_chrome.c: loads a trace in Chrome's JSON format into the viewer; for torch.profiler also its steps. */

bool view_chrome_load(struct view_input *in, struct error *e); /* a `load` */

/* view_collection.c: loads a directory into the viewer: its timeline, its steps, and why slow steps are slow. */

struct view_collection {
    const struct input *input;
    const struct output_options *options;
};

/* A `load` of view_input.h; its context is a struct view_collection. */
bool view_collection_load(struct view_input *in, struct error *e);

/* view_ties.c: flow events between the ranks of a joint timeline: which slices are the same collective.
 *
 * Collectives are matched by collective_match.h. Flow events lead from the slice that begins last to all others, which
 * wait for it; for point-to-point operators from the send to the receive. Ranks that are not drawn are left out. */

struct view_member {
    uint32_t collective; /* of match.list */
    uint32_t slice;      /* of the joint trace */
    bool is_send;
};

struct view_ties {
    struct collective_match match; /* names and mem are the caller's */
    LIST(struct view_member) members;
};

/* Adds the next rank: its profile, and its drawn trace, whose slices begin at `first_slice` of the joint trace.
 * False: no memory. */
bool view_ties_add(struct view_ties *t, const struct profile *p, struct chrome_trace *drawn, size_t first_slice);
/* After the last rank: adds the flow events to the joint trace. False: no memory. */
bool view_ties_put(const struct view_ties *t, struct chrome_trace *out);

/* view_job.c: a job of several ranks for the viewer: the results of `ascope cluster`, and which timelines to draw.
 *
 * All ranks are in the answer, from summaries, databases, text results or raw data; nothing is written. */

struct view_job_rank {
    int64_t rank;
    const char *path;
    bool is_raw;      /* a directory with recorded data, not only results or summaries */
    const char *file; /* without recorded data: a trace or a database; NULL: none */
    int64_t ahead_ns; /* how far its clock is ahead of the common one */
    bool is_drawn;    /* its timeline is wanted */
};

struct view_job {
    const char *const *path;
    size_t n_paths;
    const char *wanted;   /* --ranks: the timelines to draw; NULL: all if they are few, else those that stand out */
    const char *steps_by; /* --steps-by; NULL: not given */
    unsigned n_threads;
    uint64_t memory_bytes;
};

enum view_paths {
    PATHS_APART, /* unrelated */
    PATHS_JOB,   /* ranks of one job, at least two */
    PATHS_RUNS   /* two runs: the same ranks twice, or unknown ranks */
};
struct view_job_answer {
    LIST(struct view_job_rank) ranks; /* ascending */
    bool is_lossy;                    /* ranks, or parts of them, are missing from the answer */
    const char *json;                 /* members of ascope cluster --json, and data for the pages */
};
/* Determines how the paths belong together, by names and a few small files. For a job the ranks are filled in.
 * Allocated in mem. */
enum view_paths view_job_look(struct view_job_answer *out, const struct view_job *j, struct arena *mem);
/* Reads the ranks and runs the modes. False: see e. */
bool view_job_read(struct view_job_answer *out, const struct view_job *j, struct arena *mem, struct error *e);

/* view_database.c: loads a database of results into the viewer: timeline, steps, memory, and its tables. */

bool view_database_load(struct view_input *in, struct error *e); /* of a struct view_input */

/* view_joint.c: shows several collections as one input of the viewer: the ranks of a job, or two runs side by side.
 *
 * Ranks of a job are shown on one clock; their collectives show how far the clocks differ. Two runs are shifted so
 * that a step begins at the same time in both; their overview has the result of `ascope compare`. */

enum { RUNS = 2 };

struct view_run {
    const char *name;
    struct inputs inputs;
};

struct view_joint {
    bool is_job;
    struct view_job job;
    struct view_run run[RUNS];
    const char *step; /* the step at which runs are aligned; NULL: the first common one */
    const struct output_options *options;
};

/* A `load` of view_input.h; its context is a struct view_joint. */
bool view_joint_load(struct view_input *in, struct error *e);

/* view_chrome.c: the work of the kernels in a trace of torch.profiler, for the roofline. */

/* `run` is the title of its part, which lives as long as the input, or "". False: e says why. */
bool view_chrome_work(struct view_input *in, const struct chrome_trace *t, const char *run, struct error *e);

/* view_kernel_counters.c: loads counters of kernels for the viewer: the metrics of op_summary, by kernel. */

/* Adds the counters of a directory to in->kernel_counters, if any were recorded. `run`: the title of its rank, valid
 * as long as the input, or "". False: see e. */
bool view_kernel_counters_load(struct view_input *in, const struct recording *l, const struct output_options *options,
                               const char *run, struct error *e);

/* view_steps.c: adds the steps of a collection or trace to the viewer's overview, and explains slow ones. */

bool view_steps_add(struct view_input *in, const struct run_rank *q); /* false: no memory */
/* The same of in->trace, whose steps are found. in->context: --steps-by. False: see e. */
bool view_trace_steps(struct view_input *in, struct error *e);

/* view_roofline.c: loads the work of kernels and the peak rates of their device for the roofline of the viewer. */

/* Adds the work and the peak rates of a directory to in->work and in->roofs, as far as they are known. `run`: the
 * title of its rank, valid as long as the input, or "". False: see e. */
bool view_roofline_load(struct view_input *in, const struct recording *l, const char *run, struct error *e);
/* The same for a roofline that the caller has computed. False: no memory. */
bool view_roofline_keep(struct view_input *in, const struct roofline *r, bool is_gpu, const char *run);
/* Shifts the places of a run as its timeline was shifted. */
void view_roofline_shift(struct view_input *in, const char *run, int64_t shift_ns);

/* view_advice.c: the findings of `ascope advise` for the overview of the viewer: its JSON, with times relative to a
 * base. */

struct view_advice {
    LIST(struct advise_rank) ranks;
    LIST(int64_t) shift_ns; /* of each rank: added to its times */
};

/* Runs the checks of one rank; NULL: no memory. */
struct advise_rank *advise_look(const struct run_rank *q, struct arena *mem);

/* Runs the checks of a rank, or of all devices of a directory. False: no memory. */
bool view_advice_add(struct view_advice *a, const struct run_rank *q, size_t device_row, const char *path,
                     int64_t shift_ns, struct arena *mem);
bool view_advice_add_all(struct view_advice *a, const struct recording *l, const char *path, int64_t shift_ns,
                         struct arena *mem);
/* Stores the findings as the text "advice" of the input. False: no memory. */
bool view_advice_put(const struct view_advice *a, struct view_input *in);

/* Stores the JSON text of a value under a key. Takes the reference. False: no memory. */
bool view_text_put(struct view_input *in, const char *key, json_t *value);

#endif
