/* SPDX-License-Identifier: Apache-2.0 */
/* mode_freq_analysis.h - ranks whose cores did not run at their usual clock. */
#ifndef ASCOPE_CLUSTER_MODE_FREQ_ANALYSIS_H
#define ASCOPE_CLUSTER_MODE_FREQ_ANALYSIS_H

#include "cluster/modes.h"

extern const struct mode mode_freq_analysis;

#endif
