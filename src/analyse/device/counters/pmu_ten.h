/* SPDX-License-Identifier: Apache-2.0 */
/* pmu_ten.h - counter records of chips that count ten events: one for a task and kind of core, and one for each block.
 *
 * They have the id of their task and the times of their cores. A task that ran repeatedly has records for each run.
 */
#ifndef ASCOPE_ANALYSE_DEVICE_COUNTERS_PMU_TEN_H
#define ASCOPE_ANALYSE_DEVICE_COUNTERS_PMU_TEN_H

#include "profile/profile.h"

/* Fills the rows of d->pmu and d->tasks.pmu. False: no memory, of which `mem` is temporary. */
bool pmu_ten_match(struct profile *p, struct device *d, struct arena *mem);
/* Fills d->pmu.spreads. After tasks_analyse(). */
bool block_spreads_analyse(struct profile *p, struct device *d, struct error *e);

#endif
