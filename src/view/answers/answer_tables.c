/* SPDX-License-Identifier: Apache-2.0 */
#include "view/answers/answers.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "view/server/view_sql.h"

/* The tables that a page offers, examples of SQL, and the schema for SQL. */
void answer_tables(struct question *a)
{
    out_lit(a->o, "{\"tables\":[");
    for (size_t i = 0; i < n_view_tables; i++) {
        json_put_comma(a->o, i == 0);
        out_json(a->o, view_tables[i].name, strlen(view_tables[i].name));
    }
    for (size_t i = 0; i < a->in->db_tables.n; i++) {
        out_char(a->o, ',');
        out_json(a->o, a->in->db_tables.at[i].name, strlen(a->in->db_tables.at[i].name));
    }
    out_lit(a->o, "],\"examples\":[");
    for (size_t i = 0; view_sql_examples[i]; i++) {
        json_put_comma(a->o, i == 0);
        out_json(a->o, view_sql_examples[i], strlen(view_sql_examples[i]));
    }
    out_lit(a->o, "],\"schema\":[");
    for (size_t i = SQL_SLICES; i < SQL_TABLES; i++) {
        const struct sql_table *t = &sql_tables[i];
        json_put_comma(a->o, i == SQL_SLICES);
        out_lit(a->o, "{\"name\":");
        out_json(a->o, t->name, strlen(t->name));
        out_lit(a->o, ",\"columns\":\"");
        for (size_t k = 0; k < t->n_columns; k++) {
            const char *type = sql_type_names[t->column[k].type];
            out_bytes(a->o, ", ", k ? 2 : 0);
            out_json_inner(a->o, t->column[k].name, strlen(t->column[k].name));
            out_char(a->o, ' ');
            out_json_inner(a->o, type, strlen(type));
        }
        out_lit(a->o, "\"}");
    }
    out_lit(a->o, "]}");
}

static void answer_with(struct question *a, const struct view_sql *sql)
{
    struct error e = { 0 };
    if (sql->is_csv)
        a->r->type = "text/csv; charset=utf-8";
    if (!view_sql_answer(a->o, a->in, sql, &e))
        question_refuse(a->r, 400, e.text);
}

/* The pattern of LIKE for rows that contain a text: each of its characters stands for itself. */
static void like_pattern(char *out, const char *text)
{
    *out++ = '%';
    for (; *text; text++) {
        if (*text == '%' || *text == '_' || *text == '\\')
            *out++ = '\\';
        *out++ = *text;
    }
    *out++ = '%';
    *out = '\0';
}

/* "SELECT …" of a table by its name: one of ours, or one of a database. ?1 is the pattern of a filter. */
static char *table_sql(struct question *a, const char *name, const struct view_table *t)
{
#define FILTERED "WHERE ?1 = '%%%%' OR %s LIKE ?1 ESCAPE '\\'"
    if (t)
        return sqlite3_mprintf("SELECT * FROM (%s) " FILTERED, t->sql, t->filtered);
    for (size_t i = 0; i < a->in->db_tables.n; i++)
        if (!strcmp(a->in->db_tables.at[i].name, name))
            return sqlite3_mprintf("SELECT * FROM db.\"%w\" " FILTERED, name, a->in->db_tables.at[i].filtered);
    return NULL;
#undef FILTERED
}

/* A table, sorted by one of its columns and filtered by a text. */
void answer_table(struct question *a)
{
    enum { MOST_COLUMNS = 2000 }; /* as many as SQLite has */
    char name[64], filter[256] = "", like[2 * sizeof filter + 2];
    int64_t sort = -1, down = 0, csv = 0;
    const bool is_named = http_parameter(a->q, "name", name, sizeof name);
    const struct view_table *known = is_named ? view_table_find(name) : NULL;
    char *table = is_named ? table_sql(a, name, known) : NULL;
    if (!table)
        return question_refuse(a->r, 400, "name: wanted the name of a table");
    (void)http_parameter(a->q, "filter", filter, sizeof filter);
    (void)http_parameter_i64(a->q, "sort", &sort);
    (void)http_parameter_i64(a->q, "down", &down);
    (void)http_parameter_i64(a->q, "csv", &csv);
    like_pattern(like, filter);
    char *sql = sort >= 0 && sort < MOST_COLUMNS
                    ? sqlite3_mprintf("%s ORDER BY %d%s", table, (int)sort + 1, down ? " DESC" : "")
                : known ? sqlite3_mprintf("%s ORDER BY %s", table, known->order)
                        : sqlite3_mprintf("%s", table);
    if (sql)
        answer_with(a, &(struct view_sql){ .sql = sql, .is_csv = csv != 0, .parameter = { like } });
    else
        question_refuse(a->r, 503, no_memory_text());
    sqlite3_free(sql);
    sqlite3_free(table);
}

void answer_sql(struct question *a)
{
    char *text = malloc(HTTP_REQUEST_BYTES);
    if (!text)
        question_refuse(a->r, 503, no_memory_text());
    else if (!http_parameter(a->q, "q", text, HTTP_REQUEST_BYTES))
        question_refuse(a->r, 400, "q: wanted a statement");
    else
        answer_with(a, &(struct view_sql){ .sql = text });
    free(text);
}
