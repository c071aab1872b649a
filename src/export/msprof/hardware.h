/* SPDX-License-Identifier: Apache-2.0 */
/* hardware.h - the tasks of the devices: the Ascend Hardware process of the timeline, and the tables TASK,
 * COMPUTE_TASK_INFO, COMMUNICATION_SCHEDULE_TASK_INFO and MEMCPY_INFO. */
#ifndef ASCOPE_EXPORT_MSPROF_HARDWARE_H
#define ASCOPE_EXPORT_MSPROF_HARDWARE_H

#include "export/export.h"

bool hardware_track(const struct export *x, struct trace *t, struct error *e);

#endif
