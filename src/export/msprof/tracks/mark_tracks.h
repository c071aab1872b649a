/* SPDX-License-Identifier: Apache-2.0 */
/* mark_tracks.h - marks of the user on the timeline: two tracks, of the host and of the devices. */
#ifndef ASCOPE_EXPORT_MSPROF_TRACKS_MARK_TRACKS_H
#define ASCOPE_EXPORT_MSPROF_TRACKS_MARK_TRACKS_H

#include "export/export.h"

bool marks_track(const struct export *x, struct trace *t, struct error *e);
bool device_marks_track(const struct export *x, struct trace *t, struct error *e);

/* True when marks_track() draws a mark; the window of t is that of the host. */
bool mark_is_drawn(const struct export *x, const struct trace *t, size_t row);

/* The name of a mark's kind, "" if unknown, and of its domain, "invalid" if unknown. */
const char *mark_event_text(const struct marks *m, size_t row);
const char *mark_domain_text(const struct profile *p, size_t row);

#endif
