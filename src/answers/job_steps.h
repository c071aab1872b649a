/* SPDX-License-Identifier: Apache-2.0 */
/* job_steps.h - the steps of a job over its ranks: which step is slow, and which rank the others wait for.
 *
 * A rank is a device of a collection, or its host if there is no device. A step of the job takes as long as on its slowest rank. The ranks
 * of a synchronous job take the same time for a step, because fast ranks wait for slow ones in communication. They differ in their own
 * time: the time of a step without communication.
 *
 * Everything is copied into `mem`, so that the collections may be released.
 */
#ifndef ASCOPE_ANSWERS_JOB_STEPS_H
#define ASCOPE_ANSWERS_JOB_STEPS_H

#include "answers/run_rank.h"

struct rank_step {
    const char *name;
    int64_t time_ns, own_ns; /* own: without communication */
};

struct job_rank {
    size_t input, device_row; /* set by the caller: number of the directory, and of the device in it */
    const char *path;
    bool has_rank;
    int64_t rank;
    bool has_device;
    unsigned device;
    bool is_host;   /* there is no device, in the trace either */
    bool has_model; /* steps are iterations of a model */
    size_t n;       /* steps by begin; 0: none were recorded */
    struct rank_step *step;
    int64_t median_ns, own_median_ns, communication_median_ns; /* lower medians: one long step of two is not usual */
};

/* Fills all but input, device_row and path. False: no memory. */
bool job_rank_of(struct job_rank *r, const struct run_rank *q, struct arena *mem);

struct job_step {
    const char *name;
    int64_t time_ns;
    size_t n_ranks;   /* ranks that have the step */
    uint32_t longest; /* the one of them with the longest own time */
    bool is_slow;
};

enum why_mode {
    WHY_NOTHING, /* neither a step nor a rank is slow, and none was asked for */
    WHY_STEP,    /* one step against the median step, or by itself where there is no other */
    WHY_RANK     /* one rank against the others, in all steps */
};

struct job_choice {
    size_t n; /* steps, sorted by number; names that are not numbers follow */
    struct job_step *step;
    uint32_t *slowest; /* rows, the slowest first */
    size_t n_slow;
    struct spread spread;
    enum why_mode mode;
    uint32_t at;          /* row of the step; NO_ROW with WHY_RANK */
    bool passes_first;    /* the slowest step is the first one of the recording, and another slow one was chosen */
    uint32_t rank;        /* row of the rank on which the cause is looked for */
    uint32_t reference;   /* WHY_RANK: row of the median rank, with which it is compared */
    bool is_waited_for;   /* the others wait for that rank: their steps are longer, without more work of their own */
    int64_t waited_ns;    /* how long they wait, at the median */
    size_t n_waited_for;  /* that rank, and others that took at least half as much longer */
    bool is_slow_for_all; /* WHY_STEP: the step is slow on most ranks, and they do not wait for one of them */
};

/* If a rank is slow in its usual steps, sets mode to WHY_RANK with rank, reference, waited_ns and n_waited_for. False: no memory. */
bool job_rank_slow(struct job_choice *out, const struct job_rank *rank, size_t n, struct arena *mem);

/* What the user asks for. Without a step (NULL) and without a rank the slowest step or rank is chosen. */
struct job_question {
    const char *step;
    bool has_rank;
    int64_t rank;
};

/* Without steps mode is WHY_NOTHING and n is 0. False: there is no such step or rank, or no memory; e has the reason. */
bool job_choose(struct job_choice *out, const struct job_rank *rank, size_t n, const struct job_question *q,
                struct arena *mem, struct error *e);

#endif
