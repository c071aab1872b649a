/* SPDX-License-Identifier: Apache-2.0 */
/* mode_cluster_time_summary.h - what the time of each step of each rank was spent on, and the same against another job. */
#ifndef ASCOPE_CLUSTER_MODE_CLUSTER_TIME_SUMMARY_H
#define ASCOPE_CLUSTER_MODE_CLUSTER_TIME_SUMMARY_H

#include "cluster/modes.h"

extern const struct mode mode_cluster_time_summary, mode_cluster_time_compare_summary;

#endif
