/* SPDX-License-Identifier: Apache-2.0 */
#include "view/db_reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/stamp.h"

static void problem_set(struct db_reader *r, const char *table, const char *what)
{
    if (!r->problem[0])
        snprintf(r->problem, sizeof r->problem, "%.60s: %.120s", table, what);
}

bool db_is_database(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char found[sizeof magic] = "";
    struct stat st;
    size_t got = 0;
    int why;
    const int fd = file_open(AT_FDCWD, path, &st, &why);
    const bool is_it = fd >= 0 && file_read(fd, found, sizeof found, &got, &why) && got == sizeof found &&
                       memcmp(found, magic, sizeof magic) == 0;
    if (fd >= 0)
        close(fd);
    return is_it;
}

char *db_uri(const char *path)
{
    sqlite3_str *uri = sqlite3_str_new(NULL);
    sqlite3_str_appendall(uri, path[0] == '/' ? "file://" : "file:");
    for (const char *p = path; *p; p++) {
        const bool is_plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
                              strchr("/._-", *p) != NULL;
        sqlite3_str_appendf(uri, is_plain ? "%c" : "%%%02X", is_plain ? *p : (unsigned char)*p);
    }
    sqlite3_str_appendall(uri, "?immutable=1");
    return sqlite3_str_finish(uri);
}

static bool has_wal(const char *path)
{
    char wal[4096];
    struct stat st;
    const int n = snprintf(wal, sizeof wal, "%s-wal", path);
    return n > 0 && (size_t)n < sizeof wal && stat(wal, &st) == 0 && st.st_size > 0;
}

/* No function may run: a column of the file's own could be computed by any. */
static int only_columns(void *context, int action, const char *a, const char *b, const char *c, const char *d)
{
    (void)context, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_SELECT || action == SQLITE_READ ? SQLITE_OK : SQLITE_DENY;
}

bool db_reader_open(struct db_reader *r, const char *path, struct error *e)
{
    struct stat st;
    int why;
    const int fd = file_open(AT_FDCWD, path, &st, &why);
    if (fd < 0)
        return error_set(e, FAULT_IO, "%s: cannot be read: %s", path, read_trouble(why));
    close(fd);
    *r = (struct db_reader){ .path = path, .file_bytes = (uint64_t)st.st_size, .has_wal = has_wal(path) };
    r->mem = arena_new();
    r->names = names_new();
    char *uri = db_uri(path);
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
    if (!r->mem || !r->names || !uri) {
        error_no_memory(e, path);
    } else if (sqlite3_open_v2(uri, &r->db, flags, NULL) != SQLITE_OK ||
               sqlite3_db_config(r->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) != SQLITE_OK ||
               sqlite3_db_config(r->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL) != SQLITE_OK ||
               sqlite3_exec(r->db, "SELECT 1 FROM sqlite_master; PRAGMA cell_size_check=1", NULL, NULL, NULL) !=
                   SQLITE_OK) {
        error_set(e, FAULT_FORMAT, "%s: cannot be read as a database: %s", path,
                  r->db ? sqlite3_errmsg(r->db) : no_memory_text());
    } else {
        sqlite3_limit(r->db, SQLITE_LIMIT_LENGTH, 1 << 24);
        sqlite3_limit(r->db, SQLITE_LIMIT_EXPR_DEPTH, 20);
        sqlite3_set_authorizer(r->db, only_columns, NULL);
    }
    sqlite3_free(uri);
    if (e->fault == FAULT_NONE && !db_texts_load(r, &r->strings, "STRING_IDS", "value"))
        error_no_memory(e, path);
    if (e->fault != FAULT_NONE)
        db_reader_close(r);
    return e->fault == FAULT_NONE;
}

void db_reader_close(struct db_reader *r)
{
    sqlite3_close(r->db);
    names_free(r->names);
    arena_free(r->mem);
    *r = (struct db_reader){ 0 };
}

/* Whether there is a plain table of that name: a view, or a virtual table, could be anything. */
static bool has_table(struct db_reader *r, const char *table)
{
    static const char sql[] = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1 AND rootpage > 0";
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(r->db, sql, -1, &s, NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
    const bool is_there = sqlite3_step(s) == SQLITE_ROW;
    sqlite3_finalize(s);
    return is_there;
}

static sqlite3_stmt *prepare(struct db_reader *r, const char *format, const char *table)
{
    sqlite3_stmt *s = NULL;
    char *sql = has_table(r, table) ? sqlite3_mprintf(format, table) : NULL;
    if (sql && sqlite3_prepare_v2(r->db, sql, -1, &s, NULL) != SQLITE_OK)
        problem_set(r, table, sqlite3_errmsg(r->db));
    sqlite3_free(sql);
    r->n_left = r->file_bytes / 2; /* a row takes more than that: beyond it pages are read again and again */
    return s;
}

sqlite3_stmt *db_reader_rows(struct db_reader *r, const char *table)
{
    return prepare(r, "SELECT * FROM \"%w\"", table);
}

bool db_reader_next(struct db_reader *r, sqlite3_stmt *s, const char *table)
{
    const int code = r->n_left > 0 ? sqlite3_step(s) : SQLITE_CORRUPT;
    if (code == SQLITE_ROW) {
        r->n_left--;
        return true;
    }
    if (code != SQLITE_DONE)
        problem_set(r, table, r->n_left > 0 ? sqlite3_errmsg(r->db) : "has more rows than fit in the file");
    return false;
}

int db_column(sqlite3_stmt *s, const char *name)
{
    for (int i = 0; name && i < sqlite3_column_count(s); i++) {
        const char *is = sqlite3_column_name(s, i);
        if (is && sqlite3_stricmp(is, name) == 0)
            return i;
    }
    return -1;
}

bool db_lookup_open(struct db_reader *r, struct db_lookup *l, const char *table, const char *column)
{
    *l = (struct db_lookup){ 0 };
    sqlite3_stmt *all = prepare(r, "SELECT rowid AS number_of_row, * FROM \"%w\"", table);
    const int at = all ? db_column(all, column) : -1;
    bool has_memory = true;
    while (at > 0 && has_memory && db_reader_next(r, all, table)) {
        const uint32_t place = keys_add(&l->keys, (uint64_t)sqlite3_column_int64(all, at), r->mem);
        int64_t *rowid = place == l->rowid.n ? list_add(&l->rowid, r->mem) : NULL;
        has_memory = place != KEYS_NO_MEMORY && (rowid || place < l->rowid.n);
        if (rowid)
            *rowid = sqlite3_column_int64(all, 0);
    }
    sqlite3_finalize(all);
    if (l->rowid.n > 0)
        l->one = prepare(r, "SELECT * FROM \"%w\" WHERE rowid = ?1", table);
    l->column = at - 1;
    return has_memory;
}

sqlite3_stmt *db_lookup(struct db_lookup *l, int64_t number, int64_t i)
{
    const uint32_t place = l->one ? keys_find(&l->keys, (uint64_t)number) : KEYS_NONE;
    if (place == KEYS_NONE)
        return NULL;
    sqlite3_reset(l->one);
    sqlite3_bind_int64(l->one, 1, wrap_add(l->rowid.at[place], i));
    return sqlite3_step(l->one) == SQLITE_ROW && sqlite3_column_int64(l->one, l->column) == number ? l->one : NULL;
}

void db_lookup_close(struct db_lookup *l)
{
    sqlite3_finalize(l->one);
    l->one = NULL;
}

bool db_texts_load(struct db_reader *r, struct db_texts *t, const char *table, const char *text)
{
    *t = (struct db_texts){ 0 };
    sqlite3_stmt *s = db_reader_rows(r, table);
    const int id = s ? db_column(s, "id") : -1, value = s ? db_column(s, text) : -1;
    bool has_memory = true;
    while (id >= 0 && value >= 0 && has_memory && db_reader_next(r, s, table)) {
        const char *is = (const char *)sqlite3_column_text(s, value);
        const size_t n = (size_t)sqlite3_column_bytes(s, value);
        if ((r->text_bytes += n) > 4 * r->file_bytes + 4096) {
            problem_set(r, table, "its texts are longer than the file");
            break;
        }
        const uint32_t place = keys_add(&t->keys, (uint64_t)sqlite3_column_int64(s, id), r->mem);
        name_id *name = place == t->name.n ? list_add(&t->name, r->mem) : NULL;
        has_memory = place != KEYS_NO_MEMORY && (name || place < t->name.n);
        if (name)
            *name = is ? names_add(r->names, is, n) : NAME_EMPTY;
    }
    sqlite3_finalize(s);
    return has_memory && !names_failed(r->names);
}

name_id db_text(const struct db_texts *t, int64_t id, bool *is_there)
{
    const uint32_t place = keys_find(&t->keys, (uint64_t)id);
    *is_there = place != KEYS_NONE;
    return *is_there ? t->name.at[place] : NAME_EMPTY;
}
