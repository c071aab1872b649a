/* SPDX-License-Identifier: Apache-2.0 */
/* hwts_pmu.h - counters without times: the records of an id belong to its tasks in the order in which these began. */
#ifndef ASCOPE_ANALYSE_DEVICE_COUNTERS_HWTS_PMU_H
#define ASCOPE_ANALYSE_DEVICE_COUNTERS_HWTS_PMU_H

#include "profile/profile.h"

/* Fills the rows of d->pmu from its of_cores, and d->tasks.pmu. Memory for the work is taken from `mem`. False: there
 * is none. */
bool hwts_pmu_match(struct profile *p, struct device *d, struct arena *mem);

#endif
