/* SPDX-License-Identifier: Apache-2.0 */
/* checked_rank.h - one rank as the checks of advise.h see it: its steps, what their time was spent on, its spans.
 *
 * It is checked over some of its steps: the usual ones, all of them, or a few slow ones by themselves. What checks
 * report are means over these, so that what happened once is in no mean of what happens in each step. Everything is in
 * the spare arena.
 */
#ifndef ASCOPE_ANSWERS_CHECKS_CHECKED_RANK_H
#define ASCOPE_ANSWERS_CHECKS_CHECKED_RANK_H

#include "answers/checks/host_gaps.h"
#include "answers/checks/host_pauses.h"
#include "answers/run/rank_spans.h"

/* Launches, and those of them that are immediately followed by a wait for the device. */
struct launch_waits {
    uint64_t n, n_waits;
    double *wait_ns; /* by row of the series */
    size_t longest;  /* of the waits: row of SPAN_CALL */
    int64_t longest_ns;
};

struct checked_rank {
    struct run_rank rank;
    struct rank_spans spans;
    struct step_series series;
    size_t n_startup;              /* slow steps at the begin of the recording, which do not count */
    int64_t from_ns;               /* begin of the steps that count; INT64_MIN: the whole recording counts */
    const bool *counts;            /* by step; NULL: all behind the start-up count */
    bool is_of_few;                /* only slow steps count */
    struct step_profile mean;      /* of the steps that count */
    struct step_division division; /* of the usual steps, and of each of the others */
    uint32_t *slow;                /* rows of these others */
    size_t n_slow;
    double step_ns;  /* duration of the mean step; without steps, of the whole recording */
    size_t n_steps;  /* that count; at least 1 */
    const char *per; /* what times refer to: "a step", or "in all" that was recorded */
    bool is_gpu, has_device;
    double *alone_ns; /* by kernel: time in which no earlier kernel computes; 0: it is in no step that counts */
    double *pays_ns;  /* of that, what a step would gain without it (kernel_checks.h) */
    struct host_gaps gaps;
    struct host_pauses pauses;
    struct launch_waits launches;
    struct arena *mem, *spare; /* for the findings; for temporary data of the checks */
};

static inline bool advise_counts(const struct checked_rank *s, uint32_t step)
{
    return step != NO_ROW && step >= s->n_startup && (!s->counts || s->counts[step]);
}

/* Fills what does not depend on the steps that count. rank, mem and spare are set. False only without memory. */
bool checked_rank_begin(struct checked_rank *s);
/* Fills the rest, as often as wanted. `counts` is lent. False only without memory. */
bool checked_rank_count(struct checked_rank *s, const bool *counts, bool is_of_few);

#endif
