/* SPDX-License-Identifier: Apache-2.0 */
/* prof_trace.h - registry: the timeline of a PROF directory as one text, or as events. */
#ifndef ASCOPE_EXPORT_MSPROF_TRACKS_PROF_TRACE_H
#define ASCOPE_EXPORT_MSPROF_TRACKS_PROF_TRACE_H

#include "analyse/flow/flows.h"
#include "base/files/out.h"
#include "export/export.h"

/* prof_trace.c: all processes of a collection on one timeline. */

/* Draws the tracks of all processes that the options select, or with own_file those that have a file of this name. `x`
 * is a request after scope_resolve(). False: e has the reason. */
bool timeline_draw(const struct export *x, const char *own_file, struct trace *t, struct error *e);

/* Writes the timeline to `o`, or passes its events to a sink; with own_file only the tracks of that file. `x` is a
 * request after scope_resolve(). *n_events is 0 when there is nothing to show; `o` is to be discarded then. */
bool prof_trace_draw(const struct export *x, const char *own_file, struct out *o, const struct chrome_sink *sink,
                     uint64_t *n_events, struct error *e);

/* ts_copy_track.c: copies that the task scheduler made by itself, as the older presentation shows them. */

/* Rows of the copies of the exported part, sorted by begin, in x->mem; none in the newer presentation. NULL: no
 * memory. */
uint32_t *ts_copies_order(const struct export *x, const struct device *d, size_t *n);
struct cell ts_copy_us(const struct device *d, uint32_t copy); /* its duration */
extern const char ts_copy_name[], ts_copy_type[];              /* the same for all: the scheduler records no names */

/* Writes the slices; false: no memory. The second function marks the tracks that have some, see rounds_mark_rows(). */
bool ts_copies_draw(const struct export *x, struct trace *t, const struct device *d, uint32_t pid,
                    const uint32_t *row_of_stream);
void ts_copies_mark_rows(const struct export *x, const struct device *d, const uint32_t *row_of_stream, bool *seen);

/* flow_events.c: flow events from the host's calls to what they started on a device.
 *
 * A flow starts on the CANN process and has one or more ends on a device. Viewers draw it only if there is a slice at
 * both ends. Both processes therefore ask here which flows exist before they write their ends. */

enum { FLOW_ID_BYTES = 48 };

/* The flows of analyse/flow/flows.h, if both of their ends belong to the exported part. */
enum flow_kind flow_to_task(const struct export *x, const struct device *d, size_t row);
bool flow_to_collective(const struct export *x, const struct device *d, size_t op);

/* For each row of calls: whether a FLOW_OF_CALL starts there. In x->mem; NULL: no memory. */
const bool *flow_starts(const struct export *x);

/* Ids as text, in `text`. All that a call started shares one flow; a flow of a task has one end. */
const char *flow_call_id(const struct export *x, uint32_t call, char text[FLOW_ID_BYTES]);
const char *flow_task_id(const struct device *d, size_t row, char text[FLOW_ID_BYTES]);

/* mark_tracks.c: marks of the user on the timeline: two tracks, of the host and of the devices. */

bool marks_track(const struct export *x, struct trace *t, struct error *e);
bool device_marks_track(const struct export *x, struct trace *t, struct error *e);

/* True when marks_track() draws a mark; the window of t is that of the host. */
bool mark_is_drawn(const struct export *x, const struct trace *t, size_t row);

/* The name of a mark's kind, "" if unknown, and of its domain, "invalid" if unknown. */
const char *mark_event_text(const struct marks *m, size_t row);
const char *mark_domain_text(const struct profile *p, size_t row);

#endif
