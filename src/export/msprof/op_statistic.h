/* SPDX-License-Identifier: Apache-2.0 */
/* op_statistic.h - operators by type: counts and durations. */
#ifndef ASCOPE_EXPORT_MSPROF_OP_STATISTIC_H
#define ASCOPE_EXPORT_MSPROF_OP_STATISTIC_H

#include "export/export.h"

bool op_statistic_report(const struct export *x, struct table *out, struct error *e);

#endif
