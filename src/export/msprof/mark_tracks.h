/* SPDX-License-Identifier: Apache-2.0 */
/* mark_tracks.h - what the user marked: two tracks of the timeline (host and devices), msprof_tx.csv and MSTX_EVENTS. */
#ifndef ASCOPE_EXPORT_MSPROF_MARK_TRACKS_H
#define ASCOPE_EXPORT_MSPROF_MARK_TRACKS_H

#include "export/export.h"

bool marks_track(const struct export *x, struct trace *t, struct error *e);
bool device_marks_track(const struct export *x, struct trace *t, struct error *e);

/* How a mark's kind and domain are called; "" and "invalid" when nobody knows. */
const char *mark_event_text(const struct marks *m, size_t row);
const char *mark_domain_text(const struct profile *p, size_t row);

#endif
