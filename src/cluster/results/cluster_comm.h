/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_comm.h - ClusterCommunicationTime and ClusterCommunicationBandwidth: the operators of all ranks, and their
 * sums.
 *
 * Rows of a rank are written when it comes, and not kept.
 */
#ifndef ASCOPE_CLUSTER_RESULTS_CLUSTER_COMM_H
#define ASCOPE_CLUSTER_RESULTS_CLUSTER_COMM_H

#include "cluster/rank/comm_totals.h"
#include "cluster/results/results_write.h"

struct cluster_comm {
    struct table_sink *time, *band; /* NULL until there is a row */
    struct results_writer *writer;
    const char *class_name;
};

/* False: see e, or no memory. */
bool cluster_comm_add(struct cluster_comm *c, const struct rank_summary *s, const struct comm_totals *totals,
                      struct error *e);

#endif
