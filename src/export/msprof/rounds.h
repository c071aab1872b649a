/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.h - rounds of operators that compute and communicate alternately, on the tracks of their streams. */
#ifndef ASCOPE_EXPORT_MSPROF_ROUNDS_H
#define ASCOPE_EXPORT_MSPROF_ROUNDS_H

#include "export/export.h"

/* The first function marks the tracks that have slices, so that they can be named; the second one writes the slices.
 * `row_of_stream`: see stream_rows(); `is_needed` has an element for each of the 65536 tracks. */
void rounds_mark_rows(const struct trace *t, const struct device *d, const uint32_t *row_of_stream, bool *is_needed);
void rounds_write(struct trace *t, const struct device *d, uint32_t pid, const uint32_t *row_of_stream);

#endif
