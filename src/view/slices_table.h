/* SPDX-License-Identifier: Apache-2.0 */
/* slices_table.h - a timeline as tables of SQL, without a copy: SQLite reads the columns themselves.
 *
 *   slices(id, name, category, process, thread, depth, begin_ns, dur_ns, args, run)   begin_ns is since the begin of the timeline
 *   instants(id, name, category, process, thread, at_ns, args, run)     run is the title of a rank in a joint timeline, or empty
 *   counters(name, series, process, at_ns, value, run)
 *   flows(from_id, to_id)
 *   blocks(name, allocator, bytes, begin_ns, end_ns)                             end_ns is NULL of one that was not released
 *   losses(what, n, is_damage, file, at)
 *   kernel_counters(name, task_type, metric, count, mean, most, total_us, run)   the mean is weighted by duration
 *   kernel_work(name, input_shapes, input_types, input_formats, output_shapes, count, total_us, operations, bytes, intensity, operations_per_s,
 *     bytes_per_s, roof_share, counted_operations, counted_bytes, operations_by, bytes_by, run)        what is not known is NULL
 *   roofs(what, per_s, source, run)
 *   percentile(value, percent)                       an aggregate function
 *   histogram(value)                                 another: "10:3 12:1" is 3 values from 2^10 up to 2^11, and one from 2^12
 */
#ifndef ASCOPE_VIEW_SLICES_TABLE_H
#define ASCOPE_VIEW_SLICES_TABLE_H

#include <sqlite3.h>

#include "view/view_input.h"

/* SQLITE_OK, or its error. The input is lent as long as the connection is open. */
int slices_table_add(sqlite3 *db, const struct view_input *in);
/* What they are: "slices", and "id INTEGER, name TEXT". */
size_t slices_table_count(void);
const char *slices_table_name(size_t i);
const char *slices_table_columns(size_t i);

#endif
