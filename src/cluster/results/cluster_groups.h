/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_groups.h - CommunicationGroupMapping and communication_group.json: the groups of a job and their ranks. */
#ifndef ASCOPE_CLUSTER_RESULTS_CLUSTER_GROUPS_H
#define ASCOPE_CLUSTER_RESULTS_CLUSTER_GROUPS_H

#include "base/files/out.h"
#include "cluster/rank/rank_groups.h"
#include "cluster/results/results.h"

bool cluster_groups_table(const struct groups *g, struct results *out, bool is_always_db); /* false: no memory */
void cluster_groups_json(const struct groups *g, struct out *o); /* no memory: that of g->mem has failed */

#endif
