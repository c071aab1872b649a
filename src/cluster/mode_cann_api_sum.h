/* SPDX-License-Identifier: Apache-2.0 */
/* mode_cann_api_sum.h - durations of the calls of the runtime by name, on each rank and over all of them. */
#ifndef ASCOPE_CLUSTER_MODE_CANN_API_SUM_H
#define ASCOPE_CLUSTER_MODE_CANN_API_SUM_H

#include "cluster/modes.h"

extern const struct mode mode_cann_api_sum;

#endif
