/* SPDX-License-Identifier: Apache-2.0 */
/* mode_slow_rank.h - ranks that come late to collectives: those whose part of one is conspicuously short. */
#ifndef ASCOPE_CLUSTER_MODE_SLOW_RANK_H
#define ASCOPE_CLUSTER_MODE_SLOW_RANK_H

#include "cluster/modes.h"

extern const struct mode mode_slow_rank;

#endif
