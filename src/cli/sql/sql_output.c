/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sql/sql_output.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text/json_memory.h"

bool sql_output_begin(struct sql_output *o, struct error *e)
{
    o->mem = arena_new();
    o->rows = json_array();
    o->columns = json_array();
    if (!o->mem || !o->rows || !o->columns)
        return error_no_memory(e, "the answer");
    return o->form != SQL_AS_CSV || out_open_descriptor(&o->csv, STDOUT_FILENO, "standard output", e);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *cell_json(sqlite3_stmt *s, int i)
{
    switch (sqlite3_column_type(s, i)) {
    case SQLITE_INTEGER: return json_integer(sqlite3_column_int64(s, i));
    case SQLITE_FLOAT:
        return isfinite(sqlite3_column_double(s, i)) ? json_real(sqlite3_column_double(s, i)) : json_null();
    case SQLITE_NULL: return json_null();
    default: return text_json((const char *)sqlite3_column_text(s, i));
    }
}

/* ---- a table ----------------------------------------------------------------------------------------------------- */

static const char *cell_text(struct sql_output *o, sqlite3_stmt *s, int i)
{
    if (sqlite3_column_type(s, i) == SQLITE_NULL)
        return "";
    const char *text = (const char *)sqlite3_column_text(s, i);
    return text ? arena_text(o->mem, text, strlen(text)) : NULL;
}

static void cell_keep(struct sql_output *o, const char *text)
{
    const char **new = text ? list_add(&o->cells, o->mem) : NULL;
    if (new)
        *new = text;
}

static void table_print(const struct sql_output *o, const struct term *t)
{
    enum { MOST_WIDTH = 60 };
    const int most = t->columns > 0 ? MOST_WIDTH : INT_MAX;
    const size_t n = (size_t)o->n_columns, n_rows = n > 0 ? o->cells.n / n : 0;
    int *wide = arena_take(o->mem, n, sizeof *wide);
    for (size_t i = 0; wide && i < o->cells.n; i++) {
        const int width = term_width(o->cells.at[i]);
        wide[i % n] = width < most ? width > wide[i % n] ? width : wide[i % n] : most;
    }
    for (size_t row = 0; wide && row < n_rows; row++) {
        for (size_t i = 0; i < n; i++) {
            const char *text = o->cells.at[row * n + i];
            const int gap = wide[i] - (term_width(text) < most ? term_width(text) : most);
            fprintf(t->to, "%s%*s", i ? "  " : "", o->is_number.at[i] ? gap : 0, "");
            term_text(t, text, most);
            fprintf(t->to, "%*s", o->is_number.at[i] || i + 1 == n ? 0 : gap, "");
        }
        fputc('\n', t->to);
    }
}

/* ---- all forms --------------------------------------------------------------------------------------------------- */

static void output_begin(void *of, sqlite3_stmt *s)
{
    struct sql_output *o = of;
    o->n_columns = sqlite3_column_count(s);
    for (int i = 0; i < o->n_columns; i++) {
        const char *name = sqlite3_column_name(s, i);
        bool *new = list_add(&o->is_number, o->mem);
        if (new)
            *new = false;
        if (o->form == SQL_AS_JSON) {
            json_array_append_new(o->columns, text_json(name));
        } else if (o->form == SQL_AS_TABLE) {
            cell_keep(o, arena_text(o->mem, name, strlen(name)));
        } else {
            out_bytes(&o->csv, ",", i > 0);
            (o->csv_is_safe ? out_csv_safe : out_csv)(&o->csv, name, strlen(name));
        }
    }
    if (o->form == SQL_AS_CSV)
        out_char(&o->csv, '\n');
}

static void csv_cell(struct sql_output *o, sqlite3_stmt *s, int i)
{
    const int type = sqlite3_column_type(s, i);
    const char *text = type == SQLITE_TEXT || type == SQLITE_BLOB ? (const char *)sqlite3_column_text(s, i) : NULL;
    out_bytes(&o->csv, ",", i > 0);
    if (type == SQLITE_INTEGER)
        out_i64(&o->csv, sqlite3_column_int64(s, i));
    else if (type == SQLITE_FLOAT && isfinite(sqlite3_column_double(s, i)))
        out_real(&o->csv, sqlite3_column_double(s, i));
    else if (text)
        (o->csv_is_safe ? out_csv_safe : out_csv)(&o->csv, text, strlen(text));
}

static bool output_row(void *of, sqlite3_stmt *s)
{
    struct sql_output *o = of;
    json_t *row = o->form == SQL_AS_JSON ? json_array() : NULL;
    for (int i = 0; i < o->n_columns; i++) {
        if (o->form == SQL_AS_CSV) {
            csv_cell(o, s, i);
            continue;
        }
        o->bytes += (uint64_t)sqlite3_column_bytes(s, i) + sizeof(void *);
        if (o->form == SQL_AS_JSON) {
            json_array_append_new(row, cell_json(s, i));
            continue;
        }
        const int type = sqlite3_column_type(s, i);
        cell_keep(o, cell_text(o, s, i));
        if (type != SQLITE_NULL && (size_t)i < o->is_number.n)
            o->is_number.at[i] = type != SQLITE_TEXT && type != SQLITE_BLOB;
    }
    if (o->form == SQL_AS_JSON)
        json_array_append_new(o->rows, row);
    else if (o->form == SQL_AS_CSV)
        out_char(&o->csv, '\n');
    return o->bytes <= SQL_ANSWER_BYTES;
}

static void output_end(void *of, sqlite3_stmt *s)
{
    (void)of, (void)s;
}

struct sql_taker sql_output_taker(struct sql_output *o)
{
    return (struct sql_taker){ output_begin, output_row, output_end, o };
}

json_t *sql_output_end(struct sql_output *o, const struct term *t, const struct sql_answer *answer, struct error *e)
{
    json_t *made = NULL;
    if (arena_failed(o->mem))
        error_no_memory(e, "the answer");
    else if (o->form == SQL_AS_TABLE && e->fault == FAULT_NONE)
        table_print(o, t);
    else if (o->form == SQL_AS_JSON && e->fault == FAULT_NONE)
        made = json_pack("{s:O, s:O, s:I, s:b}", "columns", o->columns, "rows", o->rows, "n_rows",
                         (json_int_t)answer->n_rows, "is_cut", answer->is_cut);
    if (o->form == SQL_AS_CSV)
        out_close(&o->csv, e);
    json_decref(o->columns);
    json_decref(o->rows);
    arena_free(o->mem);
    return made;
}

/* ---- the schema -------------------------------------------------------------------------------------------------- */

void sql_schema_print(const struct term *t, const char *table)
{
    for (size_t i = 0; i < SQL_TABLES; i++) {
        const struct sql_table *of = &sql_tables[i];
        if (table && strcmp(of->name, table) != 0)
            continue;
        fprintf(t->to, "%s%s%s%s: %s\n", i > 0 && !table ? "\n" : "", term_ink(t, INK_BOLD), of->name,
                term_ink(t, INK_END), of->meaning);
        for (size_t k = 0; k < of->n_columns; k++)
            fprintf(t->to, "  %-18s %-7s %-7s %s\n", of->column[k].name, sql_type_names[of->column[k].type],
                    of->column[k].unit, of->column[k].meaning);
    }
}
