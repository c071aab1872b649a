/* SPDX-License-Identifier: Apache-2.0 */
/* pmu_join.h - assigns the counter records of the cores to the tasks that they ran. */
#ifndef ASCOPE_ANALYSE_DEVICE_COUNTERS_PMU_JOIN_H
#define ASCOPE_ANALYSE_DEVICE_COUNTERS_PMU_JOIN_H

#include "profile/profile.h"

/* Sorts the records, which takes longest and needs no task. False: no memory. */
bool pmu_prepare(struct profile *p, struct device *d, struct error *e);
/* Fills d->pmu and d->tasks.pmu. The tasks are joined with the host's and know their operators. False: no memory. */
bool pmu_analyse(struct profile *p, struct device *d, struct error *e);

/* Room for so many rows in d->pmu; then one row after the other, for a task and with the blocks of its operator. */
bool pmu_rows_take(struct device *d, size_t n);
size_t pmu_row_add(struct profile *p, struct device *d, size_t task);

#endif
