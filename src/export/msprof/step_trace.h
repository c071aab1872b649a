/* SPDX-License-Identifier: Apache-2.0 */
/* step_trace.h - iterations and training steps: step_trace.csv and their rows in the timeline. */
#ifndef ASCOPE_EXPORT_MSPROF_STEP_TRACE_H
#define ASCOPE_EXPORT_MSPROF_STEP_TRACE_H

#include "export/export.h"

bool step_trace_report(const struct export *x, struct table *out, struct error *e);

#endif
