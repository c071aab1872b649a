/* SPDX-License-Identifier: Apache-2.0 */
/* step_trace.h - iterations and training steps as a table: step_trace.csv. step_track.h has them on the timeline. */
#ifndef ASCOPE_EXPORT_MSPROF_STEP_TRACE_H
#define ASCOPE_EXPORT_MSPROF_STEP_TRACE_H

#include "export/export.h"

bool step_trace_report(const struct export *x, struct table *out, struct error *e);

#endif
