/* SPDX-License-Identifier: Apache-2.0 */
/* device_counters.h - registry: the counters of the cores: read, joined with tasks, and turned into metrics. */
#ifndef ASCOPE_ANALYSE_DEVICE_COUNTERS_DEVICE_COUNTERS_H
#define ASCOPE_ANALYSE_DEVICE_COUNTERS_DEVICE_COUNTERS_H

#include "profile/profile.h"

/* hwts_pmu.c: counters without times: the records of an id belong to its tasks in the order in which these began. */

/* Fills the rows of d->pmu from its of_cores, and d->tasks.pmu. Memory for the work is taken from `mem`. False: no
 * memory. */
bool hwts_pmu_match(struct profile *p, struct device *d, struct arena *mem);

/* pmu_ten.c: counter records of chips that count ten events: one for a task and kind of core, and one for each block.
 *
 * They have the id of their task and the times of their cores. A task that ran repeatedly has records for each run. */

/* Fills the rows of d->pmu and d->tasks.pmu. False: no memory, of which `mem` is temporary. */
bool pmu_ten_match(struct profile *p, struct device *d, struct arena *mem);
/* Fills d->pmu.spreads. After tasks_analyse(). */
bool block_spreads_analyse(struct profile *p, struct device *d, struct error *e);

/* pmu_join.c: assigns the counter records of the cores to the tasks that they ran. */

/* Sorts the records, which takes longest and needs no task. False: no memory. */
bool pmu_prepare(struct profile *p, struct device *d, struct error *e);
/* Fills d->pmu and d->tasks.pmu. The tasks are joined with the host's and know their operators. False: no memory. */
bool pmu_analyse(struct profile *p, struct device *d, struct error *e);

/* Room for so many rows in d->pmu; then one row after the other, for a task and with the blocks of its operator. */
bool pmu_rows_take(struct device *d, size_t n);
size_t pmu_row_add(struct profile *p, struct device *d, size_t task);

/* counted_tasks.c: the tasks of the records of the L2 cache and of address translation.
 *
 * The records (raw/counter.h) have a kind of task, a stream and a task id, but no time and no batch. They were written
 * as the tasks ended: in their order, they belong to the runs of tasks of that kind and id, as long as there are as
 * many of both. Where some were not counted, the order on the stream decides; if it leaves a choice between operators
 * of different names, the last run is used, as the reference does. A task that is not in the log has the operator that
 * the host launched last under its id. */

/* Fills pmu.l2_op and pmu.smmu_op. After tasks_analyse(), as long as the log is there. */
bool counted_tasks_analyse(struct profile *p, struct device *d, struct error *e);

/* core_metrics.c: the counters of sampled AI cores as metrics: the share of a core's time by kind of work. */

/* Fills d->counters.core, and the tables of cores in d->counters.rate. False only without memory. */
bool core_samples_analyse(struct profile *p, struct device *d, struct error *e);

#endif
