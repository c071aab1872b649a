/* SPDX-License-Identifier: Apache-2.0 */
/* aicpu.h - kernels of the AI CPU, and the queue that feeds a model: aicpu, dp and aicpu_mi. */
#ifndef ASCOPE_EXPORT_MSPROF_AICPU_H
#define ASCOPE_EXPORT_MSPROF_AICPU_H

#include "export/export.h"

bool aicpu_report(const struct export *x, struct table *out, struct error *e);
bool data_queue_report(const struct export *x, struct table *out, struct error *e);
bool queue_wait_report(const struct export *x, struct table *out, struct error *e);

#endif
