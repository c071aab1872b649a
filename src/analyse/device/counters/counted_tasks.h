/* SPDX-License-Identifier: Apache-2.0 */
/* counted_tasks.h - the tasks of the records of the L2 cache and of address translation.
 *
 * The records (raw/counter.h) have a kind of task, a stream and a task id, but no time and no batch. They were written
 * as the tasks ended: in their order, they belong to the runs of tasks of that kind and id, as long as there are as
 * many of both. Where some were not counted, the order on the stream decides; if it leaves a choice between operators
 * of different names, the last run is used, as the reference does. A task that is not in the log has the operator that
 * the host launched last under its id.
 */
#ifndef ASCOPE_ANALYSE_DEVICE_COUNTERS_COUNTED_TASKS_H
#define ASCOPE_ANALYSE_DEVICE_COUNTERS_COUNTED_TASKS_H

#include "profile/profile.h"

/* Fills pmu.l2_op and pmu.smmu_op. After tasks_analyse(), as long as the log is there. */
bool counted_tasks_analyse(struct profile *p, struct device *d, struct error *e);

#endif
