/* SPDX-License-Identifier: Apache-2.0 */
/* mode_module_statistic.h - operators and kernels of the modules of the network, on each rank. */
#ifndef ASCOPE_CLUSTER_MODE_MODULE_STATISTIC_H
#define ASCOPE_CLUSTER_MODE_MODULE_STATISTIC_H

#include "cluster/modes.h"

extern const struct mode mode_module_statistic;

#endif
