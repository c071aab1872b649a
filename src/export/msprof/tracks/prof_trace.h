/* SPDX-License-Identifier: Apache-2.0 */
/* prof_trace.h - the timeline of a PROF directory as one text, or as events. */
#ifndef ASCOPE_EXPORT_MSPROF_TRACKS_PROF_TRACE_H
#define ASCOPE_EXPORT_MSPROF_TRACKS_PROF_TRACE_H

#include "base/files/out.h"
#include "export/msprof/tracks/timeline.h"

/* Writes the timeline to `o`, or passes its events to a sink; with own_file only the tracks of that file. `x` is a
 * request after scope_resolve(). *n_events is 0 when there is nothing to show; `o` is to be discarded then. */
bool prof_trace_draw(const struct export *x, const char *own_file, struct out *o, const struct chrome_sink *sink,
                     uint64_t *n_events, struct error *e);

#endif
