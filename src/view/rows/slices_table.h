/* SPDX-License-Identifier: Apache-2.0 */
/* slices_table.h - timelines as tables for SQL (sql_schema.h has their columns), which read their columns without a
 * copy.
 *
 * Topics and times of operators are those of operator_times.h. The mean of a kernel counter is weighted by duration.
 */
#ifndef ASCOPE_VIEW_ROWS_SLICES_TABLE_H
#define ASCOPE_VIEW_ROWS_SLICES_TABLE_H

#include "sql/sql_source.h"
#include "view/rows/view_input.h"

enum { SLICES_TABLES = SQL_TABLES - SQL_RUN_TABLES };

struct slices_of {
    const struct view_input *const *in;
    size_t n;
    const char *const *run; /* the column `run` of each; NULL: the titles of the ranks of a joint timeline */
    bool is_absolute;       /* times count from 1970; otherwise from the start of the timeline */
};

/* The timelines are lent as long as the sources are used. */
void slices_table_sources(struct sql_source out[SLICES_TABLES], const struct slices_of *of);

#endif
