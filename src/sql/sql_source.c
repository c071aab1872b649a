/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/sql_source.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory/ascending.h"

struct source_state {
    sqlite3_vtab base; /* first: SQLite knows only this */
    const struct sql_source *source;
};

struct cursor {
    sqlite3_vtab_cursor base;
    const struct sql_source *source;
    size_t row, end;
};

static int table_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **error)
{
    const struct sql_source *source = aux;
    (void)argc, (void)argv, (void)error;
    struct source_state *made = sqlite3_malloc64(sizeof *made);
    if (!made)
        return SQLITE_NOMEM;
    *made = (struct source_state){ .source = source };
    sqlite3_str *text = sqlite3_str_new(NULL);
    for (size_t i = 0; i < source->of->n_columns; i++)
        sqlite3_str_appendf(text, "%s%s %s", i ? ", " : "CREATE TABLE x(", source->of->column[i].name,
                            sql_type_names[source->of->column[i].type]);
    sqlite3_str_appendchar(text, 1, ')');
    char *declaration = sqlite3_str_finish(text);
    const int status = declaration ? sqlite3_declare_vtab(db, declaration) : SQLITE_NOMEM;
    sqlite3_free(declaration);
    if (status != SQLITE_OK) {
        sqlite3_free(made);
        return status;
    }
    *out = &made->base;
    return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

/* Offers access to one row by its id, which joins use; otherwise all rows are scanned. */
static int table_best(sqlite3_vtab *table, sqlite3_index_info *x)
{
    const struct sql_source *source = ((const struct source_state *)table)->source;
    x->estimatedRows = (sqlite3_int64)source->n_rows(source);
    x->estimatedCost = (double)x->estimatedRows;
    for (int i = 0; i < x->nConstraint; i++)
        if (x->aConstraint[i].usable && x->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ &&
            (x->aConstraint[i].iColumn < 0 || x->aConstraint[i].iColumn == source->row_column)) {
            x->aConstraintUsage[i].argvIndex = 1;
            x->idxNum = 1;
            x->estimatedRows = 1;
            x->estimatedCost = 1;
            break;
        }
    return SQLITE_OK;
}

static int cursor_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    struct cursor *made = sqlite3_malloc64(sizeof *made);
    if (!made)
        return SQLITE_NOMEM;
    *made = (struct cursor){ .source = ((const struct source_state *)table)->source };
    *out = &made->base;
    return SQLITE_OK;
}

static int cursor_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int cursor_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc, sqlite3_value **argv)
{
    struct cursor *c = (struct cursor *)cursor;
    const size_t n = c->source->n_rows(c->source);
    (void)text;
    c->row = 0;
    c->end = n;
    if (number == 1 && argc == 1) {
        const sqlite3_int64 wanted = sqlite3_value_int64(argv[0]);
        c->row = wanted >= 0 && (uint64_t)wanted < n ? (size_t)wanted : n;
        c->end = c->row < n ? c->row + 1 : n;
    }
    return SQLITE_OK;
}

static int cursor_next(sqlite3_vtab_cursor *cursor)
{
    ((struct cursor *)cursor)->row++;
    return SQLITE_OK;
}

static int cursor_eof(sqlite3_vtab_cursor *cursor)
{
    const struct cursor *c = (const struct cursor *)cursor;
    return c->row >= c->end;
}

static int cursor_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    const struct cursor *c = (const struct cursor *)cursor;
    c->source->cell(c->source, c->row, column, context);
    return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)((const struct cursor *)cursor)->row;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = table_connect,
    .xBestIndex = table_best,
    .xDisconnect = table_disconnect,
    .xOpen = cursor_open,
    .xClose = cursor_close,
    .xFilter = cursor_filter,
    .xNext = cursor_next,
    .xEof = cursor_eof,
    .xColumn = cursor_column,
    .xRowid = cursor_rowid,
};

/* ---- percentile(value, percent) ---------------------------------------------------------------------------------- */

struct values {
    double *at;
    size_t n, cap;
    double percent;
};

static void values_add(sqlite3_context *c, int argc, sqlite3_value **argv)
{
    struct values *v = sqlite3_aggregate_context(c, sizeof *v);
    (void)argc;
    if (!v || sqlite3_value_type(argv[0]) == SQLITE_NULL)
        return;
    if (v->n == v->cap) {
        const size_t cap = v->cap ? 2 * v->cap : 64;
        double *more = sqlite3_realloc64(v->at, cap * sizeof *more);
        if (!more)
            return sqlite3_result_error_nomem(c);
        v->at = more;
        v->cap = cap;
    }
    v->at[v->n++] = sqlite3_value_double(argv[0]);
    v->percent = sqlite3_value_double(argv[1]);
}

/* The result is one of the values, never the mean of two. */
static void values_final(sqlite3_context *c)
{
    struct values *v = sqlite3_aggregate_context(c, 0);
    if (!v || v->n == 0)
        return;
    qsort(v->at, v->n, sizeof *v->at, compare_doubles);
    const double share = v->percent > 0 ? v->percent < 100 ? v->percent / 100 : 1 : 0;
    sqlite3_result_double(c, v->at[(size_t)((double)(v->n - 1) * share)]);
    sqlite3_free(v->at);
}

/* ---- histogram(value): how many values have how many bits ------------------------------------------------------ */

enum { HISTOGRAM_BITS = 64 };
struct histogram {
    uint64_t n[HISTOGRAM_BITS];
};

static void histogram_add(sqlite3_context *c, int argc, sqlite3_value **argv)
{
    struct histogram *h = sqlite3_aggregate_context(c, sizeof *h);
    const sqlite3_int64 v = sqlite3_value_int64(argv[0]);
    (void)argc;
    if (h && sqlite3_value_type(argv[0]) != SQLITE_NULL)
        h->n[v > 0 ? 63 - __builtin_clzll((unsigned long long)v) : 0]++;
}

static void histogram_final(sqlite3_context *c)
{
    const struct histogram *h = sqlite3_aggregate_context(c, 0);
    sqlite3_str *text = sqlite3_str_new(NULL);
    for (int i = 0; h && i < HISTOGRAM_BITS; i++)
        if (h->n[i] > 0)
            sqlite3_str_appendf(text, "%s%d:%llu", sqlite3_str_length(text) ? " " : "", i, (unsigned long long)h->n[i]);
    char *made = sqlite3_str_finish(text);
    sqlite3_result_text(c, made ? made : "", -1, made ? sqlite3_free : SQLITE_STATIC);
}

int sql_sources_add(sqlite3 *db, const struct sql_source *source, size_t n)
{
    int status = sqlite3_create_function_v2(db, "percentile", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, NULL,
                                            values_add, values_final, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_create_function_v2(db, "histogram", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, NULL,
                                            histogram_add, histogram_final, NULL);
    for (size_t i = 0; i < n && status == SQLITE_OK; i++) {
        status = sqlite3_create_module_v2(db, source[i].of->name, &module, (void *)&source[i], NULL);
        char use[64]; /* using the table declares it, which the authorizer would refuse later */
        snprintf(use, sizeof use, "SELECT 1 FROM %s LIMIT 0", source[i].of->name);
        status = status == SQLITE_OK ? sqlite3_exec(db, use, NULL, NULL, NULL) : status;
    }
    return status;
}
