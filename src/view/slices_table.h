/* SPDX-License-Identifier: Apache-2.0 */
/* slices_table.h - a timeline as tables of SQL, without a copy: SQLite reads the columns themselves.
 *
 *   slices(id, name, category, process, thread, depth, begin_ns, dur_ns, args)   begin_ns is since the begin of the timeline
 *   counters(name, series, process, at_ns, value)
 *   flows(from_id, to_id)
 *   percentile(value, percent)                       an aggregate function
 */
#ifndef ASCOPE_VIEW_SLICES_TABLE_H
#define ASCOPE_VIEW_SLICES_TABLE_H

#include <sqlite3.h>

#include "view/view_timeline.h"

/* SQLITE_OK, or its error. The timeline is lent as long as the connection is open. */
int slices_table_add(sqlite3 *db, const struct view_timeline *t);

#endif
