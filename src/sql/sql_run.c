/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/sql_run.h"

#include <stdatomic.h>
#include <string.h>

#include "base/process/background.h"
#include "base/sqlite/untrusted_db.h"

enum { OPERATIONS = 200 }; /* between two checks of the limits of a statement; each may create a text of 16 MiB */

/* The limits of a statement, and which of them was exceeded. */
struct allowance {
    uint64_t until_ns;
    sqlite3_int64 most_bytes; /* of all of SQLite's memory */
    bool is_late, is_large;
    uint32_t needs; /* the tables that it names: bits of enum sql_table_id */
};

static int only_reading(void *context, int action, const char *a, const char *b, const char *c, const char *d)
{
    struct allowance *allowed = context;
    const struct sql_table *table = action == SQLITE_READ && a && (!c || !strcmp(c, "main")) ? sql_table_find(a) : NULL;
    (void)b, (void)d;
    if (table)
        allowed->needs |= UINT32_C(1) << (table - sql_tables);
    return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE
               ? SQLITE_OK
               : SQLITE_DENY;
}

static atomic_bool is_ending;
static atomic_uint n_running;

bool sql_runs(void)
{
    return atomic_load(&n_running) > 0;
}

void sql_end(void)
{
    atomic_store(&is_ending, true);
}

static int is_used_up(void *of)
{
    struct allowance *a = of;
    a->is_late = steady_ns() > a->until_ns;
    a->is_large = sqlite3_memory_used() > a->most_bytes;
    return a->is_late || a->is_large || atomic_load(&is_ending);
}

/* Replaces COUNT(*), which SQLite executes as one operation that cannot be interrupted: on a hostile database it may
 * never end. */
static void count_step(sqlite3_context *c, int n, sqlite3_value **value)
{
    sqlite3_int64 *count = sqlite3_aggregate_context(c, sizeof *count);
    (void)n, (void)value;
    if (count)
        ++*count;
}

static void count_inverse(sqlite3_context *c, int n, sqlite3_value **value)
{
    sqlite3_int64 *count = sqlite3_aggregate_context(c, sizeof *count);
    (void)n, (void)value;
    if (count)
        --*count;
}

static void count_value(sqlite3_context *c)
{
    const sqlite3_int64 *count = sqlite3_aggregate_context(c, sizeof *count);
    sqlite3_result_int64(c, count ? *count : 0);
}

/* Attaches the user's database, which is not trusted, or the tables that were made from other files. */
static bool attach(sqlite3 *db, const struct sql_database *of)
{
    sqlite3_stmt *s = NULL;
    char *uri = of->path ? untrusted_db_uri(of->path, of->has_log) : sqlite3_mprintf(":memory:");
    const bool is_good = uri && sqlite3_prepare_v2(db, "ATTACH ?1 AS db", -1, &s, NULL) == SQLITE_OK &&
                         sqlite3_bind_text(s, 1, uri, -1, SQLITE_STATIC) == SQLITE_OK && sqlite3_step(s) == SQLITE_DONE;
    sqlite3_finalize(s);
    sqlite3_free(uri);
    if (is_good && of->image)
        return sqlite3_deserialize(db, "db", of->image, (sqlite3_int64)of->image_bytes, (sqlite3_int64)of->image_bytes,
                                   SQLITE_DESERIALIZE_READONLY) == SQLITE_OK;
    return is_good;
}

/* In memory, so that nothing is written; from here on only reading is possible. */
static bool prepare(sqlite3 **db, const struct sql_database *of, struct allowance *allowed)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
    if (sqlite3_open_v2(":memory:", db, flags, NULL) != SQLITE_OK || !untrusted_db_restrict(*db) ||
        sqlite3_exec(*db, "PRAGMA temp_store=MEMORY", NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_create_window_function(*db, "count", 0, SQLITE_UTF8 | SQLITE_INNOCUOUS, NULL, count_step, count_value,
                                       count_value, count_inverse, NULL) != SQLITE_OK ||
        sql_sources_add(*db, of->source, of->n_sources) != SQLITE_OK)
        return false;
    sqlite3_progress_handler(*db, OPERATIONS, is_used_up, allowed);
    if ((of->path || of->image) && !attach(*db, of))
        return false;
    sqlite3_limit(*db, SQLITE_LIMIT_LENGTH, 16 << 20);
    sqlite3_limit(*db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
    sqlite3_set_authorizer(*db, only_reading, allowed);
    return true;
}

static bool take_rows(sqlite3 *db, sqlite3_stmt *s, const struct sql_question *q, const struct sql_taker *taker,
                      const struct allowance *allowed, struct sql_answer *out, struct error *e)
{
    int status;
    bool fits = true;
    *out = (struct sql_answer){ 0 };
    taker->begin(taker->of, s);
    while (fits && (status = sqlite3_step(s)) == SQLITE_ROW) {
        out->is_cut = q->most_rows > 0 && out->n_rows == q->most_rows;
        if (out->is_cut)
            break;
        fits = taker->row(taker->of, s);
        out->n_rows++;
    }
    if (!fits || allowed->is_large)
        return error_set(e, FAULT_LIMIT, "stopped: the answer, or what it is made of, is too large; reduce the query");
    if (status == SQLITE_INTERRUPT)
        return error_set(e, FAULT_LIMIT, "stopped after %d s; reduce the query", SQL_SECONDS);
    if (status != SQLITE_DONE && status != SQLITE_ROW)
        return error_set(e, FAULT_ASKED, "%s", sqlite3_errmsg(db));
    taker->end(taker->of, s);
    return true;
}

/* A statement and its connection. */
struct sql_running {
    sqlite3 *db;
    sqlite3_stmt *s;
    struct allowance allowed;
};

static bool running_begin(struct sql_running *r, const struct sql_database *of, const char *sql, struct error *e)
{
    const char *rest = NULL;
    *r = (struct sql_running){ .allowed = { .until_ns = steady_ns() + SQL_SECONDS * UINT64_C(1000000000),
                                            .most_bytes = sqlite3_memory_used() + SQL_MEMORY_BYTES } };
    atomic_fetch_add(&n_running, 1);
    if (!prepare(&r->db, of, &r->allowed) || sqlite3_prepare_v2(r->db, sql, -1, &r->s, &rest) != SQLITE_OK)
        return error_set(e, FAULT_ASKED, "%s", r->db ? sqlite3_errmsg(r->db) : no_memory_text());
    if (!r->s)
        return error_set(e, FAULT_ASKED, "no statement");
    return !rest || !rest[strspn(rest, " \t\r\n;")] || error_set(e, FAULT_ASKED, "more than one statement");
}

static void running_end(struct sql_running *r)
{
    sqlite3_finalize(r->s);
    sqlite3_close(r->db);
    atomic_fetch_sub(&n_running, 1);
}

bool sql_run(const struct sql_database *db, const struct sql_question *q, const struct sql_taker *taker,
             struct sql_answer *out, struct error *e)
{
    struct sql_running r;
    bool is_good = running_begin(&r, db, q->sql, e);
    for (int i = 0; is_good && i < SQL_PARAMETERS && i < sqlite3_bind_parameter_count(r.s); i++)
        is_good = !q->parameter[i] || sqlite3_bind_text(r.s, i + 1, q->parameter[i], -1, SQLITE_STATIC) == SQLITE_OK ||
                  error_set(e, FAULT_ASKED, "%s", sqlite3_errmsg(r.db));
    is_good = is_good && take_rows(r.db, r.s, q, taker, &r.allowed, out, e);
    running_end(&r);
    return is_good;
}

bool sql_needs(const struct sql_database *db, const char *sql, uint32_t *needs, struct error *e)
{
    struct sql_running r;
    const bool is_good = running_begin(&r, db, sql, e);
    *needs = r.allowed.needs;
    running_end(&r);
    return is_good;
}
