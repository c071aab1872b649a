/* SPDX-License-Identifier: Apache-2.0 */
/* summary_marks.h - marks and ranges with the times of their tasks and operators, for a summary.
 */
#ifndef ASCOPE_CLUSTER_SUMMARY_MARKS_H
#define ASCOPE_CLUSTER_SUMMARY_MARKS_H

#include "cluster/rank_summary.h"

/* Fills s->marks. False: no memory. */
bool summarise_marks(struct rank_summary *s, const struct rank *r);

#endif
