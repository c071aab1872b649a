/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "cli/sql/sql_inputs.h"
#include "cli/sql/sql_output.h"
#include "sql/run/run_columns.h"

/* A session of one or several statements. */
struct sql_asking {
    struct arguments *a;
    struct sql_inputs inputs;
    struct term term;
    json_t *answers; /* of --json */
    bool is_prompt, has_failed;
};

static const char help_text[] =
    ".tables           names of the tables\n"
    ".schema [TABLE]   columns, with type, unit and meaning\n"
    ".help             this text\n"
    ".quit             ends\n"
    "A statement ends with ; at the end of a line. Examples:\n"
    "  SELECT name, dur_ns / 1e6 AS ms, free_ns / 1e6 AS free_ms FROM steps ORDER BY dur_ns DESC LIMIT 5;\n"
    "  SELECT name, count(*) AS n, sum(dur_ns) / 1e6 AS ms FROM kernels GROUP BY name ORDER BY ms DESC LIMIT 10;\n"
    "  SELECT operator, type, sum(dur_ns) / 1e6 AS ms FROM kernels GROUP BY 1, 2 ORDER BY ms DESC LIMIT 10;\n"
    "  SELECT rank, kind, sum(bytes) / 1e9 / (sum(dur_ns) / 1e9) AS gb_per_s FROM collectives GROUP BY 1, 2;\n"
    "  SELECT name, (begin_ns - launch_ns) / 1e3 AS us_after_launch FROM kernels ORDER BY 2 DESC LIMIT 10;\n"
    "  SELECT name, percentile(dur_ns, 50), percentile(dur_ns, 99), histogram(dur_ns) FROM operators GROUP BY name;\n";

static void complain_failed_statement(struct sql_asking *x, const struct error *e)
{
    complain("%s", e->text);
    x->has_failed = true;
}

static void statement_run(struct sql_asking *x, const char *sql)
{
    const struct arguments *a = x->a;
    struct error e = { 0 };
    struct sql_answer answer = { 0 };
    struct sql_output o = { .form = a->json     ? SQL_AS_JSON
                                    : a->as_csv ? SQL_AS_CSV
                                                : SQL_AS_TABLE,
                            .csv_is_safe = a->options.csv_is_safe };
    const struct sql_question q = { .sql = sql, .most_rows = a->rows };
    if (!sql_inputs_load(&x->inputs, sql, x->is_prompt, &e))
        return complain_failed_statement(x, &e);
    json_t *one = NULL;
    fflush(stdout); /* CSV is written past it */
    if (sql_output_begin(&o, &e)) {
        const struct sql_taker taker = sql_output_taker(&o);
        (void)sql_run(&x->inputs.db, &q, &taker, &answer, &e);
    }
    one = sql_output_end(&o, &x->term, &answer, &e);
    if (one) {
        json_object_set_new(one, "sql", json_string(sql));
        json_list_add(&x->answers, one);
    }
    if (e.fault != FAULT_NONE)
        return complain_failed_statement(x, &e);
    if (answer.is_cut && !a->json && !a->quiet)
        complain("more than %llu rows; --limit 0 shows all", (unsigned long long)answer.n_rows);
}

/* ".tables" and the like. False: the session ends. */
static bool dot_command(struct sql_asking *x, const char *line)
{
    const size_t n = strcspn(line, " \t;");
    const char *word = line + n + strspn(line + n, " \t");
    char table[64] = "";
    snprintf(table, sizeof table, "%.*s", (int)strcspn(word, " \t;"), word);
    if (strncmp(line, ".quit", n) == 0 || strncmp(line, ".exit", n) == 0)
        return false;
    if (n == strlen(".tables") && strncmp(line, ".tables", n) == 0) {
        for (size_t i = 0; i < SQL_TABLES; i++)
            fprintf(x->term.to, "%-16s %s\n", sql_tables[i].name, sql_tables[i].meaning);
    } else if (n == strlen(".schema") && strncmp(line, ".schema", n) == 0) {
        if (table[0] && !sql_table_find(table)) {
            complain("%s: no such table; .tables lists them", table);
            x->has_failed = true;
        } else if (x->a->json) {
            json_decref(x->answers);
            x->answers = NULL;
            json_report(x->a, "tables_of_sql", sql_schema_json(), STATUS_DONE);
        } else {
            sql_schema_print(&x->term, table[0] ? table : NULL);
        }
    } else if (n == strlen(".help") && strncmp(line, ".help", n) == 0) {
        fputs(help_text, x->term.to);
    } else {
        complain("%.*s: unknown; .help lists what there is", (int)n, line);
        x->has_failed = true;
    }
    return true;
}

/* Whether a word is a statement, or a command of the prompt, and not a path. */
static bool is_statement(const char *word)
{
    static const char *const first[] = { "select", "with",   "values", "explain", "insert", "update",
                                         "delete", "create", "drop",   "pragma",  "attach", "." };
    if (access(word, F_OK) == 0)
        return false;
    word += strspn(word, " \t\r\n(");
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        const size_t n = strlen(first[i]);
        if (strncasecmp(word, first[i], n) == 0 &&
            (*word == '.' ? word[1] >= 'a' && word[1] <= 'z' && !strchr(word, '/')
                          : !word[n] || strchr(" \t\r\n(;*", word[n])))
            return true;
    }
    return false;
}

/* Reads statements until the input ends. */
static void prompt_run(struct sql_asking *x)
{
    char *line = NULL, *text = NULL;
    size_t cap = 0, n = 0;
    const bool is_terminal = isatty(STDIN_FILENO);
    x->is_prompt = true;
    if (is_terminal && !x->a->quiet)
        fputs("SQL over the recording; .help has examples, .tables the tables, Ctrl-D ends\n", stdout);
    for (;;) {
        if (is_terminal) {
            fputs(n > 0 ? "   ...> " : "ascope> ", stdout);
            fflush(stdout);
        }
        ssize_t len = getline(&line, &cap, stdin);
        if (len < 0)
            break;
        while (len > 0 && strchr(" \t\r\n", line[len - 1]))
            line[--len] = '\0';
        if (n == 0 && line[0] == '.') {
            if (!dot_command(x, line))
                break;
            continue;
        }
        if (len == 0)
            continue;
        char *more = realloc(text, n + (size_t)len + 2);
        if (!more) {
            complain_no_memory("the statement");
            x->has_failed = true;
            break;
        }
        text = more;
        memcpy(text + n, line, (size_t)len + 1);
        n += (size_t)len;
        if (line[len - 1] != ';') {
            text[n++] = '\n';
            text[n] = '\0';
            continue;
        }
        statement_run(x, text);
        n = 0;
    }
    if (n > 0)
        statement_run(x, text);
    free(text);
    free(line);
}

/* The bits of "kernels,steps"; 0: one of them is no table of the run. */
static uint32_t tables_of_list(const char *list)
{
    uint32_t bits = list ? 0 : (1 << SQL_RUN_TABLES) - 1;
    for (const char *at = list; at && *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        const struct sql_table *t = sql_table_find(name);
        if (!t || t - sql_tables >= SQL_RUN_TABLES) {
            complain("--tables %s: %s is no table of the run", list, name);
            return 0;
        }
        bits |= UINT32_C(1) << (t - sql_tables);
    }
    return bits;
}

/* --columns. */
static enum exit_status columns_write(struct sql_inputs *s, const struct arguments *a, uint32_t wanted)
{
    struct out o;
    struct error e = { 0 };
    if (s->run.inputs.list.n == 0) {
        complain("--columns: no recording among the inputs");
        return STATUS_NOTHING;
    }
    if (!sql_inputs_columns(s, wanted) || s->run.run.n == 0)
        return STATUS_NOTHING;
    if (!out_open_named(&o, a->columns, &e)) {
        complain("%s", e.text);
        return STATUS_NOTHING;
    }
    if (!run_columns_write(&o, &s->columns, wanted)) {
        out_discard(&o);
        complain_no_memory("the columns");
        return STATUS_NOTHING;
    }
    if (out_close(&o, &e))
        return s->status;
    complain("%s", e.text);
    return STATUS_NOTHING;
}

int run_sql(struct arguments *a)
{
    struct sql_asking x = { .a = a };
    const uint32_t wanted = a->columns ? tables_of_list(a->tables) : 0;
    const char *statement = a->n_words > 0 && is_statement(a->word[a->n_words - 1]) ? a->word[--a->n_words] : NULL;
    if (a->json + a->as_csv + a->as_table + (a->columns != NULL) > 1) {
        complain("--table, --csv, --json and --columns: give one of them");
        return exit_code(a->face, STATUS_USAGE);
    }
    if (a->columns && (statement || wanted == 0)) {
        if (statement)
            complain("--columns: writes tables, without a statement");
        return exit_code(a->face, STATUS_USAGE);
    }
    term_init(&x.term, stdout);
    enum exit_status status = sql_inputs_find(&x.inputs, a);
    if (status == STATUS_DONE && !statement && a->n_words == 0) {
        complain("missing path and statement; ascope sql --help has an example");
        status = STATUS_USAGE;
    }
    if (status == STATUS_DONE && a->columns) {
        status = columns_write(&x.inputs, a, wanted);
    } else if (status == STATUS_DONE) {
        x.answers = a->json ? json_array() : NULL;
        if (!statement)
            prompt_run(&x);
        else if (*statement == '.')
            (void)dot_command(&x, statement);
        else
            statement_run(&x, statement);
        status = x.has_failed ? STATUS_NOTHING : x.inputs.status;
        if (x.answers)
            status = json_report(a, "queries", x.answers, status);
    }
    sql_inputs_end(&x.inputs);
    return exit_code(a->face, status);
}
