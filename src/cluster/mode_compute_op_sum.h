/* SPDX-License-Identifier: Apache-2.0 */
/* mode_compute_op_sum.h - durations of computing operators by type over all ranks, and by type and name on each. */
#ifndef ASCOPE_CLUSTER_MODE_COMPUTE_OP_SUM_H
#define ASCOPE_CLUSTER_MODE_COMPUTE_OP_SUM_H

#include "cluster/modes.h"

extern const struct mode mode_compute_op_sum;

#endif
