/* SPDX-License-Identifier: Apache-2.0 */
/* mode_base.h - steps and communication of all ranks: the modes all, communication_time and communication_matrix, and the recipes that
 * write some of their tables. */
#ifndef ASCOPE_CLUSTER_MODE_BASE_H
#define ASCOPE_CLUSTER_MODE_BASE_H

#include "cluster/modes.h"

extern const struct mode mode_all, mode_communication_time, mode_communication_matrix, mode_communication_group_map,
    mode_communication_time_sum, mode_communication_matrix_sum;

#endif
