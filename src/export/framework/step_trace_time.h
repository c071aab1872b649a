/* SPDX-License-Identifier: Apache-2.0 */
/* step_trace_time.h - step_trace_time.csv: the time of each step on each device, by kind. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_STEP_TRACE_TIME_H
#define ASCOPE_EXPORT_FRAMEWORK_STEP_TRACE_TIME_H

#include "export/framework/collection_export.h"

bool step_trace_time_table(const struct collection_export *x, struct table *out, struct error *e);

#endif
