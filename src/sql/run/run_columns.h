/* SPDX-License-Identifier: Apache-2.0 */
/* run_columns.h - the tables of a run as a file of columns, which a program maps and uses as they are.
 *
 *   "ascope columns 1"   16 bytes
 *   bytes of the header  8, little endian
 *   header               JSON: {"names": {"n", "ends_at", "text_at", "bytes"}, "tables": {NAME: {"n", "columns": [{"name",
 *                        "type", "unit", "at", "known_at", "n_unknown"}]}}}
 *   arrays               little endian, at multiples of 64 bytes; positions count from the first multiple of 64 bytes
 *                        behind the header
 *
 * A TEXT column has numbers of names, of 4 bytes; name i ends at ends[i + 1] of the text, and ends[0] is 0. An INTEGER
 * column has numbers of 8 bytes. If cells are unknown, "known_at" has a bit for each row, the lowest bit first, and is
 * null otherwise; an unknown cell is 0 or the smallest number.
 */
#ifndef ASCOPE_SQL_RUN_RUN_COLUMNS_H
#define ASCOPE_SQL_RUN_RUN_COLUMNS_H

#include "base/files/out.h"
#include "sql/run/run_tables.h"

/* The tables whose bits are set in `wanted`. False: no memory; other failures are those of out_close(). */
bool run_columns_write(struct out *o, const struct run_tables *t, uint32_t wanted);

#endif
