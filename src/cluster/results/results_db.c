/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/results/results_db.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files/destination.h"
#include "base/files/file.h"
#include "base/sqlite/sqlite_descriptor.h"
#include "base/sqlite/sqlite_file.h"
#include "base/sqlite/sqlite_pages.h"
#include "base/sqlite/untrusted_db.h"

enum { COLUMNS_MOST = 64 };

struct results_db {
    const char *path;
    struct out out;      /* a new one */
    struct pages *pages; /* of it; NULL: one was there: */
    sqlite3 *sql;
    struct leftover half;
    uint64_t n_rows;
    const struct names *names;
    LIST(struct results_db_table *) tables;
    struct arena *mem;
};

struct results_db_table {
    const char *name;
    size_t n_columns;
    const struct result_column *column;
    struct btree *rows;   /* of a new database */
    sqlite3_stmt *insert; /* of one that was there */
};

const char *results_db_path(const struct results_db *db)
{
    return db->path;
}

static bool no_memory(const struct results_db *db, struct error *e)
{
    return error_no_memory(e, db->path);
}

static bool no_database(const struct results_db *db, struct error *e)
{
    return error_set(e, FAULT_FORMAT,
                     "%s: not a database that SQLite can read; remove it, or write elsewhere with --out", db->path);
}

static bool sql_failed(struct results_db *db, struct error *e)
{
    const int code = db->sql ? sqlite3_errcode(db->sql) : SQLITE_NOMEM;
    if ((code & 0xFF) == SQLITE_NOMEM)
        return no_memory(db, e);
    if ((code & 0xFF) == SQLITE_NOTADB || (code & 0xFF) == SQLITE_CORRUPT)
        return no_database(db, e);
    return error_set(e, FAULT_IO, "%s: cannot be written: %s; make room there, or write elsewhere with --out", db->path,
                     sqlite3_errmsg(db->sql));
}

/* ---- opening --------------------------------------------------------------------------------------------------- */

/* Whether there is one whose other tables stay. */
static bool find_old(const struct results_db *db, bool *is_there, struct error *e)
{
    struct stat st = { 0 };
    int why;
    const int fd = file_open(AT_FDCWD, db->path, &st, &why);
    *is_there = fd >= 0 && st.st_size > 0;
    if (fd >= 0)
        close(fd);
    return fd >= 0 || why == ENOENT || error_set(e, FAULT_IO, "%s: cannot be read: %s", db->path, read_trouble(why));
}

static bool copy_old(struct results_db *db, int to, struct error *e)
{
    struct untrusted_db u;
    struct error damage = { 0 };
    if (!untrusted_db_open(&u, db->path, &damage))
        return damage.fault == FAULT_LIMIT ? no_memory(db, e) : no_database(db, e);
    const int why = untrusted_db_is_sound(&u) ? sqlite_file_copy(u.file, to) : NOT_A_FILE;
    untrusted_db_close(&u);
    return why == 0 ||
           (why == NOT_A_FILE ? no_database(db, e)
                              : error_set(e, FAULT_IO, "%s: cannot be written: %s", db->path, write_trouble(why)));
}

static bool open_old(struct results_db *db, struct error *e)
{
    const int fd = leftover_file(&db->half, db->path);
    if (fd < 0)
        return error_set(e, FAULT_IO, "%s: cannot be written: %s", db->path, write_trouble(errno));
    const bool is_copied = copy_old(db, fd, e);
    close(fd);
    if (!is_copied)
        return false;
    static const char set[] = "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=OFF; "
                              "PRAGMA synchronous=OFF; PRAGMA cache_size=-4096; BEGIN";
    /* Restricted afterwards: before, it could not be without a journal, which a run that fails would leave behind. */
    char uri[DESCRIPTOR_URI];
    descriptor_uri(uri, db->half.lock);
    return (sqlite3_open_v2(uri, &db->sql, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL) ==
                SQLITE_OK &&
            sqlite3_exec(db->sql, set, NULL, NULL, NULL) == SQLITE_OK && untrusted_db_restrict(db->sql)) ||
           sql_failed(db, e);
}

struct results_db *results_db_open(const char *dir, bool is_new, const struct names *names, struct arena *mem,
                                   struct error *e)
{
    struct results_db *db = arena_take(mem, 1, sizeof *db);
    const char *path = arena_printf(mem, "%s/cluster_analysis.db", dir);
    bool is_old = false;
    if (!db || !path) {
        error_no_memory(e, dir);
        return NULL;
    }
    *db = (struct results_db){ .path = path, .out.fd = -1, .names = names, .mem = mem };
    bool done = destination_is_plain(path, e) && (is_new || find_old(db, &is_old, e));
    if (done && is_old)
        done = open_old(db, e);
    else if (done && (done = out_open(&db->out, path, e)))
        done = (db->pages = pages_new(&db->out, mem)) || no_memory(db, e);
    if (done)
        return db;
    results_db_discard(db);
    return NULL;
}

/* ---- tables ---------------------------------------------------------------------------------------------------- */

static const char *create_text(const struct results_db *db, const struct results_db_table *t)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "CREATE TABLE \"%w\" (", t->name);
    for (size_t i = 0; i < t->n_columns; i++)
        sqlite3_str_appendf(sql, "%s\"%w\" %s", i ? ", " : "", t->column[i].name, t->column[i].type);
    sqlite3_str_appendall(sql, ")");
    char *text = sqlite3_str_finish(sql);
    const char *lent = text ? arena_text(db->mem, text, strlen(text)) : NULL;
    sqlite3_free(text);
    return lent;
}

/* And the statement that fills it. */
static bool replace_table(struct results_db *db, struct results_db_table *t, const char *create, struct error *e)
{
    sqlite3_str *drop = sqlite3_str_new(db->sql), *put = sqlite3_str_new(db->sql);
    sqlite3_str_appendf(drop, "DROP TABLE IF EXISTS \"%w\"", t->name);
    sqlite3_str_appendf(put, "INSERT INTO \"%w\" VALUES (", t->name);
    for (size_t i = 0; i < t->n_columns; i++)
        sqlite3_str_appendall(put, i ? ",?" : "?");
    sqlite3_str_appendall(put, ")");
    char *old = sqlite3_str_finish(drop), *insert = sqlite3_str_finish(put);
    bool done = (old && insert) || no_memory(db, e);
    done = done && ((sqlite3_exec(db->sql, old, NULL, NULL, NULL) == SQLITE_OK &&
                     sqlite3_exec(db->sql, create, NULL, NULL, NULL) == SQLITE_OK &&
                     sqlite3_prepare_v2(db->sql, insert, -1, &t->insert, NULL) == SQLITE_OK) ||
                    sql_failed(db, e));
    sqlite3_free(old);
    sqlite3_free(insert);
    return done;
}

struct results_db_table *results_db_table(struct results_db *db, const char *name, const struct result_column *column,
                                          size_t n_columns, struct error *e)
{
    struct results_db_table *t = arena_take(db->mem, 1, sizeof *t), **slot = t ? list_add(&db->tables, db->mem) : NULL;
    if (!slot) {
        no_memory(db, e);
        return NULL;
    }
    assert(n_columns <= COLUMNS_MOST);
    *slot = t;
    *t = (struct results_db_table){ .name = name, .column = column, .n_columns = n_columns };
    const char *create = create_text(db, t);
    const bool done = !create     ? no_memory(db, e)
                      : db->pages ? (t->rows = pages_table(db->pages, name, create)) || no_memory(db, e)
                                  : replace_table(db, t, create, e);
    return done ? t : NULL;
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

double result_number(struct cell c)
{
    switch (c.kind) {
    case CELL_INT: return (double)c.i;
    case CELL_UINT: return (double)c.u;
    case CELL_ROUND: return round_exact(c.f, c.digits);
    case CELL_US_SHORT: return (double)c.i / 1000;
    default: return c.f;
    }
}

/* Microseconds since the epoch, all digits of them: "1717211066000950.2" has lost some. */
size_t result_time_text(char out[RESULT_DIGITS], int64_t ns)
{
    const uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    out[0] = '-';
    size_t n = ns < 0;
    n += digits_put(out + n, size / 1000);
    out[n++] = '.';
    for (unsigned unit = 100, left = (unsigned)(size % 1000); unit > 0; left %= unit, unit /= 10)
        out[n++] = (char)('0' + left / unit);
    return n;
}

/* As a column keeps it: one of texts has numbers as texts, too. */
static struct sqlite_value value_of(const struct results_db *db, const char *type, struct cell c,
                                    char digits[RESULT_DIGITS])
{
    const bool is_text = strcmp(type, "TEXT") == 0;
    struct sqlite_value number;
    switch (c.kind) {
    case CELL_INT:
        if (is_text)
            return value_text(digits, (size_t)snprintf(digits, RESULT_DIGITS, "%" PRId64, c.i));
        number = value_int(c.i);
        break;
    case CELL_UINT:
        if (is_text)
            return value_text(digits, digits_put(digits, c.u));
        number = c.u <= INT64_MAX ? value_int((int64_t)c.u) : value_double((double)c.u);
        break;
    case CELL_REAL:
    case CELL_ROUND:
    case CELL_US_SHORT:
        assert(!is_text); /* SQLite would choose the digits */
        number = value_number(result_number(c));
        break;
    case CELL_TIME_BARE: return value_text(digits, result_time_text(digits, c.i));
    case CELL_NAME: return value_text(names_text(db->names, c.name), names_len(db->names, c.name));
    case CELL_TEXT: return value_text(c.text, strlen(c.text));
    default: return value_null();
    }
    return strcmp(type, "REAL") == 0 ? value_real(number) : number;
}

static bool page_row(struct results_db *db, struct results_db_table *t, const struct cell *cells, struct error *e)
{
    struct sqlite_value value[COLUMNS_MOST];
    char digits[COLUMNS_MOST][RESULT_DIGITS];
    for (size_t i = 0; i < t->n_columns; i++)
        value[i] = value_of(db, t->column[i].type, cells[i], digits[i]);
    return btree_add(t->rows, btree_last(t->rows) + 1, value, t->n_columns) ||
           (arena_failed(db->mem) ? no_memory(db, e)
                                  : error_set(e, FAULT_LIMIT, "%s: a row of %s is too long", db->path, t->name));
}

/* Its text has no static life: SQLite copies those of numbers and takes the others as they are, until the row is in. */
static int bind_cell(const struct results_db *db, sqlite3_stmt *s, int at, struct cell c)
{
    char digits[RESULT_DIGITS];
    switch (c.kind) {
    case CELL_INT: return sqlite3_bind_int64(s, at, c.i);
    case CELL_UINT:
        return c.u <= INT64_MAX ? sqlite3_bind_int64(s, at, (int64_t)c.u)
                                : sqlite3_bind_text(s, at, digits, (int)digits_put(digits, c.u), SQLITE_TRANSIENT);
    case CELL_REAL:
    case CELL_ROUND:
    case CELL_US_SHORT: return sqlite3_bind_double(s, at, result_number(c));
    case CELL_TIME_BARE: return sqlite3_bind_text(s, at, digits, (int)result_time_text(digits, c.i), SQLITE_TRANSIENT);
    case CELL_NAME:
        return sqlite3_bind_text64(s, at, names_text(db->names, c.name), names_len(db->names, c.name), SQLITE_STATIC,
                                   SQLITE_UTF8);
    case CELL_TEXT: return sqlite3_bind_text64(s, at, c.text, strlen(c.text), SQLITE_STATIC, SQLITE_UTF8);
    default: return sqlite3_bind_null(s, at);
    }
}

bool results_db_row(struct results_db *db, struct results_db_table *t, const struct cell *cells, struct error *e)
{
    int failed = SQLITE_OK;
    db->n_rows++;
    if (t->rows)
        return page_row(db, t, cells, e);
    for (size_t i = 0; i < t->n_columns; i++)
        failed |= bind_cell(db, t->insert, (int)i + 1, cells[i]);
    if (failed != SQLITE_OK || sqlite3_step(t->insert) != SQLITE_DONE)
        return sql_failed(db, e);
    sqlite3_reset(t->insert);
    return true;
}

/* ---- the end --------------------------------------------------------------------------------------------------- */

static void end_statements(struct results_db *db)
{
    for (size_t i = 0; i < db->tables.n; i++) {
        sqlite3_finalize(db->tables.at[i]->insert);
        db->tables.at[i]->insert = NULL;
    }
}

static bool close_old(struct results_db *db, struct error *e)
{
    bool done = sqlite3_exec(db->sql, "COMMIT", NULL, NULL, NULL) == SQLITE_OK || sql_failed(db, e);
    end_statements(db);
    if (sqlite3_close(db->sql) != SQLITE_OK && done)
        done = sql_failed(db, e);
    db->sql = NULL;
    if (done)
        sqlite_file_forget_log(db->path);
    const int why = done ? leftover_settle(&db->half, db->path) : 0;
    if (why != 0)
        done = error_set(e, FAULT_IO, "%s: cannot be written: %s", db->path, write_trouble(why));
    return done;
}

bool results_db_close(struct results_db *db, uint64_t *n_rows, struct error *e)
{
    *n_rows = db->n_rows;
    if (!db->pages)
        return close_old(db, e);
    if (!pages_end(db->pages))
        return no_memory(db, e);
    sqlite_file_forget_log(db->path);
    return out_close(&db->out, e);
}

void results_db_discard(struct results_db *db)
{
    if (!db)
        return;
    end_statements(db);
    sqlite3_close(db->sql);
    leftover_settle(&db->half, NULL);
    out_discard(&db->out);
}
