/* hardware.h - the tasks of the devices: the Ascend Hardware process of the timeline, and the tables TASK,
 * COMPUTE_TASK_INFO, COMMUNICATION_SCHEDULE_TASK_INFO and MEMCPY_INFO. */
#ifndef ASCOPE_EXPORT_MSPROF_HARDWARE_H
#define ASCOPE_EXPORT_MSPROF_HARDWARE_H

#include "export/export.h"

bool hardware_track(const struct export *x, struct trace *t, struct error *e);
bool hardware_db(const struct export *x, struct db *db, struct error *e);

/* Rows of host_tasks that run an operator, one for each id: those of COMPUTE_TASK_INFO, or those that only schedule
 * communication. NULL: no memory. */
uint32_t *op_task_rows(const struct profile *p, bool is_schedule, struct arena *mem, size_t *n);

#endif
