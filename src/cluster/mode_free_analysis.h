/* SPDX-License-Identifier: Apache-2.0 */
/* mode_free_analysis.h - the longest times during which a rank neither computed nor communicated, and why. */
#ifndef ASCOPE_CLUSTER_MODE_FREE_ANALYSIS_H
#define ASCOPE_CLUSTER_MODE_FREE_ANALYSIS_H

#include "cluster/modes.h"

extern const struct mode mode_free_analysis;

#endif
