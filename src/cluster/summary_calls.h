/* SPDX-License-Identifier: Apache-2.0 */
/* summary_calls.h - counts, sums and quartiles of the calls of the runtime by name and step, for a summary.
 */
#ifndef ASCOPE_CLUSTER_SUMMARY_CALLS_H
#define ASCOPE_CLUSTER_SUMMARY_CALLS_H

#include "cluster/rank_summary.h"

/* Fills s->calls; s->steps are there. False: no memory. */
bool summarise_calls(struct rank_summary *s, const struct rank *r);

#endif
