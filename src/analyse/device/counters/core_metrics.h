/* SPDX-License-Identifier: Apache-2.0 */
/* core_metrics.h - the counters of sampled AI cores as metrics: the share of a core's time by kind of work. */
#ifndef ASCOPE_ANALYSE_DEVICE_COUNTERS_CORE_METRICS_H
#define ASCOPE_ANALYSE_DEVICE_COUNTERS_CORE_METRICS_H

#include "profile/profile.h"

/* Fills d->counters.core, and the tables of cores in d->counters.rate. False only without memory. */
bool core_samples_analyse(struct profile *p, struct device *d, struct error *e);

#endif
