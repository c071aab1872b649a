/* SPDX-License-Identifier: Apache-2.0 */
/* summary_step_trace.h - computing, communication and free time of a rank whose source has no table of them. */
#ifndef ASCOPE_CLUSTER_SUMMARY_STEP_TRACE_H
#define ASCOPE_CLUSTER_SUMMARY_STEP_TRACE_H

#include "cluster/rank_summary.h"

bool summarise_step_trace(struct rank_summary *s, const struct rank *r); /* false: no memory */

#endif
