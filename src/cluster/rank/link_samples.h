/* SPDX-License-Identifier: Apache-2.0 */
/* link_samples.h - links of single operators as links of kinds of operators.
 *
 * Databases of msprof and MindSpore have a row for each operator and link, those of PyTorch rows for a kind of operator
 * ("allreduce"): its sum over a step (-total), and the operators with the lowest (-top1), a middle (-middle) and the
 * highest bandwidths (-bottom1, -bottom2, -bottom3). What compares links needs the latter.
 */
#ifndef ASCOPE_CLUSTER_RANK_LINK_SAMPLES_H
#define ASCOPE_CLUSTER_RANK_LINK_SAMPLES_H

#include "cluster/rank/rank.h"

/* Replaces the rows by those of the kinds; the kind is what is before "__" in an operator's name. False: out of memory. */
bool links_by_kind(struct rank_comm_matrix *m, struct names *names, struct arena *mem);

#endif
