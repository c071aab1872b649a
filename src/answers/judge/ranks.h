/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - the ranks of a job side by side: the median step of each, and the verdict about all of them.
 *
 * All ranks of a synchronous job take the same time for a step: the fast ones wait in communication for the slow one.
 * Ranks are therefore compared by a step without its communication.
 */
#ifndef ASCOPE_ANSWERS_JUDGE_RANKS_H
#define ASCOPE_ANSWERS_JUDGE_RANKS_H

#include "answers/judge/job_steps.h"

struct rank_row {
    const char *name;                     /* of its directory; not owned */
    struct run_member of;                 /* of several devices, of the one that needs most for itself */
    uint64_t n_lost;                      /* records that could not be used */
    int64_t time_ns, part_ns[STEP_PARTS]; /* of its median step */
    bool is_twice;                        /* filled in by ranks_compare(): another row has the same rank */
};

/* The row of a collection, but for its name and what is filled in later; its steps are in `mem`. False only without
 * memory. */
bool rank_row_of(struct rank_row *r, const struct collection *s, struct arena *mem);

/* Fills in the rest, the members of the run with what they know of each other, what the judge finds, and the order to
 * show the rows in: the one that needs most for itself first. False only without memory. */
bool ranks_compare(struct job_choice *out, struct rank_row *row, struct run_member *of, size_t n, uint32_t *order,
                   struct arena *mem);

/* What the judge found about a row in each step; NULL: nothing. */
const struct slow *rank_row_finding(const struct job_steps *j, size_t row);

#endif
