/* SPDX-License-Identifier: Apache-2.0 */
/* monitor_metrics.h - a monitored job as metrics, in the text formats of Prometheus and of OpenMetrics.
 *
 * Names, units and labels follow their conventions: seconds, bytes, hertz, watts; counters end in _total. Labels are the
 * rank, the part of a step and the kind of memory: the number of series is bounded by that of ranks. What was not
 * recorded has no sample.
 */
#ifndef ASCOPE_MONITOR_MONITOR_METRICS_H
#define ASCOPE_MONITOR_MONITOR_METRICS_H

#include "base/files/out.h"
#include "monitor/monitor_alarms.h"

void metrics_write(struct out *o, const struct monitor_window *w, const struct alarms *a, bool is_openmetrics);

#endif
