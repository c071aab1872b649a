/* SPDX-License-Identifier: Apache-2.0 */
/* mode_operator_mfu.h - the share of the peak of their device that kernels reach with the operations that they have to do. */
#ifndef ASCOPE_CLUSTER_MODE_OPERATOR_MFU_H
#define ASCOPE_CLUSTER_MODE_OPERATOR_MFU_H

#include "cluster/modes.h"

extern const struct mode mode_operator_mfu;

#endif
