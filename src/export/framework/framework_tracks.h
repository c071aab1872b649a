/* SPDX-License-Identifier: Apache-2.0 */
/* framework_tracks.h - the data of the framework on the timeline: operators, the task queue, Python calls, garbage collections.
 *
 * It is the largest part of the largest file and is therefore written in parts, by several threads. All parts but those that a
 * caller skips have at least one event.
 */
#ifndef ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_TRACKS_H
#define ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_TRACKS_H

#include "export/framework/collection_export.h"

struct framework_tracks;

/* Allocated in x->mem; NULL: out of memory. */
struct framework_tracks *framework_tracks_take(const struct collection_export *x);
size_t framework_tracks_parts(const struct framework_tracks *f);
/* Part i; t has no lanes: the slices are not in order, and know their rows. */
void framework_tracks_write(const struct framework_tracks *f, size_t i, struct trace *t);

/* The row (tid) in which an operator is drawn. */
int64_t framework_op_row(const struct framework_tracks *f, size_t op);

/* When the first of it all began; INT64_MAX: there is nothing. */
int64_t framework_begin_ns(const struct framework *f);

#endif
