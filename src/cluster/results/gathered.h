/* SPDX-License-Identifier: Apache-2.0 */
/* gathered.h - the collectives of all ranks, to be compared with each other: those of one group and name, and of one
 * step if that is asked for, belong together.
 *
 * Ranks are added in ascending order; 32 bytes are kept of each use.
 */
#ifndef ASCOPE_CLUSTER_RESULTS_GATHERED_H
#define ASCOPE_CLUSTER_RESULTS_GATHERED_H

#include "cluster/rank/rank_summary.h"
#include "base/memory/tuples.h"

struct gathered_use {
    uint32_t op;  /* number of (group, name[, step]) in order of first appearance */
    uint32_t row; /* whatever the mode has of it */
    int64_t rank, begin_ns, ns;
};

struct gathered {
    struct tuples ops; /* (group, name, step); steps by their number here */
    LIST(struct gathered_use) uses;
    uint32_t *order; /* of uses by op, behind gathered_sort() */
    struct arena *mem;
};

enum { GATHERED_GROUP, GATHERED_NAME, GATHERED_STEP, GATHERED_PARTS };

/* `step` is any number that is equal for equal steps. False: no memory. */
bool gathered_add(struct gathered *g, const struct rank_collectives *ops, size_t i, int64_t rank, uint32_t step,
                  uint32_t row);
bool gathered_sort(struct gathered *g);
/* The end of the uses of one operator that begin at a place of the order. */
size_t gathered_end(const struct gathered *g, size_t from);
void gathered_parts(const struct gathered *g, uint32_t op, uint32_t part[GATHERED_PARTS]);

/* When a collective was launched, which decides its step; INT64_MIN: its call is not known, and the recipes leave it
 * out. Where no call is known at all, it is its begin. */
int64_t collective_launch_ns(const struct rank_summary *s, size_t i);

bool is_send_or_receive(const struct names *names, name_id op); /* by its name, as the recipes recognise it */

#endif
