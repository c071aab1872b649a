/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a database written twice more, by our writer and by SQLite's prepared inserts.
 *
 *     rows DATABASE DIR
 *
 * Both get the same cells from memory, block by block, and make the same indexes. Prints the number of rows and the CPU
 * seconds of either; the two results stay in DIR as ours.db and theirs.db.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/sqlite/db.h"

enum { BLOCK_ROWS = 100000, MOST_COLUMNS = 64 };

struct copy {
    sqlite3 *from, *theirs;
    struct db *ours;
    struct names *names;
    struct db_column column[MOST_COLUMNS];
    struct cell *grid;
    double ours_s, theirs_s;
    uint64_t n_rows;
};

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "rows: %s: %s\n", what, why);
    exit(1);
}

static void sql_do(sqlite3 *sql, const char *text)
{
    if (sqlite3_exec(sql, text, NULL, NULL, NULL) != SQLITE_OK)
        stop(text, sqlite3_errmsg(sql));
}

static sqlite3_stmt *sql_prepare(sqlite3 *sql, const char *text)
{
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(sql, text, -1, &s, NULL) != SQLITE_OK)
        stop(text, sqlite3_errmsg(sql));
    return s;
}

static char *text_of(sqlite3_stmt *s, int column)
{
    return strdup((const char *)sqlite3_column_text(s, column));
}

static struct cell read_cell(struct copy *c, sqlite3_stmt *s, int column)
{
    switch (sqlite3_column_type(s, column)) {
    case SQLITE_INTEGER: return cell_int(sqlite3_column_int64(s, column));
    case SQLITE_FLOAT: return cell_real(sqlite3_column_double(s, column));
    case SQLITE_TEXT:
        return cell_name(
            names_add(c->names, (const char *)sqlite3_column_text(s, column), (size_t)sqlite3_column_bytes(s, column)));
    default: return cell_na();
    }
}

static void insert(struct copy *c, const struct db_table *t, sqlite3_stmt *s)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct cell *cell = t->grid + i * t->n_columns;
        for (int k = 0; k < (int)t->n_columns; k++)
            switch (cell[k].kind) {
            case CELL_INT: sqlite3_bind_int64(s, k + 1, cell[k].i); break;
            case CELL_REAL: sqlite3_bind_double(s, k + 1, cell[k].f); break;
            case CELL_NAME:
                sqlite3_bind_text64(s, k + 1, names_text(c->names, cell[k].name), names_len(c->names, cell[k].name),
                                    SQLITE_STATIC, SQLITE_UTF8);
                break;
            default: sqlite3_bind_null(s, k + 1);
            }
        if (sqlite3_step(s) != SQLITE_DONE)
            stop(t->name, sqlite3_errmsg(c->theirs));
        sqlite3_reset(s);
    }
}

static void write_block(struct copy *c, const struct db_table *t, sqlite3_stmt *insert_row)
{
    struct error e = { 0 };
    const double begin = cpu_s();
    if (!db_table(c->ours, t, &e))
        stop(t->name, e.text);
    const double between = cpu_s();
    insert(c, t, insert_row);
    c->theirs_s += cpu_s() - between;
    c->ours_s += between - begin;
    c->n_rows += t->n_rows;
}

static size_t read_columns(struct copy *c, const char *table)
{
    char sql[200];
    size_t n = 0;
    snprintf(sql, sizeof sql, "SELECT name, type || iif(pk, ' PRIMARY KEY', '') FROM pragma_table_info('%s')", table);
    sqlite3_stmt *s = sql_prepare(c->from, sql);
    for (; sqlite3_step(s) == SQLITE_ROW && n < MOST_COLUMNS; n++)
        c->column[n] = (struct db_column){ text_of(s, 0), text_of(s, 1), NULL };
    sqlite3_finalize(s);
    return n;
}

static void copy_table(struct copy *c, const char *table, const char *index)
{
    const size_t n = read_columns(c, table);
    char sql[600];
    int at = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (?", table);
    for (size_t i = 1; i < n; i++)
        at += snprintf(sql + at, sizeof sql - (size_t)at, ", ?");
    snprintf(sql + at, sizeof sql - (size_t)at, ")");
    sqlite3_stmt *insert_row = sql_prepare(c->theirs, sql);
    snprintf(sql, sizeof sql, "SELECT * FROM %s", table);
    sqlite3_stmt *s = sql_prepare(c->from, sql);
    struct db_table t = { .name = table, .column = c->column, .n_columns = n, .grid = c->grid, .index = index };
    while (sqlite3_step(s) == SQLITE_ROW) {
        for (size_t i = 0; i < n; i++)
            c->grid[t.n_rows * n + i] = read_cell(c, s, (int)i);
        if (++t.n_rows == BLOCK_ROWS) {
            write_block(c, &t, insert_row);
            t.n_rows = 0;
        }
    }
    write_block(c, &t, insert_row);
    sqlite3_finalize(s);
    sqlite3_finalize(insert_row);
    for (size_t i = 0; i < n; i++) {
        free((void *)(uintptr_t)c->column[i].name);
        free((void *)(uintptr_t)c->column[i].type);
    }
}

/* As an export did it before it wrote pages: no journal, no syncing, one transaction. */
static const char settings[] = "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
                               "PRAGMA cache_size=-8192; BEGIN";

int main(int n_args, char **arg)
{
    static struct copy c;
    struct error e = { 0 };
    char ours[4096], theirs[4096];
    if (n_args != 3)
        stop("usage", "rows DATABASE DIR");
    snprintf(ours, sizeof ours, "%s/ours.db", arg[2]);
    snprintf(theirs, sizeof theirs, "%s/theirs.db", arg[2]);
    unlink(theirs);
    c.names = names_new();
    c.grid = malloc(sizeof *c.grid * BLOCK_ROWS * MOST_COLUMNS);
    if (!c.names || !c.grid || sqlite3_open_v2(arg[1], &c.from, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_open(theirs, &c.theirs) != SQLITE_OK)
        stop(arg[1], "cannot be opened");
    c.ours = db_open(ours, c.names, &e);
    if (!c.ours)
        stop(ours, e.text);
    sql_do(c.theirs, settings);

    sqlite3_stmt *s = sql_prepare(c.from, "SELECT t.name, t.sql, substr(i.sql, length('CREATE INDEX ') + 1)"
                                          "FROM sqlite_master t LEFT JOIN sqlite_master i ON i.tbl_name = t.name "
                                          "AND i.type = 'index' WHERE t.type = 'table'");
    LIST(char *) indexes = { 0 };
    struct arena *mem = arena_new();
    while (sqlite3_step(s) == SQLITE_ROW) {
        char **index = sqlite3_column_text(s, 2) ? list_add(&indexes, mem) : NULL;
        if (index)
            *index = text_of(s, 2);
        sql_do(c.theirs, (const char *)sqlite3_column_text(s, 1));
        copy_table(&c, (const char *)sqlite3_column_text(s, 0), index ? *index : NULL);
    }
    sqlite3_finalize(s);

    const double begin = cpu_s();
    if (!db_close(c.ours, &e))
        stop(ours, e.text);
    const double between = cpu_s();
    for (size_t i = 0; i < indexes.n; i++) {
        char sql[600];
        snprintf(sql, sizeof sql, "CREATE INDEX %s", indexes.at[i]);
        sql_do(c.theirs, sql);
        free(indexes.at[i]);
    }
    sql_do(c.theirs, "COMMIT");
    sqlite3_close(c.theirs);
    c.theirs_s += cpu_s() - between;
    c.ours_s += between - begin;
    printf("%llu rows: %.3f s by our writer, %.3f s by prepared inserts\n", (unsigned long long)c.n_rows, c.ours_s,
           c.theirs_s);
    sqlite3_close(c.from);
    names_free(c.names);
    arena_free(mem);
    free(c.grid);
    return 0;
}
