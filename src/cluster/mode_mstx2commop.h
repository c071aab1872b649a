/* SPDX-License-Identifier: Apache-2.0 */
/* mode_mstx2commop.h - communication operators from the ranges that the framework marks around them, for ranks without collectives. */
#ifndef ASCOPE_CLUSTER_MODE_MSTX2COMMOP_H
#define ASCOPE_CLUSTER_MODE_MSTX2COMMOP_H

#include "cluster/modes.h"

extern const struct mode mode_mstx2commop;

#endif
