/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/run/run_sources.h"

static const struct run_table *run_source_table(const struct sql_source *s)
{
    return &((const struct run_tables *)s->context)->at[s->of - sql_tables];
}

static size_t run_source_rows(const struct sql_source *s)
{
    return run_source_table(s)->n;
}

static void run_source_cell(const struct sql_source *s, size_t row, int column, sqlite3_context *c)
{
    const struct run_tables *t = s->context;
    const void *cells = run_source_table(s)->column[column];
    if (s->of->column[column].type == SQL_TEXT) {
        const name_id id = ((const name_id *)cells)[row];
        if (id != NAME_EMPTY)
            sqlite3_result_text64(c, names_text(t->names, id), names_len(t->names, id), SQLITE_STATIC, SQLITE_UTF8);
    } else if (((const int64_t *)cells)[row] != RUN_UNKNOWN) {
        sqlite3_result_int64(c, ((const int64_t *)cells)[row]);
    }
}

void run_sources(struct sql_source out[SQL_RUN_TABLES], const struct run_tables *t)
{
    for (int i = 0; i < SQL_RUN_TABLES; i++)
        out[i] = (struct sql_source){
            .of = &sql_tables[i], .context = t, .n_rows = run_source_rows, .cell = run_source_cell, .row_column = -1
        };
}
