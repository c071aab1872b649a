/* SPDX-License-Identifier: Apache-2.0 */
/* view_sql.h - answers to SQL over a timeline, which can only read it.
 *
 * Each answer has a connection of its own to an empty database in memory, with the timeline as tables (slices_table.h)
 * and, of a database, with its own tables in the schema "db", read as untrusted_db.h says. Everything but reading is
 * refused: no file can be opened, nothing attached, nothing changed. An answer that takes too long or is too large ends
 * with what there is, or with an error.
 */
#ifndef ASCOPE_VIEW_SERVER_VIEW_SQL_H
#define ASCOPE_VIEW_SERVER_VIEW_SQL_H

#include "base/files/out.h"
#include "view/rows/view_input.h"

enum {
    VIEW_SQL_ROWS = 10000,
    VIEW_SQL_SECONDS = 30,
    VIEW_SQL_ANSWER_BYTES = 64 << 20,
    VIEW_SQL_MEMORY_BYTES = 1 << 30, /* for sorting and grouping: no file is written */
};

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
    const char *parameter[4]; /* of ?1 and so on; NULL: none */
};

bool view_sql_runs(
    void); /* a statement is running; a call of a function, such as instr() of long texts, cannot be stopped */
void view_sql_end(void); /* stops running and future statements, as soon as they can be stopped */

/* {"columns": [{"name", "is_number"}], "n": rows, "rows": [[...]], "slices": [...]}, or csv. Integers beyond 2^53 are
 * texts in JSON. False: `error` says why. */
bool view_sql_answer(struct out *o, const struct view_input *in, const struct view_sql *q, struct error *error);

#endif
