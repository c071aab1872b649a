/* SPDX-License-Identifier: Apache-2.0 */
/* summary_runs.h - durations of kernels by name, type, shapes and step, for a summary.
 */
#ifndef ASCOPE_CLUSTER_SUMMARY_RUNS_H
#define ASCOPE_CLUSTER_SUMMARY_RUNS_H

#include "cluster/rank_summary.h"

/* Fills s->kernels; s->steps are there. False: no memory. */
bool summarise_runs(struct rank_summary *s, const struct rank *r);

#endif
