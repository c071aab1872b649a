/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/job/rank_readers.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/files/destination.h"
#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/files/leftover.h"
#include "base/files/outdir.h"
#include "base/sqlite/sqlite_descriptor.h"
#include "base/sqlite/sqlite_file.h"
#include "base/sqlite/untrusted_db.h"

/* The rows of a table of cluster_analysis.db, rank by rank. */
struct rank_rows {
    sqlite3_stmt *row; /* NULL: there is no such table */
    bool is_there;     /* it is at a row */
};

struct rank_databases_copying {
    struct job *job;
    const struct rank_databases *r;
    struct untrusted_db results;
    struct rank_rows pairs, passes;
    struct arena *mem; /* of one rank */
    struct error *e;
};

static bool rows_step(struct rank_databases_copying *c, struct rank_rows *rows)
{
    const int code = rows->row ? sqlite3_step(rows->row) : SQLITE_DONE;
    rows->is_there = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ||
           error_set(c->e, FAULT_IO, "%s: cannot be read: %s", c->r->results, untrusted_db_trouble(&c->results));
}

static bool rows_open(struct rank_databases_copying *c, struct rank_rows *rows, const char *table, const char *sql)
{
    bool is_there;
    if (!untrusted_db_look(&c->results, table, &is_there) ||
        (is_there && sqlite3_prepare_v2(c->results.db, sql, -1, &rows->row, NULL) != SQLITE_OK))
        return error_set(c->e, FAULT_IO, "%s: cannot be read: %s", c->r->results, untrusted_db_trouble(&c->results));
    return rows_step(c, rows);
}

/* Hands the rows of a rank to a statement with the same columns; those of ranks before it are stepped over. False: see
 * c->e, or the statement has failed. */
static bool rows_move(struct rank_databases_copying *c, struct rank_rows *rows, int64_t rank, sqlite3_stmt *put,
                      int n_columns)
{
    while (rows->is_there && sqlite3_column_int64(rows->row, 0) <= rank) {
        if (sqlite3_column_int64(rows->row, 0) == rank) {
            for (int i = 1; i <= n_columns; i++)
                sqlite3_bind_value(put, i, sqlite3_column_value(rows->row, i));
            if (sqlite3_step(put) != SQLITE_DONE)
                return false;
            sqlite3_reset(put);
        }
        if (!rows_step(c, rows))
            return false;
    }
    return true;
}

static bool has_rows(const struct rank_rows *rows, int64_t rank)
{
    return rows->is_there && sqlite3_column_int64(rows->row, 0) == rank;
}

static bool run_sql(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* COMMUNICATION_OP.opConnectionId of sends and receives; NULL of all others. */
static bool put_pairs(struct rank_databases_copying *c, sqlite3 *db, int64_t rank)
{
    static const char
        begin[] = "CREATE TEMP TABLE pairs (begin, name, id, PRIMARY KEY (begin, name)) WITHOUT ROWID",
        put[] = "INSERT OR IGNORE INTO temp.pairs VALUES (?1, ?2, ?3)",
        end[] = "UPDATE main.COMMUNICATION_OP SET opConnectionId = (SELECT id FROM temp.pairs AS p "
                "WHERE p.begin = startNs AND p.name = (SELECT value FROM main.STRING_IDS AS s WHERE s.id = opName)); "
                "DROP TABLE temp.pairs";
    sqlite3_stmt *look = NULL, *insert = NULL;
    const bool has_column =
        sqlite3_prepare_v2(db, "SELECT opConnectionId FROM main.COMMUNICATION_OP", -1, &look, NULL) == SQLITE_OK;
    sqlite3_finalize(look);
    bool done = (has_column || run_sql(db, "ALTER TABLE main.COMMUNICATION_OP ADD COLUMN opConnectionId TEXT")) &&
                run_sql(db, begin) && sqlite3_prepare_v2(db, put, -1, &insert, NULL) == SQLITE_OK &&
                rows_move(c, &c->pairs, rank, insert, 3);
    sqlite3_finalize(insert);
    return done && run_sql(db, end);
}

static bool put_passes(struct rank_databases_copying *c, sqlite3 *db, int64_t rank)
{
    static const char begin[] =
        "DROP TABLE IF EXISTS main.StepTaskInfo; "
        "CREATE TABLE main.StepTaskInfo (name TEXT, startNs INTEGER, endNs INTEGER, type INTEGER)",
                      put[] = "INSERT INTO main.StepTaskInfo VALUES (?1, ?2, ?3, ?4)";
    sqlite3_stmt *insert = NULL;
    const bool done = run_sql(db, begin) && sqlite3_prepare_v2(db, put, -1, &insert, NULL) == SQLITE_OK &&
                      rows_move(c, &c->passes, rank, insert, 4);
    sqlite3_finalize(insert);
    return done;
}

/* Writes the rows of a rank into the copy. */
static bool edit(struct rank_databases_copying *c, int fd, const char *path, int64_t rank)
{
    static const char set[] = "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; "
                              "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-4096; BEGIN";
    char uri[DESCRIPTOR_URI];
    sqlite3 *db = NULL;
    descriptor_uri(uri, fd);
    bool done = sqlite3_open_v2(uri, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, NULL) == SQLITE_OK &&
                run_sql(db, set) && untrusted_db_restrict(db) &&
                sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL) == SQLITE_OK;
    done = done && (!has_rows(&c->pairs, rank) || put_pairs(c, db, rank)) &&
           (!has_rows(&c->passes, rank) || put_passes(c, db, rank)) && run_sql(db, "COMMIT");
    if (!done && (!db || (sqlite3_errcode(db) & 0xFF) == SQLITE_NOMEM))
        error_no_memory(c->e, path);
    else if (!done)
        error_set(c->e, FAULT_IO, "%s: cannot be written: %s", path, sqlite3_errmsg(db));
    return sqlite3_close(db) == SQLITE_OK && done;
}

/* A sound database, of which the tables that are changed are ordinary ones. False: the reason is in `why`. */
static bool original_open(struct untrusted_db *u, const char *path, bool has_pairs, struct error *why)
{
    bool has_ops, has_texts, has_info;
    if (!untrusted_db_open(u, path, why))
        return false;
    const bool is_fine = untrusted_db_is_sound(u) && untrusted_db_look(u, "COMMUNICATION_OP", &has_ops) &&
                         untrusted_db_look(u, "STRING_IDS", &has_texts) &&
                         untrusted_db_look(u, "StepTaskInfo", &has_info) && (!has_pairs || (has_ops && has_texts));
    if (is_fine)
        return true;
    error_set(why, FAULT_FORMAT, "%s: damaged, or without COMMUNICATION_OP", path);
    untrusted_db_close(u);
    return false;
}

/* Directories of the copy below r->dir; links among them are refused. */
static bool directories_make(struct rank_databases_copying *c, char *path)
{
    for (char *at = path + strlen(c->r->dir) + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        const bool done = outdir_make_inside(path, c->e);
        *at = '/';
        if (!done)
            return false;
    }
    return true;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return inside_stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool copy_to(struct rank_databases_copying *c, const struct untrusted_db *u, const struct job_rank *rank,
                    char *path)
{
    struct leftover half = { 0 };
    leftovers_sweep_of(path);
    const int fd = leftover_file(&half, path);
    if (fd < 0)
        return error_set(c->e, FAULT_IO, "%s: cannot be written: %s", path, write_trouble(errno));
    int why = sqlite_file_copy(u->file, fd);
    close(fd);
    bool done = why == 0 || error_set(c->e, FAULT_IO, "%s: cannot be copied: %s", rank->db,
                                      why == NOT_A_FILE ? "it cannot be read" : write_trouble(why));
    done = done && edit(c, half.lock, path, rank->rank);
    if (done)
        sqlite_file_forget_log(path);
    why = leftover_settle(&half, done ? path : NULL);
    if (done && why != 0)
        done = error_set(c->e, FAULT_IO, "%s: cannot be written: %s", path, write_trouble(why));
    char *name = strrchr(path, '/');
    *name = 0;
    done = done && outdir_settle(path, c->e);
    *name = '/';
    return done;
}

/* The path of a database behind a root; NULL: it is below none. */
static const char *below_a_root(const struct rank_databases *r, const char *path)
{
    for (size_t i = 0; i < r->n_roots; i++) {
        const size_t n = strlen(r->root[i]);
        if (strncmp(path, r->root[i], n) == 0 && path[n] == '/')
            return path + n + 1;
    }
    return NULL;
}

/* What a database or its place spoils costs its own copy only. */
static bool copy_one(struct rank_databases_copying *c, const struct job_rank *rank, size_t *n)
{
    struct untrusted_db u;
    struct error why = { 0 }, *const of_job = c->e;
    if (!has_rows(&c->pairs, rank->rank) && !has_rows(&c->passes, rank->rank))
        return true;
    const char *rest = rank->db ? below_a_root(c->r, rank->db) : NULL;
    char *path = arena_printf(c->mem, "%s/%s", c->r->dir, rest ? rest : "");
    if (!path)
        return error_no_memory(c->e, rank->path);
    if (rest && same_file(rank->db, path))
        return error_set(c->e, FAULT_ASKED,
                         "%s: the recorded database would be replaced; give another directory with --out", path);
    c->e = &why;
    bool done = rest || error_set(&why, FAULT_ASKED, "its data is in no database below the directories of the job");
    if (done && (done = original_open(&u, rank->db, has_rows(&c->pairs, rank->rank), &why))) {
        done = directories_make(c, path) && destination_is_plain(path, &why) && copy_to(c, &u, rank, path);
        untrusted_db_close(&u);
    }
    c->e = of_job;
    *n += done;
    if (why.fault == FAULT_LIMIT)
        *c->e = why;
    return done || (why.fault != FAULT_LIMIT &&
                    (job_note(c->job, true, "rank %lld: no copy: %s", (long long)rank->rank, why.text) ||
                     error_no_memory(c->e, rank->path)));
}

/* Steps over the rows of a rank that has no copy. */
static bool rows_skip(struct rank_databases_copying *c, struct rank_rows *rows, int64_t rank)
{
    while (rows->is_there && sqlite3_column_int64(rows->row, 0) <= rank)
        if (!rows_step(c, rows))
            return false;
    return true;
}

bool rank_databases_write(struct job *j, const struct rank_databases *r, size_t *n, struct error *e)
{
    struct rank_databases_copying c = { .job = j, .r = r, .e = e };
    *n = 0;
    if (!untrusted_db_open(&c.results, r->results, e))
        return false;
    bool done = rows_open(&c, &c.pairs, "P2PPairing",
                          "SELECT rankId, startNs, opName, opConnectionId FROM P2PPairing ORDER BY rowid") &&
                rows_open(&c, &c.passes, "StepTaskInfo",
                          "SELECT rankId, name, startNs, endNs, type FROM StepTaskInfo ORDER BY rowid");
    for (size_t i = 0; i < j->ranks.n && done; i++) {
        c.mem = arena_new();
        done = c.mem ? copy_one(&c, &j->ranks.at[i], n) && rows_skip(&c, &c.pairs, j->ranks.at[i].rank) &&
                           rows_skip(&c, &c.passes, j->ranks.at[i].rank)
                     : error_no_memory(e, r->dir);
        arena_free(c.mem);
    }
    sqlite3_finalize(c.pairs.row);
    sqlite3_finalize(c.passes.row);
    untrusted_db_close(&c.results);
    return done;
}
