/* SPDX-License-Identifier: Apache-2.0 */
/* job_steps.h - the steps of a job over its ranks: which step is slow, and which rank the others wait for.
 *
 * A rank is a device of a collection, or its host where there is no device. A step of the job is as long as its longest one.
 * Ranks of a synchronous job take the same time for a step; they differ in the time without communication, in which a
 * fast rank waits for a slow one: their own time.
 *
 * Everything is copied into `mem`, so that the collections may be released.
 */
#ifndef ASCOPE_ANSWERS_JOB_STEPS_H
#define ASCOPE_ANSWERS_JOB_STEPS_H

#include "answers/subject.h"

struct rank_step {
    const char *name;
    int64_t time_ns, own_ns; /* own: without communication */
};

struct job_rank {
    size_t target, device_row; /* of the caller: which directory, and which of its devices */
    const char *path;
    bool has_rank;
    int64_t rank;
    bool has_device;
    unsigned device;
    bool has_model; /* steps are iterations of a model */
    size_t n;       /* steps by begin; 0: none were recorded */
    struct rank_step *step;
    int64_t median_ns, own_median_ns, communication_median_ns;
};

/* All but target, device_row and path. False only without memory. */
bool job_rank_of(struct job_rank *r, const struct subject *q, struct arena *mem);

struct job_step {
    const char *name;
    int64_t time_ns;
    size_t n_ranks;   /* that have it */
    uint32_t longest; /* which of them takes longest for itself */
    bool is_slow;
};

enum why_mode {
    WHY_NOTHING, /* neither a step nor a rank is slow, and none was asked for */
    WHY_STEP,    /* one step against the median step */
    WHY_RANK     /* one rank against the others, in all steps */
};

struct job_choice {
    size_t n; /* by number, then by name */
    struct job_step *step;
    uint32_t *slowest; /* rows, the slowest first */
    size_t n_slow;
    struct spread spread;
    enum why_mode mode;
    uint32_t at;        /* row of the step; NO_ROW with WHY_RANK */
    uint32_t rank;      /* row of the ranks: where to look for the cause */
    uint32_t reference; /* WHY_RANK: row of the rank in the middle, to compare it with */
    bool is_waited_for; /* the others wait for that rank */
    int64_t waited_ns;  /* and how long, at the median */
};

/* Sets mode to WHY_RANK, with rank, reference and waited_ns, if a rank is slow in all steps. False only without memory. */
bool job_rank_slow(struct job_choice *out, const struct job_rank *rank, size_t n, struct arena *mem);

/* What is asked for; NULL, and has_rank false: whatever is slowest. */
struct job_question {
    const char *step;
    bool has_rank;
    int64_t rank;
};

/* False: there is no such step or rank, or no steps at all, or no memory; with the reason in e. */
bool job_choose(struct job_choice *out, const struct job_rank *rank, size_t n, const struct job_question *q,
                struct arena *mem, struct error *e);

#endif
