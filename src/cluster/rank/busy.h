/* SPDX-License-Identifier: Apache-2.0 */
/* busy.h - times at which something ran, merged: intervals that neither overlap nor touch, ascending. */
#ifndef ASCOPE_CLUSTER_RANK_BUSY_H
#define ASCOPE_CLUSTER_RANK_BUSY_H

#include "cluster/rank/rank.h"

struct busy {
    size_t n;
    int64_t *begin_ns, *end_ns;
};

enum { BUSY_KERNELS = 1, BUSY_COLLECTIVES = 2 };
bool busy_of_rank(struct busy *b, const struct rank *r, unsigned what, struct arena *mem); /* false: no memory */

/* Merges what is there, which begins in ascending order. */
void busy_merge(struct busy *b);

#endif
