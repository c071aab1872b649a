/* SPDX-License-Identifier: Apache-2.0 */
#include "view/answer_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/view_sql.h"

/* What a page offers, and examples of SQL. */
void answer_tables(struct question *a)
{
    out_lit(a->o, "{\"tables\":[");
    for (size_t i = 0; i < n_view_tables; i++) {
        json_put_comma(a->o, i == 0);
        out_json(a->o, view_tables[i].name, strlen(view_tables[i].name));
    }
    out_lit(a->o, "],\"examples\":[");
    for (size_t i = 0; view_sql_examples[i]; i++) {
        json_put_comma(a->o, i == 0);
        out_json(a->o, view_sql_examples[i], strlen(view_sql_examples[i]));
    }
    out_lit(a->o, "]}");
}

static void answer_with(struct question *a, const struct view_sql *sql)
{
    struct error e = { 0 };
    if (sql->is_csv)
        a->r->type = "text/csv; charset=utf-8";
    if (!view_sql_answer(a->o, a->t, sql, &e))
        question_refuse(a->r, 400, e.text);
}

/* A table that the server has sorted by one of its columns and filtered by a text. */
void answer_table(struct question *a)
{
    char name[64], filter[256] = "", like[sizeof filter + 2], sql[2048];
    int64_t sort = -1, down = 0, csv = 0;
    const struct view_table *t = http_parameter(a->q, "name", name, sizeof name) ? view_table_find(name) : NULL;
    if (!t)
        return question_refuse(a->r, 400, "name: wanted the name of a table");
    (void)http_parameter(a->q, "filter", filter, sizeof filter);
    (void)http_parameter_i64(a->q, "sort", &sort);
    (void)http_parameter_i64(a->q, "down", &down);
    (void)http_parameter_i64(a->q, "csv", &csv);
    snprintf(like, sizeof like, "%%%s%%", filter);
    int n = snprintf(sql, sizeof sql, "SELECT * FROM (%s) WHERE ?1 = '%%%%' OR %s LIKE ?1", t->sql, t->filtered);
    if (sort >= 0 && sort < 32)
        n += snprintf(sql + n, sizeof sql - (size_t)n, " ORDER BY %d%s", (int)sort + 1, down ? " DESC" : "");
    answer_with(a, &(struct view_sql){ .sql = sql, .is_csv = csv != 0, .parameter = { like } });
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
