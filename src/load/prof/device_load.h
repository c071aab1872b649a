/* SPDX-License-Identifier: Apache-2.0 */
/* device_load.h - registry: loads the records of a device's scheduler and AI CPU into tables. */
#ifndef ASCOPE_LOAD_PROF_DEVICE_LOAD_H
#define ASCOPE_LOAD_PROF_DEVICE_LOAD_H

#include "profile/profile.h"

bool device_load(struct profile *p, struct device *d, struct error *e);

/* cuda_load.c: what ran on a GPU, from ascope_cuda.data. */
bool cuda_load(struct device *d, struct error *e); /* false only without memory */

/* pmu_load.c: finds the counter records that cores wrote for each task: pointers to whole records. */
bool pmu_load(struct device *d, struct error *e);

/* counters_load.c: loads the streams of a device's samplers into tables. */
/* Fills d->counters.raw. False only without memory. */
bool counters_load(struct device *d, unsigned without, struct error *e);

/* task_log_load.c: loads the task log of a device's scheduler: begin and end records. */
/* Fills d->log.events or d->log.edges, in the form that the chip writes; analysis pairs them and releases them. Called
 * after all other readers of the device: the log shares its streams with them, and counts unknown records. False: out
 * of memory. */
bool task_log_load(struct device *d, struct error *e);

/* aicpu_comm_load.c: what the AI CPUs of a device report of the communication that they schedule themselves. */
/* Finds the group of each stream, after the groups and captured streams of the host were loaded. */
bool mc2_groups_index(struct profile *p, struct error *e);

bool aicpu_comm_load(struct device *d, struct error *e); /* false only without memory */

#endif
