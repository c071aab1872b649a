/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/ascending.h"
#include "view/rows/view_input.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/text/json_scan.h"
#include "load/trace/trace_readers.h"

enum { MOST_BYTES = 256 << 20, MOST_COLUMNS = 200, MOST_FILES = 200, NAME_BYTES = 64 };

struct view_tables_load_folder {
    struct view_input *in;
    sqlite3 *db;
    uint64_t n_rows;
    uint64_t n_beyond;   /* cells beyond the columns of their table */
    uint64_t n_left_out; /* files: too many of them, or their names are too long */
};

/* ---- CSV
 * ----------------------------------------------------------------------------------------------------------- */

/* The next cell, decoded in place. *ends_row: it was the last of its row. */
static char *cell_next(char **at, char *end, size_t *n, bool *ends_row)
{
    char *from = *at, *to = *at, *p = *at;
    const bool is_quoted = p < end && *p == '"';
    for (p += is_quoted; p < end; p++) {
        if (is_quoted && *p == '"') {
            if (p + 1 >= end || p[1] != '"') {
                p++;
                break;
            }
            p++;
        } else if (!is_quoted && (*p == ',' || *p == '\n')) {
            break;
        }
        *to++ = *p;
    }
    while (p < end && *p != ',' && *p != '\n')
        p++; /* what follows a quote is not part of it */
    if (!is_quoted && to > from && to[-1] == '\r')
        to--;
    *ends_row = p >= end || *p == '\n';
    *at = p < end ? p + 1 : end;
    *n = (size_t)(to - from);
    return from;
}

/* The name of the next column, of at most NAME_BYTES. SQL needs one for each, without regard to case: a column without
 * a name, or with that of another one, also gets its number. */
static char *column_name(char *const *names, int n_names, const char *text, size_t n)
{
    size_t kept = n < NAME_BYTES ? n : NAME_BYTES;
    while (kept > 0 && kept < n && ((unsigned char)text[kept] & 0xC0) == 0x80)
        kept--; /* not in the middle of a character */
    char *name = sqlite3_mprintf("%.*s", (int)kept, text);
    bool is_new = name && *name;
    for (int i = 0; name && i < n_names; i++)
        is_new &= sqlite3_stricmp(names[i], name) != 0;
    if (!name || is_new)
        return name;
    char *numbered = sqlite3_mprintf("%s%scolumn %d", name, *name ? ", " : "", n_names + 1);
    sqlite3_free(name);
    return numbered;
}

static sqlite3_stmt *csv_table(struct view_tables_load_folder *f, const char *table, char **at, char *end,
                               int *n_columns)
{
    sqlite3_str *make = sqlite3_str_new(f->db), *put = sqlite3_str_new(f->db);
    sqlite3_stmt *s = NULL;
    char *names[MOST_COLUMNS];
    int n_names = 0;
    bool ends_row = *at >= end, has_memory = true;
    while (!ends_row) {
        size_t n;
        const char *text = cell_next(at, end, &n, &ends_row);
        char *name = n_names < MOST_COLUMNS && has_memory ? column_name(names, n_names, text, n) : NULL;
        has_memory &= name || n_names == MOST_COLUMNS;
        if (!name)
            continue;
        sqlite3_str_appendf(make, "%s\"%w\"", n_names ? ", " : "", name);
        sqlite3_str_appendall(put, n_names ? ", ?" : "?");
        names[n_names++] = name;
    }
    *n_columns = n_names;
    while (n_names > 0)
        sqlite3_free(names[--n_names]);
    char *columns = sqlite3_str_finish(make), *places = sqlite3_str_finish(put);
    char *create = columns ? sqlite3_mprintf("CREATE TABLE \"%w\"(%s)", table, columns) : NULL;
    char *insert = places ? sqlite3_mprintf("INSERT INTO \"%w\" VALUES(%s)", table, places) : NULL;
    if (has_memory && create && insert && sqlite3_exec(f->db, create, NULL, NULL, NULL) == SQLITE_OK)
        sqlite3_prepare_v2(f->db, insert, -1, &s, NULL);
    sqlite3_free(columns);
    sqlite3_free(places);
    sqlite3_free(create);
    sqlite3_free(insert);
    return s;
}

/* How many characters at the begin of a text are among some. */
static size_t n_of(struct json_span text, const char *some)
{
    size_t n = 0;
    while (n < text.len && text.at[n] && strchr(some, text.at[n]))
        n++;
    return n;
}

/* Numbers become numbers where all of their digits are kept: a time in µs with decimals, or a number of 20 digits,
 * stays a text. So does a number with zeros before it, which is a name. */
static void cell_bind(sqlite3_stmt *s, int column, const char *cell, size_t n)
{
    enum { EXACT_DIGITS = 15 }; /* that every double keeps; a sign and a point are counted, too */
    struct json_span number = { cell, n };
    double real;
    int64_t whole;
    while (number.len > 0 && (number.at[number.len - 1] == ' ' || number.at[number.len - 1] == '\t'))
        number.len--; /* the vendor's tools write a tab behind long numbers */
    const size_t sign = number.len > 0 && *cell == '-';
    const bool has_zeros = number.len > sign + 1 && cell[sign] == '0' && cell[sign + 1] >= '0' && cell[sign + 1] <= '9';
    const bool is_numeric = number.len > sign && !has_zeros && n_of(number, "+-.0123456789eE") == number.len;
    const bool is_whole =
        is_numeric && n_of((struct json_span){ cell + sign, number.len - sign }, "0123456789") == number.len - sign;
    if (is_whole && json_fixed(number, 0, &whole))
        sqlite3_bind_int64(s, column, whole);
    else if (is_numeric && number.len <= EXACT_DIGITS && json_double(number, &real) && isfinite(real))
        sqlite3_bind_double(s, column, real);
    else
        sqlite3_bind_text64(s, column, cell, is_numeric ? number.len : n, SQLITE_STATIC, SQLITE_UTF8);
}

static bool csv_read(struct view_tables_load_folder *f, const char *table, char *text, size_t bytes)
{
    char *at = text, *end = text + bytes;
    int n_columns, column = 0;
    if (bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        at += 3;
    sqlite3_stmt *s = csv_table(f, table, &at, end, &n_columns);
    bool is_good = s != NULL;
    while (is_good && (at < end || column > 0)) {
        bool ends_row;
        size_t n;
        const char *cell = cell_next(&at, end, &n, &ends_row);
        if (column < n_columns && n > 0)
            cell_bind(s, column + 1, cell, n);
        f->n_beyond += column >= n_columns;
        column++;
        if (!ends_row)
            continue;
        is_good = sqlite3_step(s) == SQLITE_DONE;
        sqlite3_reset(s);
        sqlite3_clear_bindings(s);
        column = 0;
        f->n_rows++;
    }
    sqlite3_finalize(s);
    return is_good;
}

/* ---- JSON
 * ---------------------------------------------------------------------------------------------------------- */

static bool json_read(struct view_tables_load_folder *f, const char *table, const char *text, size_t bytes)
{
    sqlite3_stmt *s = NULL;
    char *create = sqlite3_mprintf("CREATE TABLE \"%w\"(path TEXT, value)", table);
    char *insert =
        sqlite3_mprintf("INSERT INTO \"%w\" SELECT fullkey, atom FROM json_tree(?1) WHERE atom IS NOT NULL", table);
    bool is_good = create && insert && sqlite3_exec(f->db, create, NULL, NULL, NULL) == SQLITE_OK &&
                   sqlite3_prepare_v2(f->db, insert, -1, &s, NULL) == SQLITE_OK &&
                   sqlite3_bind_text64(s, 1, text, bytes, SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK &&
                   sqlite3_step(s) == SQLITE_DONE;
    f->n_rows += is_good ? (uint64_t)sqlite3_changes64(f->db) : 0;
    sqlite3_finalize(s);
    sqlite3_free(create);
    sqlite3_free(insert);
    return is_good;
}

/* ---- the folder
 * ---------------------------------------------------------------------------------------------------- */

static bool add_fact(struct view_input *in, const char *name, const char *text)
{
    struct view_fact *fact = text && name ? list_add(&in->facts, in->mem) : NULL;
    if (fact)
        *fact = (struct view_fact){ name, text };
    return fact != NULL;
}

static bool add_count(struct view_input *in, const char *name, uint64_t n)
{
    return add_fact(in, name, arena_printf(in->mem, "%llu", (unsigned long long)n));
}

/* What a filter looks at: the columns of a table, up to the 24th. */
static const char *filter_of(struct view_tables_load_folder *f, const char *table)
{
    sqlite3_stmt *s = NULL;
    sqlite3_str *text = sqlite3_str_new(f->db);
    char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", table);
    if (sql && sqlite3_prepare_v2(f->db, sql, -1, &s, NULL) == SQLITE_OK)
        for (int i = 0; i < sqlite3_column_count(s) && i < 24; i++)
            sqlite3_str_appendf(text, "%scoalesce(\"%w\",'')", i ? "||' '||" : "", sqlite3_column_name(s, i));
    char *made = sqlite3_str_finish(text);
    const char *kept = made ? arena_text(f->in->mem, made, strlen(made)) : NULL;
    sqlite3_finalize(s);
    sqlite3_free(sql);
    sqlite3_free(made);
    return kept;
}

/* One file. What cannot be read is a fact with the reason, and no table. False: no memory. */
static bool file_load(struct view_tables_load_folder *f, int dir, const char *name)
{
    struct stat st;
    int why = 0;
    size_t got = 0;
    const char *dot = strrchr(name, '.'), *table = arena_text(f->in->mem, name, (size_t)(dot - name));
    if (!table)
        return false;
    const int fd = file_open(dir, name, &st, &why);
    if (fd < 0)
        return add_fact(f->in, table, arena_printf(f->in->mem, "%s", read_trouble(why)));
    if (st.st_size > MOST_BYTES) {
        close(fd);
        return add_fact(f->in, table, arena_printf(f->in->mem, "not read: larger than %d MiB", MOST_BYTES >> 20));
    }
    char *text = malloc((size_t)st.st_size + 1);
    bool is_good = text && file_read(fd, text, (size_t)st.st_size, &got, &why);
    close(fd);
    is_good = is_good && (strcmp(dot, ".csv") ? json_read(f, table, text, got) : csv_read(f, table, text, got));
    free(text);
    if (!is_good)
        return add_fact(f->in, table, "cannot be read as a table");
    struct view_db_table *added = list_add(&f->in->db_tables, f->in->mem);
    if (added)
        *added = (struct view_db_table){ table, filter_of(f, table) };
    return added && added->filtered;
}

static bool folder_load(struct view_tables_load_folder *f, struct error *e)
{
    struct view_input *in = f->in;
    LIST(const char *) names = { 0 };
    const char *name;
    int why = 0;
    DIR *d = inside_list(in->path);
    bool has_memory = true;
    if (!d)
        return error_set(e, FAULT_IO, "%s: cannot be read: %s", in->path, strerror(errno));
    while (has_memory && (name = dir_next(d, &why))) {
        const char *dot = strrchr(name, '.');
        if (!dot || dot == name || (strcmp(dot, ".csv") && strcmp(dot, ".json")))
            continue;
        if (dot - name >= NAME_BYTES) {
            f->n_left_out++;
            continue;
        }
        const char **added = list_add(&names, in->mem);
        has_memory = added && (*added = arena_text(in->mem, name, strlen(name)));
    }
    if (names.n)
        qsort(names.at, names.n, sizeof *names.at, compare_texts);
    for (size_t i = 0; i < names.n && i < MOST_FILES && has_memory; i++)
        has_memory = file_load(f, dirfd(d), names.at[i]);
    f->n_left_out += names.n > MOST_FILES ? names.n - MOST_FILES : 0;
    closedir(d);
    return has_memory || error_no_memory(e, in->path);
}

/* The tables as the image of a database, which each question reads. */
static bool image_keep(struct view_tables_load_folder *f)
{
    sqlite3_int64 n = 0;
    unsigned char *image = sqlite3_serialize(f->db, "main", &n, 0);
    f->in->db_image = image ? arena_take(f->in->mem, (size_t)n, 1) : NULL;
    f->in->db_bytes = (size_t)n;
    if (f->in->db_image)
        memcpy(f->in->db_image, image, (size_t)n);
    sqlite3_free(image);
    return f->in->db_image != NULL;
}

bool view_tables_load(struct view_input *in, struct error *e)
{
    static const char nothing[] = "[{\"ph\":\"M\",\"name\":\"end\",\"pid\":0}]";
    struct view_tables_load_folder f = { .in = in };
    bool is_done = sqlite3_open_v2(":memory:", &f.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK;
    is_done = (is_done || error_no_memory(e, in->path)) && sqlite3_exec(f.db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK &&
              folder_load(&f, e) && sqlite3_exec(f.db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    is_done = is_done && (in->db_tables.n > 0 || error_set(e, FAULT_FORMAT, "%s: no table that can be read", in->path));
    is_done = is_done && chrome_parse(&in->trace, nothing, sizeof nothing - 1, in->path, e);
    is_done = is_done && ((image_keep(&f) && add_fact(in, "directory", in->path) &&
                           add_count(in, "tables", in->db_tables.n) && add_count(in, "rows", f.n_rows) &&
                           (f.n_beyond == 0 || add_count(in, "cells beyond the columns, left out", f.n_beyond)) &&
                           (f.n_left_out == 0 ||
                            add_count(in, "files beyond the first 200 or with long names, left out", f.n_left_out))) ||
                          error_no_memory(e, in->path));
    if (!is_done && e->fault == FAULT_NONE)
        error_set(e, FAULT_FORMAT, "%s: %s", in->path, sqlite3_errmsg(f.db));
    sqlite3_close(f.db);
    return is_done;
}
