/* SPDX-License-Identifier: Apache-2.0 */
/* mode_pp_chart.h - forward and backward passes of the stages of a pipeline, for a chart. */
#ifndef ASCOPE_CLUSTER_MODE_PP_CHART_H
#define ASCOPE_CLUSTER_MODE_PP_CHART_H

#include "cluster/modes.h"

extern const struct mode mode_pp_chart;

#endif
