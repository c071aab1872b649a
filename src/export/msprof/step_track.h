/* SPDX-License-Identifier: Apache-2.0 */
/* step_track.h - iterations and training steps on the timeline. */
#ifndef ASCOPE_EXPORT_MSPROF_STEP_TRACK_H
#define ASCOPE_EXPORT_MSPROF_STEP_TRACK_H

#include "export/msprof/step_trace.h"

bool step_trace_track(const struct export *x, struct trace *t, struct error *e);

#endif
