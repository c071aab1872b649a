/* SPDX-License-Identifier: Apache-2.0 */
/* task_time.h - every task of a device: kernel, type, begin and duration. */
#ifndef ASCOPE_EXPORT_MSPROF_TASK_TIME_H
#define ASCOPE_EXPORT_MSPROF_TASK_TIME_H

#include "export/export.h"

bool task_time_report(const struct export *x, struct table *out, struct error *e);

#endif
