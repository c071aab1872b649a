/* SPDX-License-Identifier: Apache-2.0 */
/* job_steps.h - the steps of a job over its ranks: what the judge finds in them, and which rank the others wait for.
 *
 * A rank is a device of a collection, or its host if there is no device. A step of the job takes as long as on its
 * slowest rank. The ranks of a synchronous job take the same time for a step, because fast ranks wait for slow ones in
 * communication. They differ in their own time: the time of a step without communication.
 *
 * Everything is copied into `mem`, so that the collections may be released.
 */
#ifndef ASCOPE_ANSWERS_JUDGE_JOB_STEPS_H
#define ASCOPE_ANSWERS_JUDGE_JOB_STEPS_H

#include "answers/judge/run_judge.h"
#include "answers/run/run_rank.h"
#include "answers/run/collective_calls.h"
#include "answers/judge/stage_judge.h"

struct run_member {
    size_t input, device_row; /* set by the caller: number of the directory, and of the device in it */
    const char *path;
    bool has_rank;
    int64_t rank;
    int64_t world; /* ranks of its job; 0: unknown */
    bool has_device;
    unsigned device;
    bool is_host;         /* there is no device, in the trace either */
    bool has_model;       /* steps are iterations of a model */
    const char *steps_by; /* as in struct step_series */
    size_t n;             /* steps by begin; 0: none were recorded */
    struct rank_step *step;
    double n_kernels; /* in a step; 0: unknown */
    struct collective_calls calls;
    const char *groups;              /* job_peers.h; NULL: nothing was recorded of them */
    const struct stages *stages;     /* of the job; NULL until job_peers_find() */
    const struct known_waits *waits; /* in them; NULL until job_waits_find(), and for a single rank */
    int64_t median_ns, own_median_ns, communication_median_ns; /* lower medians: one long step of two is not usual */
};

/* Fills all but input, device_row and path. False: no memory. */
bool run_member_of(struct run_member *r, const struct run_rank *q, struct arena *mem);
const char *run_member_name(const struct run_member *r, struct arena *mem); /* "rank 3", "device 1", or the path */

struct job_step {
    const char *name;
    int64_t time_ns;
    size_t n_ranks;   /* ranks that have the step */
    uint32_t longest; /* the one of them with the longest own time */
    bool is_slow;
};

/* The steps of a run, and what the judge finds in them. */
struct job_steps {
    struct judged_run run;
    struct judged_stages stages;
    struct job_step *step; /* by row of the run */
    uint32_t *slowest;     /* rows, the slowest first */
    int64_t median_ns;
};

/* Ranks without a device are only compared with each other. False: no memory. */
bool job_judge(struct job_steps *out, const struct run_member *rank, size_t n, struct arena *mem);

enum why_mode {
    WHY_NOTHING, /* nothing is slow, and no step was asked for */
    WHY_STEP,    /* some steps against the usual one, or the only one by itself */
    WHY_RANK     /* one rank against the others, in all steps */
};

struct job_choice {
    struct job_steps job;
    enum why_mode mode;
    const struct slow *finding; /* the first one, which is explained; NULL: a step that was asked for, or nothing */
    uint32_t at;                /* row of the slowest of the explained steps; NO_ROW with WHY_RANK */
    uint32_t rank;              /* row of the rank on which the cause is looked for */
    uint32_t reference;         /* WHY_RANK: row of the rank in the middle, with which it is compared */
    bool is_waited_for;   /* the others wait for that rank: their steps are longer, without more work of their own */
    int64_t waited_ns;    /* how long they wait, at the median */
    size_t n_waited_for;  /* that rank, and others that took at least half as much longer */
    bool is_slow_for_all; /* WHY_STEP: the step is slow on most ranks, and they do not wait for one of them */
};

/* What the user asks for. Without a step (NULL) what costs most is chosen. */
struct job_question {
    const char *step;
    bool has_rank;
    int64_t rank;
};

/* Without steps mode is WHY_NOTHING and there are no rows. False: there is no such step or rank, or no memory; e has
 * the reason. */
bool job_choose(struct job_choice *out, const struct run_member *rank, size_t n, const struct job_question *q,
                struct arena *mem, struct error *e);

/* The rank on which the cause of a finding shows: the one that causes it, or the slowest in its slowest step. */
uint32_t finding_rank(const struct job_steps *j, const struct slow *f);
uint32_t finding_slowest_step(const struct job_steps *j, const struct slow *f);

#endif
