/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sqlite/untrusted_db.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"

/* Work is counted in bytes of pages. Rows that are looked up one by one may need hundreds of pages for each page of the
 * table that refers to them; a tree whose pages are its own children has more than a file has bytes. A row of the
 * schema is several operations, and costs the most, as it is parsed. */
enum { OPERATIONS = 1000, OPERATION_BYTES = 64, WORK_A_BYTE = 2048, SCHEMA_OPERATIONS = 100000 };
static const uint64_t WORK_AT_LEAST = UINT64_C(1) << 30;

char *untrusted_db_uri(const char *path, bool has_log)
{
    sqlite3_str *uri = sqlite3_str_new(NULL);
    sqlite3_str_appendall(uri, path[0] == '/' ? "file://" : "file:");
    for (const char *p = path; *p; p++) {
        const bool is_plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
                              strchr("/._-", *p) != NULL;
        sqlite3_str_appendf(uri, is_plain ? "%c" : "%%%02X", is_plain ? *p : (unsigned char)*p);
    }
    sqlite3_str_appendall(uri, has_log ? "?vfs=ascope" : "?vfs=ascope&wal=0");
    return sqlite3_str_finish(uri);
}

bool untrusted_db_restrict(sqlite3 *db)
{
    static const int settings[][2] = {
        { SQLITE_DBCONFIG_DEFENSIVE, 1 },
        { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
        { SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 }, /* its second argument is a pointer to code */
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (sqlite3_db_config(db, settings[i][0], settings[i][1], NULL) != SQLITE_OK)
            return false;
    return true;
}

static uint64_t pages_since(sqlite3 *db, int what)
{
    int n = 0, most;
    sqlite3_db_status(db, what, &n, &most, 1);
    return n > 0 ? (uint64_t)n : 0;
}

/* Called every OPERATIONS operations; SQLite stops if it returns nonzero. */
static int work_is_spent(void *of)
{
    struct untrusted_db *u = of;
    const uint64_t pages =
        pages_since(u->db, SQLITE_DBSTATUS_CACHE_HIT) + pages_since(u->db, SQLITE_DBSTATUS_CACHE_MISS);
    const uint64_t done = OPERATIONS * OPERATION_BYTES + pages * u->page_bytes;
    u->work_left -= done < u->work_left ? done : u->work_left;
    return u->work_left == 0;
}

/* Denies all functions but count(): a computed column of the file could call any. */
static int only_columns(void *context, int action, const char *a, const char *b, const char *c, const char *d)
{
    (void)context, (void)c, (void)d;
    const bool is_count = action == SQLITE_FUNCTION && b && sqlite3_stricmp(b, "count") == 0;
    const bool is_look = action == SQLITE_PRAGMA && a &&
                         (sqlite3_stricmp(a, "table_xinfo") == 0 || sqlite3_stricmp(a, "index_list") == 0);
    return action == SQLITE_SELECT || action == SQLITE_READ || is_count || is_look ? SQLITE_OK : SQLITE_DENY;
}

static void find_page_bytes(struct untrusted_db *u)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(u->db, "PRAGMA page_size", -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
        u->page_bytes = (uint64_t)sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
}

/* *has_log: pages of a log are to be used, and then, whether there are any. False: e says why, and nothing has to be
 * closed. */
static bool open_once(struct untrusted_db *u, const char *path, bool *has_log, struct error *e)
{
    *u = (struct untrusted_db){ .page_bytes = 65536, .work_left = OPERATION_BYTES * (uint64_t)SCHEMA_OPERATIONS };
    char *uri = sqlite_file_register() ? untrusted_db_uri(path, *has_log) : NULL;
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
    bool is_open = uri && sqlite3_open_v2(uri, &u->db, flags, NULL) == SQLITE_OK && untrusted_db_restrict(u->db);
    sqlite3_free(uri);
    *has_log = false;
    if (is_open) {
        u->file = sqlite_file_of(u->db);
        *has_log = u->file->log.frame_of != NULL;
        u->file_bytes = u->file->bytes + (uint64_t)u->file->log.n_pages * u->file->log.page_bytes;
        snprintf(u->log_trouble, sizeof u->log_trouble, "%s", u->file->log.trouble);
        u->work_left += OPERATION_BYTES * u->file_bytes;
        sqlite3_progress_handler(u->db, OPERATIONS, work_is_spent, u);
        find_page_bytes(u);
        /* SQLite creates the table-valued functions of pragmas at their first use: later the authorizer forbids
         * that. */
        static const char first_queries[] =
            "SELECT 1 FROM sqlite_master; PRAGMA cell_size_check=1; PRAGMA cache_size=-2048; "
            "SELECT 1 FROM pragma_table_xinfo(''), pragma_index_list('')";
        is_open = sqlite3_exec(u->db, first_queries, NULL, NULL, NULL) == SQLITE_OK;
        u->work_left = is_open ? WORK_AT_LEAST + WORK_A_BYTE * u->file_bytes : u->work_left;
        sqlite3_limit(u->db, SQLITE_LIMIT_LENGTH, 1 << 24);
        sqlite3_limit(u->db, SQLITE_LIMIT_EXPR_DEPTH, 20);
        sqlite3_set_authorizer(u->db, only_columns, NULL);
    }
    if (!is_open) {
        const int code = u->db ? sqlite3_errcode(u->db) & 0xFF : SQLITE_NOMEM;
        if (code == SQLITE_NOMEM)
            error_no_memory(e, path);
        else
            error_set(e, code == SQLITE_IOERR || code == SQLITE_CANTOPEN ? FAULT_IO : FAULT_FORMAT,
                      "%s: cannot be read as a database: %s", path, untrusted_db_trouble(u));
        untrusted_db_close(u);
    }
    return is_open;
}

static bool answers(struct untrusted_db *u, const char *sql, const char *wanted)
{
    sqlite3_stmt *s = NULL;
    const bool is_ready = sqlite3_prepare_v2(u->db, sql, -1, &s, NULL) == SQLITE_OK;
    const int code = is_ready ? sqlite3_step(s) : SQLITE_ERROR;
    const char *text = code == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
    const bool is_it = wanted ? text && strcmp(text, wanted) == 0 : code == SQLITE_DONE;
    sqlite3_finalize(s);
    return is_it;
}

/* The check would call code of virtual tables. */
bool untrusted_db_is_sound(struct untrusted_db *u)
{
    static const char virtual[] = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage = 0";
    sqlite3_set_authorizer(u->db, NULL, NULL);
    const bool is_it = answers(u, virtual, NULL) && answers(u, "PRAGMA quick_check(1)", "ok");
    sqlite3_set_authorizer(u->db, only_columns, NULL);
    return is_it;
}

bool untrusted_db_open(struct untrusted_db *u, const char *path, struct error *e)
{
    struct stat st;
    struct error logged = { 0 };
    bool has_log = true;
    int why;
    const int fd = file_open(AT_FDCWD, path, &st, &why);
    if (fd < 0)
        return error_set(e, FAULT_IO, "%s: cannot be read: %s", path, read_trouble(why));
    close(fd);
    const bool is_open = open_once(u, path, &has_log, &logged);
    if (is_open && (!has_log || untrusted_db_is_sound(u)))
        return true;
    untrusted_db_close(u);
    if (!has_log)
        return error_set(e, logged.fault, "%s", logged.text);
    has_log = false;
    if (!open_once(u, path, &has_log, e))
        return false;
    snprintf(u->log_trouble, sizeof u->log_trouble, "ignored: it does not fit the database");
    return true;
}

void untrusted_db_close(struct untrusted_db *u)
{
    sqlite3_close(u->db);
    *u = (struct untrusted_db){ 0 };
}

static bool is_computed(struct untrusted_db *u, const char *table)
{
    enum { HIDDEN = 6, VIRTUAL = 2, STORED };
    sqlite3_stmt *s = NULL;
    char *sql = sqlite3_mprintf("PRAGMA table_xinfo(\"%w\")", table);
    int code = sql ? sqlite3_prepare_v2(u->db, sql, -1, &s, NULL) : SQLITE_NOMEM;
    u->is_computed = false;
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(s);
        const int hidden = code == SQLITE_ROW ? sqlite3_column_int(s, HIDDEN) : 0;
        u->is_computed |= hidden == VIRTUAL || hidden == STORED;
    }
    sqlite3_finalize(s);
    sqlite3_free(sql);
    return code != SQLITE_DONE || u->is_computed;
}

bool untrusted_db_look(struct untrusted_db *u, const char *table, bool *is_there)
{
    static const char sql[] = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1 AND rootpage > 0";
    sqlite3_stmt *s = NULL;
    *is_there = false;
    if (sqlite3_prepare_v2(u->db, sql, -1, &s, NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
    const int code = sqlite3_step(s);
    sqlite3_finalize(s);
    if (code != SQLITE_ROW)
        return code == SQLITE_DONE;
    *is_there = !is_computed(u, table);
    return *is_there;
}

const char *untrusted_db_trouble(const struct untrusted_db *u)
{
    return !u->db              ? no_memory_text()
           : u->work_left == 0 ? "pages refer to each other"
           : u->is_computed    ? "a column is computed"
                               : sqlite3_errmsg(u->db);
}
