/* session_step_trace.h - step_trace_time.csv: where the time of each step went on each device. */
#ifndef ASCOPE_EXPORT_SESSION_STEP_TRACE_H
#define ASCOPE_EXPORT_SESSION_STEP_TRACE_H

#include "export/session.h"

bool session_step_trace_table(const struct session_export *x, struct table *out, struct error *e);

#endif
