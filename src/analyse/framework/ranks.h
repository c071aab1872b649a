/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - the ranks of a job against their median: finds the rank that the others wait for.
 *
 * All ranks of a synchronous job take the same time for a step: the fast ones wait in communication for the slow one.
 * Ranks are therefore compared by a step without its communication.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_RANKS_H
#define ASCOPE_ANALYSE_FRAMEWORK_RANKS_H

#include "analyse/framework/step_series.h"

struct rank_row {
    const char *name; /* of its directory; not owned */
    bool has_rank;
    int64_t rank;
    bool is_host;    /* no device was recorded */
    uint64_t n_lost; /* records that could not be used */
    size_t n_steps;
    int64_t time_ns, part_ns[STEP_PARTS]; /* of its median step; of several devices, of the one that needs most */
    /* What ranks_compare() fills in. */
    bool is_slow, is_twice;          /* twice: another row has the same rank */
    enum step_part part;             /* of a slow one: where most of the difference is, computing or free */
    int64_t more_ns, median_part_ns; /* in that part; of the ranks */
};

/* The row of a collection, but for what is filled in later. False only without memory. */
bool rank_row_of(struct rank_row *r, const struct collection *s);

/* Fills in the rest, and the order to show them in: the one that needs most for itself first. False only without
 * memory. */
bool ranks_compare(struct rank_row *row, size_t n, uint32_t *order);

#endif
