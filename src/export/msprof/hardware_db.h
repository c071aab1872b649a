/* SPDX-License-Identifier: Apache-2.0 */
/* hardware_db.h - tasks of the devices in the database: TASK, COMPUTE_TASK_INFO, COMMUNICATION_SCHEDULE_TASK_INFO and
 * MEMCPY_INFO. */
#ifndef ASCOPE_EXPORT_MSPROF_HARDWARE_DB_H
#define ASCOPE_EXPORT_MSPROF_HARDWARE_DB_H

#include "export/msprof/prof_outputs.h"

bool hardware_db(const struct export *x, struct db *db, struct error *e);

/* Rows of host_tasks that run an operator, one for each global id: those of COMPUTE_TASK_INFO, or with is_schedule
 * those of COMMUNICATION_SCHEDULE_TASK_INFO. In `mem`; NULL: no memory. */
uint32_t *op_task_rows(const struct profile *p, bool is_schedule, struct arena *mem, size_t *n);

#endif
