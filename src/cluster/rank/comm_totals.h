/* SPDX-License-Identifier: Apache-2.0 */
/* comm_totals.h - sums over the operators of a group in a step, of one rank: rows of an operator "Total Op Info". */
#ifndef ASCOPE_CLUSTER_RANK_COMM_TOTALS_H
#define ASCOPE_CLUSTER_RANK_COMM_TOTALS_H

#include "cluster/rank/rank_summary.h"

struct comm_totals {
    struct rank_comm_time time;
    struct rank_comm_bandwidth band; /* by transport and size of packages */
};

bool comm_totals_of(const struct rank_summary *s, struct comm_totals *out, struct arena *mem); /* false: no memory */

/* size or wait of a whole, to 4 decimals; 0 where there is none. */
double comm_ratio(double part, double other);
double comm_bandwidth(double mb, double ms);

#endif
