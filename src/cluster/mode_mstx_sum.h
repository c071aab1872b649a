/* SPDX-License-Identifier: Apache-2.0 */
/* mode_mstx_sum.h - durations of marks and ranges of the program: on the host, in the runtime and on the device. */
#ifndef ASCOPE_CLUSTER_MODE_MSTX_SUM_H
#define ASCOPE_CLUSTER_MODE_MSTX_SUM_H

#include "cluster/modes.h"

extern const struct mode mode_mstx_sum;

#endif
