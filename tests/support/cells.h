/* SPDX-License-Identifier: Apache-2.0 */
/* cells.h - the cells of tables by the names of their columns: a failure names table, row and column.
 *
 * A table of a test lists what it wants: { table, row, column, text }. Every column of a table that it mentions must be
 * there.
 */
#ifndef ASCOPE_TESTS_CELLS_H
#define ASCOPE_TESTS_CELLS_H

#include "test.h"

#include <sqlite3.h>

#include "base/files/out.h"
#include "base/text/table.h"
#include "export/output_options.h"

/* Columns of a profile: U32{ 1, 2, 3 }. */
#define U8  (uint8_t[])
#define I8  (int8_t[])
#define U16 (uint16_t[])
#define U32 (uint32_t[])
#define U64 (uint64_t[])
#define I32 (int32_t[])
#define I64 (int64_t[])
#define F64 (double[])
#define YES (bool[])

static const struct output_options documented = { .dialect = DIALECT_DOCUMENTED, .n_threads = 1 },
                                   current = { .dialect = DIALECT_CURRENT, .n_threads = 1 };

struct wanted_cell {
    const char *table;
    size_t row;
    const char *column, *text; /* as CSV shows it */
};

/* Builds the table of a name. False: see e. */
typedef bool cells_build(const void *context, const char *table, struct table *out, struct error *e);

/* As CSV shows it, without what ends the line. */
static inline const char *cell_as_csv(const struct table *t, size_t row, size_t column, char *text, size_t size)
{
    const struct cell cell = table_cell(t, row, column);
    const struct table one = {
        .column = t->column + column, .n_columns = 1, .n_rows = 1, .grid = &cell, .names = t->names
    };
    struct error e = { 0 };
    struct out o;
    assert_true(out_open_memory(&o, &e));
    table_csv_rows(&one, &o, 0, 1);
    snprintf(text, size, "%.*s", (int)(o.n - 1), o.buf);
    out_discard(&o);
    return text;
}

static inline unsigned cell_check(const struct table *t, const struct wanted_cell *w)
{
    size_t column = 0;
    char text[300];
    while (column < t->n_columns && strcmp(t->column[column].name, w->column) != 0)
        column++;
    if (column == t->n_columns)
        print_error("%s has no column \"%s\"\n", w->table, w->column);
    else if (w->row >= t->n_rows)
        print_error("%s has %zu rows, and no row %zu\n", w->table, t->n_rows, w->row);
    else if (strcmp(cell_as_csv(t, w->row, column, text, sizeof text), w->text) != 0)
        print_error("%s, row %zu, column \"%s\": \"%s\"; wanted \"%s\"\n", w->table, w->row, w->column, text, w->text);
    else
        return 0;
    return 1;
}

/* Columns that no cell was wanted of: their getters would be tested by nobody. */
static inline unsigned cells_unmentioned(const struct table *t, const struct wanted_cell *w, size_t n)
{
    unsigned n_wrong = 0;
    for (size_t c = 0; c < t->n_columns; c++) {
        size_t i = 0;
        while (i < n && strcmp(w[i].column, t->column[c].name) != 0)
            i++;
        if (i == n)
            print_error("%s: no cell of column \"%s\" is wanted\n", w->table, t->column[c].name);
        n_wrong += i == n;
    }
    return n_wrong;
}

/* Rows of one table stand together. */
static inline void cells_check(cells_build *build, const void *context, const struct wanted_cell *w, size_t n)
{
    unsigned n_wrong = 0;
    for (size_t i = 0, end; i < n; i = end) {
        struct error e = { 0 };
        struct table t = { 0 };
        print_message("  %s\n", w[i].table);
        if (!build(context, w[i].table, &t, &e))
            fail_msg("%s: %s", w[i].table, e.text);
        for (end = i; end < n && strcmp(w[end].table, w[i].table) == 0; end++)
            n_wrong += cell_check(&t, &w[end]);
        n_wrong += cells_unmentioned(&t, w + i, end - i);
    }
    if (n_wrong > 0)
        fail_msg("%u cells are wrong", n_wrong);
}

/* Of a database: rows as they were written; a text with a ' in front is one of STRING_IDS. */
static inline const char *db_answer(sqlite3 *db, const char *sql, char *text, size_t size)
{
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) {
        snprintf(text, size, "%s", sqlite3_errmsg(db));
        return text;
    }
    const bool has_row = sqlite3_step(s) == SQLITE_ROW;
    const char *got = has_row ? (const char *)sqlite3_column_text(s, 0) : "no row";
    snprintf(text, size, "%s", got ? got : "NULL");
    sqlite3_finalize(s);
    return text;
}

static inline unsigned db_cell_check(sqlite3 *db, const struct wanted_cell *w)
{
    const bool is_string = *w->text == '\'';
    char sql[300], text[300];
    snprintf(sql, sizeof sql, "%s SELECT \"%s\" FROM %s ORDER BY rowid LIMIT 1 OFFSET %zu%s",
             is_string ? "SELECT value FROM STRING_IDS WHERE id = (" : "", w->column, w->table, w->row,
             is_string ? ")" : "");
    if (strcmp(db_answer(db, sql, text, sizeof text), w->text + is_string) == 0)
        return 0;
    print_error("%s, row %zu, column \"%s\": \"%s\"; wanted \"%s\"\n", w->table, w->row, w->column, text,
                w->text + is_string);
    return 1;
}

static inline unsigned db_unmentioned(sqlite3 *db, const struct wanted_cell *w, size_t n)
{
    char sql[4000], text[300];
    int at = snprintf(sql, sizeof sql, "SELECT group_concat(name) FROM pragma_table_info('%s') WHERE name NOT IN (''",
                      w->table);
    for (size_t i = 0; i < n; i++)
        at += snprintf(sql + at, sizeof sql - (size_t)at, ",'%s'", w[i].column);
    snprintf(sql + at, sizeof sql - (size_t)at, ")");
    if (strcmp(db_answer(db, sql, text, sizeof text), "NULL") == 0)
        return 0;
    print_error("%s: no cell is wanted of these columns: %s\n", w->table, text);
    return 1;
}

static inline void db_cells_check(const char *path, const struct wanted_cell *w, size_t n)
{
    unsigned n_wrong = 0;
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    for (size_t i = 0, end; i < n; i = end) {
        print_message("  %s\n", w[i].table);
        for (end = i; end < n && strcmp(w[end].table, w[i].table) == 0; end++)
            n_wrong += db_cell_check(db, &w[end]);
        n_wrong += db_unmentioned(db, w + i, end - i);
    }
    sqlite3_close(db);
    if (n_wrong > 0)
        fail_msg("%u cells are wrong", n_wrong);
}

#endif
