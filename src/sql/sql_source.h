/* SPDX-License-Identifier: Apache-2.0 */
/* sql_source.h - rows in memory as virtual tables of SQLite, which read them without a copy.
 *
 * There are two aggregate functions: percentile(value, percent), and histogram(value), whose result "10:3 12:1" means 3
 * values from 2^10 to 2^11 and one from 2^12 on.
 */
#ifndef ASCOPE_SQL_SQL_SOURCE_H
#define ASCOPE_SQL_SQL_SOURCE_H

#include <sqlite3.h>
#include <stddef.h>

#include "sql/sql_schema.h"

/* The rows of a table: how many there are, and its cells. The context is the caller's. */
struct sql_source {
    const struct sql_table *of;
    const void *context;
    size_t (*n_rows)(const struct sql_source *s);
    void (*cell)(const struct sql_source *s, size_t row, int column, sqlite3_context *c); /* nothing: NULL */
    int row_column; /* a column with the number of the row, which joins use; below 0: none */
};

/* SQLITE_OK, or its error. The sources are lent as long as the connection is open. */
int sql_sources_add(sqlite3 *db, const struct sql_source *source, size_t n);

#endif
