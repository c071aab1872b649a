/* SPDX-License-Identifier: Apache-2.0 */
/* step_trace_time.h - step_trace_time.csv: the time of each step on each device, by kind. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_STEP_TRACE_TIME_H
#define ASCOPE_EXPORT_FRAMEWORK_STEP_TRACE_TIME_H

#include "export/framework/collection_export.h"

enum {
    STEP_TRACE_DEVICE,
    STEP_TRACE_STEP,
    STEP_TRACE_COMPUTING,
    STEP_TRACE_EXPOSED,
    STEP_TRACE_OVERLAPPED,
    STEP_TRACE_COMMUNICATION,
    STEP_TRACE_FREE,
    STEP_TRACE_STAGE,
    STEP_TRACE_BUBBLE,
    STEP_TRACE_EXPOSED_WITHOUT_RECEIVE,
    STEP_TRACE_PREPARING,
    STEP_TRACE_COLUMNS
};
/* A table without the device has the columns from STEP_TRACE_STEP on. */
extern const struct column step_trace_columns[STEP_TRACE_COLUMNS];

bool step_trace_time_table(const struct collection_export *x, struct table *out, struct error *e);

#endif
