/* SPDX-License-Identifier: Apache-2.0 */
/* mode_computational_op_masking.h - how much of the communication of each kind of group is hidden behind kernels. */
#ifndef ASCOPE_CLUSTER_MODE_COMPUTATIONAL_OP_MASKING_H
#define ASCOPE_CLUSTER_MODE_COMPUTATIONAL_OP_MASKING_H

#include "cluster/modes.h"

extern const struct mode mode_computational_op_masking;

#endif
