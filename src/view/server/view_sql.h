/* SPDX-License-Identifier: Apache-2.0 */
/* view_sql.h - answers to SQL over a timeline, for pages; sql/sql_run.h has the rules and the limits. */
#ifndef ASCOPE_VIEW_SERVER_VIEW_SQL_H
#define ASCOPE_VIEW_SERVER_VIEW_SQL_H

#include "base/files/out.h"
#include "sql/sql_run.h"
#include "view/rows/view_input.h"

/* One of the tables that pages offer. */
struct view_table {
    const char *name;
    const char *filtered; /* the column that a filter is about */
    const char *order;    /* of its rows, unless another is asked for */
    const char *sql;      /* a column named "slice" is the slice to go to, and not shown */
};
extern const struct view_table view_tables[];
extern const size_t n_view_tables;
const struct view_table *view_table_find(const char *name); /* NULL: there is none */
extern const char *const view_sql_examples[];               /* ends with NULL */

struct view_sql {
    const char *sql;
    bool is_csv;
    const char *parameter[SQL_PARAMETERS]; /* of ?1 and so on; NULL: none */
};

/* {"columns": [{"name", "is_number"}], "n": rows, "rows": [[...]], "slices": [...]}, or csv. Integers beyond 2^53 are
 * texts in JSON. False: `error` says why. */
bool view_sql_answer(struct out *o, const struct view_input *in, const struct view_sql *q, struct error *error);

#endif
