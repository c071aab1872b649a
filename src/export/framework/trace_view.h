/* SPDX-License-Identifier: Apache-2.0 */
/* trace_view.h - the timeline of a collection: framework, device, and flow events from operators to what they
 * started. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_TRACE_VIEW_H
#define ASCOPE_EXPORT_FRAMEWORK_TRACE_VIEW_H

#include "export/framework/collection_export.h"
#include "profile/chrome_sink.h"

/* Passes the events to a sink instead of writing them. */
bool trace_view_draw(const struct collection_export *x, const struct chrome_sink *sink, uint64_t *n_events,
                     struct error *e);
/* Writes the file, compressed if the path ends with .gz. *n_events 0: there is nothing to show, and no file. */
bool trace_view_write(const struct collection_export *x, const char *path, uint64_t *n_events, struct error *e);

#endif
