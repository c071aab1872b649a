/* SPDX-License-Identifier: Apache-2.0 */
/* summary_step_trace.h - computing, communication and free time of a rank: whose source has no table of them, and of its steps by our rule. */
#ifndef ASCOPE_CLUSTER_SUMMARY_STEP_TRACE_H
#define ASCOPE_CLUSTER_SUMMARY_STEP_TRACE_H

#include "cluster/rank_summary.h"

bool summarise_step_trace(struct rank_summary *s, const struct rank *r); /* false: no memory */

/* Steps that begin and end, and are divided, as those of a collection are (analyse/framework/step_bounds.h): free is the time in which
 * neither kernels nor collectives nor copies ran. Of a host without a device computing is all but waiting in collectives. */
bool summarise_own_steps(struct rank_summary *s, const struct rank *r); /* false: no memory */

#endif
