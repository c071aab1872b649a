/* SPDX-License-Identifier: Apache-2.0 */
/* op_summary.h - one row for each operator that ran on a device: name, times, data, and the counters of the cores. */
#ifndef ASCOPE_EXPORT_MSPROF_OP_SUMMARY_H
#define ASCOPE_EXPORT_MSPROF_OP_SUMMARY_H

#include "export/export.h"

bool op_summary_report(const struct export *x, struct table *out, struct error *e);

#endif
