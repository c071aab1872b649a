/* SPDX-License-Identifier: Apache-2.0 */
/* ts_copy_track.h - copies that the task scheduler made by itself, as the older presentation shows them. */
#ifndef ASCOPE_EXPORT_MSPROF_TRACKS_TS_COPY_TRACK_H
#define ASCOPE_EXPORT_MSPROF_TRACKS_TS_COPY_TRACK_H

#include "export/export.h"

/* Rows of the copies of the exported part, sorted by begin, in x->mem; none in the newer presentation. NULL: no
 * memory. */
uint32_t *ts_copies_order(const struct export *x, const struct device *d, size_t *n);
struct cell ts_copy_us(const struct device *d, uint32_t copy); /* its duration */
extern const char ts_copy_name[], ts_copy_type[];              /* the same for all: the scheduler records no names */

/* Writes the slices; false: no memory. The second function marks the tracks that have some, see rounds_mark_rows(). */
bool ts_copies_draw(const struct export *x, struct trace *t, const struct device *d, uint32_t pid,
                    const uint32_t *row_of_stream);
void ts_copies_mark_rows(const struct export *x, const struct device *d, const uint32_t *row_of_stream, bool *seen);

#endif
