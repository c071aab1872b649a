/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_comm_json.h - cluster_communication.json: the operators of all ranks, by the set of ranks of their group,
 * step and operator.
 *
 * The file has what lies in one rank in many places, and which ranks a group has is known behind the last: all rows are
 * kept.
 */
#ifndef ASCOPE_CLUSTER_RESULTS_CLUSTER_COMM_JSON_H
#define ASCOPE_CLUSTER_RESULTS_CLUSTER_COMM_JSON_H

#include "cluster/rank/comm_totals.h"
#include "cluster/results/rank_sets.h"

struct comm_json_rank; /* the rows of one */
struct comm_json {
    LIST(struct comm_json_rank *) ranks;
    struct names *names;
    struct arena *mem;
};

bool comm_json_add(struct comm_json *j, const struct rank_summary *s,
                   const struct comm_totals *totals);                                         /* false: no memory */
bool comm_json_write(const struct comm_json *j, const struct rank_sets *sets, struct out *o); /* false: no memory */

#endif
