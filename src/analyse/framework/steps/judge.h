/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h - what is slow in a run, and how it is spread over steps and ranks: the only place where that is decided.
 *
 * A pure function over arrays: it knows no files, no collections, no names. Everything is compared with the noise of
 * the run itself. What is found exceeds it so far that of a hundred healthy runs at most one has a finding, over all
 * comparisons of the run together; and it is worth saying: at least 1 % of the run's time, or a tenth of a step for a
 * single one. docs/answers.md has the rules and how well they do.
 *
 * Steps at the begin that take longer are the start-up, and no fault. Parts of a step (computing, communication, idle
 * time) are often much steadier than the whole step: what shows in one of them is found where the whole is too noisy.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_STEPS_JUDGE_H
#define ASCOPE_ANALYSE_FRAMEWORK_STEPS_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"

enum slow_shape {
    SLOW_ONCE,     /* one step */
    SLOW_STEPS,    /* consecutive steps: first … last */
    SLOW_SINCE,    /* from `first` to the end of the recording: a change of regime */
    SLOW_DRIFT,    /* each step takes a little longer than the one before */
    SLOW_PERIOD,   /* every `period`-th step from `first` */
    SLOW_ALWAYS,   /* a rank, in each step, against its peers */
    SLOW_IN_TURNS, /* uneven work: another rank in each step. Excess: the mean of the slowest rank minus the mean of
                      all */
    SLOW_START_UP, /* the leading steps: imports, compilation, first allocations; paid once, no fault */
    SLOW_SHAPES
};

enum { JUDGE_ALL = UINT32_MAX }; /* all ranks; the whole step; no peer */

struct slow {
    enum slow_shape shape;
    uint32_t rank;        /* row of the rank that causes it; JUDGE_ALL: not a single one */
    uint32_t peer;        /* of SLOW_ALWAYS: row of the rank in the middle of its peers; else JUDGE_ALL */
    uint32_t part;        /* part of the step in which most of it shows; JUDGE_ALL: the step as a whole */
    uint32_t first, last; /* rows of steps */
    uint32_t n;           /* steps that it concerns */
    uint32_t period;      /* of SLOW_PERIOD */
    double
        excess_ns;   /* in each of these steps over what is usual; of SLOW_DRIFT the mean over the level at its begin */
    double lost_ns;  /* in the run: n * excess_ns */
    double share;    /* lost_ns of the time of all steps */
    double noise_ns; /* the spread that it stands out of, of one step */
};

struct judge_table {
    size_t n_steps, n_ranks;
    const int64_t *time_ns; /* [rank * n_steps + step]; below 0: the rank has no such step */
    const int64_t *
        own_ns; /* the same without waiting for other ranks, or without communication where waiting cannot be separated from transfer;
                               NULL with one rank */
    const bool
        *is_catch_up; /* as time_ns: shorter than usual because a step before was longer (step_series.h); a step in
                                      which all ranks are is not looked at; NULL: none is */
    size_t n_parts;   /* at most 32 */
    const int64_t *const *part_ns; /* by part, each as time_ns; they need not add up */
    uint32_t waiting_parts;        /* bits: parts in which a rank waits for others, and which say nothing about it */
    uint32_t
        steady_parts; /* bits: parts whose noise grows with themselves, not with the step: what a device computes */
    const uint32_t *peers;    /* by rank: only ranks of equal numbers are compared (stage, role); NULL: all are */
    const uint32_t *class_of; /* by step: the same for steps (training step, prefill, decode); NULL: all are alike */
    const double *size;       /* by step: what its time grows with (tokens, batch), within its class; NULL: unknown */
};

struct judgement {
    size_t n;
    struct slow *at;  /* by falling lost_ns; those of single steps follow those of many, the start-up is the last */
    double usual_ns;  /* the median step of the run, of its slowest rank; without the start-up and slow steps */
    double noise_ns;  /* the spread of a step around it */
    double single_ns; /* by how much a single step (of the largest class) has to exceed it to be slow; 0: unknown */
    size_t n_startup;
    bool *is_slow; /* by step: it is one of a finding about some steps, and not of the start-up */
    bool *is_once; /* by step: of these, one of a single step or of some steps in a row, not of a regime or a period */
    size_t n_slow; /* steps of is_slow */
};

/* The judgement is in `mem`. False: no memory. */
bool judge(struct judgement *out, const struct judge_table *t, struct arena *mem);

/* One series of times: a table of one rank. */
bool judge_series(struct judgement *out, const int64_t *time_ns, size_t n, struct arena *mem);

#endif
