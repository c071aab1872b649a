/* SPDX-License-Identifier: Apache-2.0 */
/* slices_table.h - a timeline as virtual tables of SQLite, which read its columns without a copy.
 *
 *   slices(id, name, category, process, thread, depth, begin_ns, dur_ns, args, run, topic, self_ns, device_self_ns,
 *     device_ns)
 *   instants(id, name, category, process, thread, at_ns, args, run)
 *   counters(name, series, process, at_ns, value, run)
 *   flows(from_id, to_id)
 *   blocks(name, allocator, bytes, begin_ns, end_ns)
 *   losses(what, n, is_damage, file, at)
 *   kernel_counters(name, task_type, metric, count, mean, most, total_us, run)
 *   kernel_work(name, input_shapes, input_types, input_formats, output_shapes, count, total_us, operations, bytes,
 *     intensity, operations_per_s, bytes_per_s, roof_share, counted_operations, counted_bytes, operations_by, bytes_by,
 *     run)
 *   roofs(what, per_s, source, run)
 *
 * Times are ns from the begin of the timeline; end_ns of a block that was not released is NULL. `run` is the title of a
 * rank in a joint timeline, or empty. Topics and the last three columns, which only operators have, are those of
 * operator_times.h. The mean of a kernel counter is weighted by duration. Unknown values are NULL.
 *
 * There are two aggregate functions: percentile(value, percent), and histogram(value), whose result "10:3 12:1" means 3
 * values from 2^10 to 2^11 and one from 2^12 on.
 */
#ifndef ASCOPE_VIEW_ROWS_SLICES_TABLE_H
#define ASCOPE_VIEW_ROWS_SLICES_TABLE_H

#include <sqlite3.h>

#include "view/rows/view_input.h"

/* SQLITE_OK, or its error. The input is lent as long as the connection is open. */
int slices_table_add(sqlite3 *db, const struct view_input *in);
/* The name of a table, "slices", and its columns, "id INTEGER, name TEXT". */
size_t slices_table_count(void);
const char *slices_table_name(size_t i);
const char *slices_table_columns(size_t i);

#endif
