/* SPDX-License-Identifier: Apache-2.0 */
/* db.h - tables in one SQLite file, written atomically.
 *
 * Rows are written directly as pages of the file (sqlite_pages.h), which has a temporary name and is renamed at the
 * end: a crash leaves no incomplete database. SQLite itself creates the indexes then. Text columns of the result hold
 * ids of STRING_IDS, numbered in the order in which the tables use them.
 */
#ifndef ASCOPE_BASE_SQLITE_DB_H
#define ASCOPE_BASE_SQLITE_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/error.h"
#include "base/text/table.h"

struct db;

struct db_column {
    const char *name, *type; /* type as declared: INTEGER, NUMERIC, REAL, TEXT, "INTEGER PRIMARY KEY" */
    cell_getter *get;        /* as in struct column */
};

/* As struct table. CELL_NAME and CELL_TEXT become ids of STRING_IDS, unless the column's type is TEXT. */
struct db_table {
    const char *name;
    const struct db_column *column;
    size_t n_columns, n_rows;
    const void *rows;
    const uint32_t *shown;
    struct cell (*get)(const void *rows, size_t row, size_t column);
    const struct cell *grid;
    /* Instead of getters, where many rows have something in common: n_columns cells for each of n rows. */
    void (*fill)(const void *rows, size_t first, size_t n, struct cell *cells);
    bool is_made_empty; /* the table is created even without rows */
    const char *index;  /* "NAME ON TABLE (columns)", or NULL; a constant; made at the end */
};

/* A column of a table with several kinds of rows, and a getter for each kind; NULL: it is NULL in rows of that kind. */
enum { DB_KINDS = 3 };
struct db_kind_column {
    const char *name, *type;
    cell_getter *get[DB_KINDS];
};

/* Which rows are wanted, by a column of numbers. A table has at most one filter for each of its columns: the first that
 * names both, or names the column of every table. */
struct db_filter {
    const char *table; /* NULL: every one that has the column */
    const char *column;
    bool (*keeps)(const void *context, int64_t number); /* NULL: all rows */
};

struct db *db_open(const char *path, struct names *names, struct error *e);

/* Who gets the rows of one table instead of a file. */
enum { DB_COLUMNS = 64 };
struct db_taker {
    const char *table;
    /* Rows of this kind follow: which of their columns are wanted. False: no memory. */
    bool (*begin)(void *context, const struct db_table *t, bool is_wanted[DB_COLUMNS]);
    void (*take)(void *context, const struct cell *cell); /* a row; cells of columns that are not wanted mean nothing */
    void *context;
};
struct db *db_open_takers(const struct db_taker *taker, size_t n, struct names *names); /* NULL: no memory */
/* Whether one of the tables is wanted, whose names are separated by blanks. NULL: tables that no taker wants. */
bool db_wants(const struct db *db, const char *tables);

/* Before the first table; lent until db_close(). */
void db_filters(struct db *db, const struct db_filter *filter, size_t n, const void *context);
/* Adds rows; the first ones create the table. Those of one call may come in any order of their PRIMARY KEY; keys of a
 * later call are above them. */
bool db_table(struct db *db, const struct db_table *t, struct error *e);
/* Rows of one kind: t is without columns, which are KIND_COLUMNS() of an array. */
bool db_table_kind(struct db *db, struct db_table t, const struct db_kind_column *column, size_t n_columns,
                   unsigned kind, struct error *e);
#define KIND_COLUMNS(array) (array), sizeof(array) / sizeof *(array)
uint32_t db_string(struct db *db,
                   name_id name);      /* its id in STRING_IDS, new if need be; no memory: db_close() reports it */
uint64_t db_rows(const struct db *db); /* of all tables so far */
bool db_close(struct db *db, struct error *e); /* writes STRING_IDS, renames; frees in any case */
void db_discard(struct db *db);                /* NULL is fine */

#endif
