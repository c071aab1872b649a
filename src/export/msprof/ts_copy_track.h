/* SPDX-License-Identifier: Apache-2.0 */
/* ts_copy_track.h - copies of the task scheduler itself, as the older presentation shows them. */
#ifndef ASCOPE_EXPORT_MSPROF_TS_COPY_TRACK_H
#define ASCOPE_EXPORT_MSPROF_TS_COPY_TRACK_H

#include "export/export.h"

/* By their beginning, those of the wanted part, taken from x->mem; NULL without memory. */
uint32_t *ts_copies_order(const struct export *x, const struct device *d, size_t *n);
struct cell ts_copy_us(const struct device *d, uint32_t copy); /* how long it took */
extern const char ts_copy_name[], ts_copy_type[];              /* the scheduler records no more of them */

/* Rows of the timeline that have some, and the slices on them. */
bool ts_copies_draw(const struct export *x, struct trace *t, const struct device *d, uint32_t pid,
                    const uint32_t *row_of_stream);
void ts_copies_mark_rows(const struct export *x, const struct device *d, const uint32_t *row_of_stream, bool *seen);

#endif
