/* SPDX-License-Identifier: Apache-2.0 */
/* summary_gaps.h - when neither a kernel nor a collective ran, and why, for a summary.
 *
 * Of each step, and of what is in none, the longest gaps are kept; a gap is in the step that contains its begin. The reason
 * is found from the tasks before and behind it, the calls that launched them, and the operators that made these calls.
 */
#ifndef ASCOPE_CLUSTER_SUMMARY_GAPS_H
#define ASCOPE_CLUSTER_SUMMARY_GAPS_H

#include "cluster/rank_summary.h"

/* Fills s->gaps; s->steps are there. False: no memory. */
bool summarise_gaps(struct rank_summary *s, const struct rank *r);

#endif
