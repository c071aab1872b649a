/* SPDX-License-Identifier: Apache-2.0 */
/* ms_step_trace.h - step_trace_time.csv of MindSpore: the time of each step on the device, by kind.
 *
 * A step is the time of its range on the host. Work that began in it counts as a whole; free time is cut at the ends of
 * the step.
 */
#ifndef ASCOPE_EXPORT_FRAMEWORK_MS_STEP_TRACE_H
#define ASCOPE_EXPORT_FRAMEWORK_MS_STEP_TRACE_H

#include "export/framework/collection_export.h"

bool ms_step_trace_table(const struct collection_export *x, struct table *out, struct error *e);

#endif
