/* SPDX-License-Identifier: Apache-2.0 */
/* view_job.h - a job of several ranks for the viewer: the results of `ascope cluster`, and which timelines to draw.
 *
 * All ranks are in the answer, from summaries, databases, text results or raw data; nothing is written.
 */
#ifndef ASCOPE_VIEW_INPUTS_VIEW_JOB_H
#define ASCOPE_VIEW_INPUTS_VIEW_JOB_H

#include "base/memory/arena.h"
#include "base/text/error.h"

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

#endif
