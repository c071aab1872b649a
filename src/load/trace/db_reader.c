/* SPDX-License-Identifier: Apache-2.0 */
#include "load/trace/db_reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/text/stamp.h"

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

bool db_reader_open(struct db_reader *r, const char *path, struct error *e)
{
    *r = (struct db_reader){ .path = path };
    if (!untrusted_db_open(&r->u, path, e))
        return false;
    r->mem = arena_new();
    r->names = names_new();
    if (!r->mem || !r->names || !db_texts_load(r, &r->strings, "STRING_IDS", "value")) {
        db_reader_close(r);
        return error_no_memory(e, path);
    }
    return true;
}

void db_reader_close(struct db_reader *r)
{
    untrusted_db_close(&r->u);
    names_free(r->names);
    arena_free(r->mem);
    *r = (struct db_reader){ 0 };
}

static sqlite3_stmt *prepare(struct db_reader *r, const char *format, const char *table)
{
    sqlite3_stmt *s = NULL;
    bool is_there;
    const bool is_known = untrusted_db_look(&r->u, table, &is_there);
    char *sql = is_there ? sqlite3_mprintf(format, table) : NULL;
    if (!is_known || (sql && sqlite3_prepare_v2(r->u.db, sql, -1, &s, NULL) != SQLITE_OK))
        problem_set(r, table, untrusted_db_trouble(&r->u));
    sqlite3_free(sql);
    r->n_left =
        r->u.file_bytes / 2; /* a row has more than two bytes: with more rows, a damaged file reads pages repeatedly */
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
        problem_set(r, table, r->n_left > 0 ? untrusted_db_trouble(&r->u) : "has more rows than fit in the file");
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
        if ((r->text_bytes += n) > 4 * r->u.file_bytes + 4096) {
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
