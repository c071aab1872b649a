/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.h - rounds of operators that compute and communicate alternately, on the tracks of their streams. */
#ifndef ASCOPE_EXPORT_MSPROF_ROUNDS_H
#define ASCOPE_EXPORT_MSPROF_ROUNDS_H

#include "export/export.h"

/* `row_of_stream` has a row for each stream id. Marks the rows that will be needed, then writes the slices. */
void turns_mark_rows(const struct trace *t, const struct device *d, const uint32_t *row_of_stream, bool *is_needed);
void turns_write(struct trace *t, const struct device *d, uint32_t pid, const uint32_t *row_of_stream);

#endif
