/* SPDX-License-Identifier: Apache-2.0 */
/* mode_hccl_sum.h - durations of collectives by type, over all ranks and on each, the longest ones, and who is in which group. */
#ifndef ASCOPE_CLUSTER_MODE_HCCL_SUM_H
#define ASCOPE_CLUSTER_MODE_HCCL_SUM_H

#include "cluster/modes.h"

extern const struct mode mode_hccl_sum;

#endif
