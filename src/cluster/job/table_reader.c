/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/job/table_reader.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/sort.h"
#include "base/text/stamp.h"
#include "profile/calls.h"

static const uint8_t width_of[] = { 8, 8, 8, 4, 1, 8, 4, 4, 4, 4 };

static bool damaged(struct table_reader *r, const char *what)
{
    return error_set(r->e, FAULT_FORMAT, "%s: %s; analyse the rank again", r->path, what);
}

static bool failed(struct table_reader *r)
{
    const int code = sqlite3_errcode(r->u.db) & 0xFF;
    if (code == SQLITE_NOMEM)
        return error_no_memory(r->e, r->path);
    return error_set(r->e, code == SQLITE_IOERR ? FAULT_IO : FAULT_FORMAT,
                     "%s: cannot be read as a database: %s; analyse the rank again", r->path,
                     untrusted_db_trouble(&r->u));
}

/* Its pages can be read directly, if none is in a log. */
static void use_pages(struct table_reader *r)
{
    const struct sqlite_file *f = r->u.file;
    if (f->log.frame_of || !memory_map(&r->map, f->fd, (size_t)f->bytes))
        r->map.at = NULL;
    else if (!rows_file_init(&r->pages, r->map.at, r->map.bytes))
        memory_unmap(&r->map);
}

bool table_reader_open(struct table_reader *r, const char *path)
{
    r->path = path;
    r->text_bytes = 0;
    if (!untrusted_db_open(&r->u, path, r->e))
        return false;
    if (r->u.log_trouble[0])
        r->rank->identity.log_trouble = arena_printf(r->mem, "%s-wal: %s", path, r->u.log_trouble);
    use_pages(r);
    return true;
}

void table_reader_open_source(struct table_reader *r, const char *path, const struct table_source *source)
{
    r->path = path;
    r->source = source;
}

void table_reader_close(struct table_reader *r)
{
    if (r->source)
        return;
    memory_unmap(&r->map);
    untrusted_db_close(&r->u);
}

static bool has_column(const struct table_reader *r, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(r->u.db, NULL, table, column, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* The columns of a table that are wanted and there: "SELECT a, NULL, c FROM TABLE". */
static sqlite3_stmt *select_fields(struct table_reader *r, const struct db_part *part)
{
    sqlite3_str *sql = sqlite3_str_new(r->u.db);
    sqlite3_stmt *s = NULL;
    for (size_t i = 0; i < part->n_fields; i++) {
        const bool is_there = has_column(r, part->table, part->field[i].name);
        sqlite3_str_appendf(sql, is_there ? "%s\"%w\"" : "%sNULL", i ? ", " : "SELECT ", part->field[i].name);
    }
    sqlite3_str_appendf(sql, " FROM \"%w\"", part->table);
    char *text = sqlite3_str_finish(sql);
    if (!text || sqlite3_prepare_v2(r->u.db, text, -1, &s, NULL) != SQLITE_OK)
        failed(r);
    sqlite3_free(text);
    return s;
}

static bool count_rows(struct table_reader *r, const char *table, size_t *n)
{
    sqlite3_stmt *s = NULL;
    char *sql = sqlite3_mprintf("SELECT COUNT(1) FROM \"%w\"", table);
    const bool done =
        sql && sqlite3_prepare_v2(r->u.db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW;
    const int64_t found = done ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    sqlite3_free(sql);
    if (!done)
        return failed(r);
    if (found < 0 || (uint64_t)found > r->u.file_bytes / 2)
        return damaged(r, "a table has more rows than fit in the file");
    *n = (size_t)found;
    return *n < NO_ROW || damaged(r, "a table has too many rows");
}

bool rows_by_init(struct table_reader *r, struct rows_by *by, const int64_t *id, size_t n)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        least = id[i] < least ? id[i] : least;
        most = id[i] > most ? id[i] : most;
    }
    const uint64_t span = n ? (uint64_t)most - (uint64_t)least : 0;
    *by = (struct rows_by){ .least = least, .span = span < 4 * (uint64_t)n ? span + 1 : 0 };
    by->row = arena_take(r->mem, by->span ? (size_t)by->span : n + 1, sizeof *by->row);
    if (!by->row)
        return error_no_memory(r->e, r->path);
    for (size_t i = 0; i < n; i++) {
        const uint64_t at = by->span ? (uint64_t)id[i] - (uint64_t)least : keys_add(&by->keys, (uint64_t)id[i], r->mem);
        if (!by->span && at == KEYS_NO_MEMORY)
            return error_no_memory(r->e, r->path);
        by->row[at] = (uint32_t)i + 1;
    }
    return true;
}

uint32_t rows_by_find(const struct rows_by *by, int64_t id)
{
    const uint64_t place = (uint64_t)id - (uint64_t)by->least;
    if (by->span)
        return place < by->span && by->row[place] ? by->row[place] - 1 : NO_ROW;
    const uint32_t at = keys_find(&by->keys, (uint64_t)id);
    return at == KEYS_NONE ? NO_ROW : by->row[at] - 1;
}

static name_id numbered_name(const struct numbered *all, int64_t id)
{
    const uint32_t row = rows_by_find(&all->by, id);
    return row == NO_ROW ? NAME_EMPTY : all->name[row];
}

static name_id text_name(struct table_reader *r, sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    const int n = sqlite3_column_bytes(s, column);
    r->text_bytes += (uint64_t)n;
    return text ? names_add(r->rank->names, text, (size_t)n) : NAME_EMPTY;
}

static double real_held(struct table_reader *r, double v)
{
    if (isfinite(v))
        return v;
    losses_add(&r->rank->identity.lost, LOSS_BAD_VALUE, 1, r->path, 0);
    return 0;
}

static void put_number(struct table_reader *r, const struct db_field *f, int64_t number, void *at)
{
    switch (f->kind) {
    case VALUE_I64:
    case VALUE_U64: *(int64_t *)at = number; break;
    case VALUE_TIME: *(int64_t *)at = stamp_held(number); break;
    case VALUE_U32: *(uint32_t *)at = (uint32_t)number; break;
    case VALUE_U8: *(uint8_t *)at = (uint8_t)number; break;
    case VALUE_STRING: *(name_id *)at = numbered_name(&r->strings, number); break;
    case VALUE_API: *(name_id *)at = numbered_name(&r->apis, number); break;
    case VALUE_TYPE: *(name_id *)at = numbered_name(&r->types, number); break;
    case VALUE_REAL: *(double *)at = (double)number; break;
    case VALUE_TEXT: break; /* never a number */
    }
}

static void put_null(struct table_reader *r, const struct db_field *f, void *at)
{
    if (f->kind >= VALUE_TEXT)
        *(name_id *)at = NAME_EMPTY;
    else
        put_number(r, f, f->otherwise, at);
}

static void put_value(struct table_reader *r, sqlite3_stmt *s, int column, const struct db_field *f, void *at)
{
    if (sqlite3_column_type(s, column) == SQLITE_NULL)
        put_null(r, f, at);
    else if (f->kind == VALUE_REAL)
        *(double *)at = real_held(r, sqlite3_column_double(s, column));
    else if (f->kind == VALUE_TEXT)
        *(name_id *)at = text_name(r, s, column);
    else
        put_number(r, f, sqlite3_column_int64(s, column), at);
}

/* Digits as the number that they are: times of PYTORCH_API are texts. False: not only digits, or too many. */
static bool digits(const struct stored *c, int64_t *number)
{
    uint64_t sum = 0;
    if (c->bytes == 0 || c->bytes > 19) /* more could wrap */
        return false;
    for (size_t i = 0; i < c->bytes; i++) {
        const unsigned digit = (unsigned)(c->text[i] - '0');
        if (digit > 9)
            return false;
        sum = sum * 10 + digit;
    }
    *number = (int64_t)sum;
    return sum <= INT64_MAX;
}

/* The same of a value from a page. False: one that needs a conversion of SQLite. */
static bool put_cell(struct table_reader *r, const struct stored *c, const struct db_field *f, void *at)
{
    int64_t number = c->integer;
    if (c->kind == STORED_NULL) {
        put_null(r, f, at);
    } else if (f->kind == VALUE_TEXT) {
        r->text_bytes += c->bytes;
        *(name_id *)at = c->kind == STORED_TEXT ? names_add(r->rank->names, c->text, c->bytes) : NAME_EMPTY;
        return c->kind == STORED_TEXT;
    } else if (f->kind == VALUE_REAL && c->kind == STORED_REAL) {
        *(double *)at = c->real;
        return isfinite(c->real);
    } else if (c->kind == STORED_INTEGER || (c->kind == STORED_TEXT && f->kind != VALUE_REAL && digits(c, &number))) {
        put_number(r, f, number, at);
    } else {
        return false;
    }
    return true;
}

enum { NO_COLUMN = -1, ROWID_COLUMN = -2 };

/* Where a table that is read without SQLite begins, and which of its columns are the fields. */
struct plain_table {
    uint32_t root;
    size_t n_columns; /* so many of each row are decoded */
    int column[ROWS_COLUMNS];
};

/* False: not plain, or it cannot be known. A primary key without an index of its own is the rowid. */
static bool plain_table(struct table_reader *r, const struct db_part *part, struct plain_table *t)
{
    static const char sql[] =
        "SELECT m.rootpage, x.cid, x.name, x.pk, x.hidden FROM sqlite_master AS m, pragma_table_xinfo(m.name) AS x "
        "WHERE m.type = 'table' AND m.name = ?1 AND NOT EXISTS "
        "(SELECT 1 FROM pragma_index_list(m.name) AS i WHERE i.origin = 'pk')";
    sqlite3_stmt *s = NULL;
    if (!r->map.at || part->n_fields > ROWS_COLUMNS || sqlite3_prepare_v2(r->u.db, sql, -1, &s, NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_text(s, 1, part->table, -1, SQLITE_STATIC);
    *t = (struct plain_table){ 0 };
    for (size_t i = 0; i < part->n_fields; i++)
        t->column[i] = NO_COLUMN;
    bool is_plain = true;
    int code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        const int64_t root = sqlite3_column_int64(s, 0), column = sqlite3_column_int64(s, 1);
        const char *name = (const char *)sqlite3_column_text(s, 2);
        is_plain = is_plain && root > 0 && root < UINT32_MAX && sqlite3_column_int(s, 4) == 0 && name;
        for (size_t i = 0; is_plain && i < part->n_fields; i++) {
            if (sqlite3_stricmp(name, part->field[i].name) != 0)
                continue;
            is_plain = column < ROWS_COLUMNS;
            t->column[i] = sqlite3_column_int(s, 3) ? ROWID_COLUMN : (int)column;
            t->n_columns = is_plain && (size_t)column >= t->n_columns ? (size_t)column + 1 : t->n_columns;
        }
        t->root = (uint32_t)root;
    }
    sqlite3_finalize(s);
    return is_plain && code == SQLITE_DONE && t->root > 0;
}

/* The rows from the pages of the file. False: SQLite has to read them. */
static bool read_pages(struct table_reader *r, const struct db_part *part, const struct plain_table *t, void *to,
                       size_t most)
{
    static const struct stored none = { .kind = STORED_NULL };
    char *at[ROWS_COLUMNS];
    for (size_t i = 0; i < part->n_fields; i++)
        memcpy(&at[i], (char *)to + part->field[i].at, sizeof at[i]);
    struct rows rows;
    struct stored cell[ROWS_COLUMNS], rowid = { .kind = STORED_INTEGER };
    enum rows_state state;
    bool is_plain = true;
    size_t n = 0;
    rows_init(&rows, &r->pages, t->root);
    while ((state = rows_next(&rows, &rowid.integer, cell, t->n_columns)) == ROWS_ROW && n < most && is_plain &&
           r->text_bytes <= 4 * r->u.file_bytes + 4096) {
        for (size_t i = 0; is_plain && i < part->n_fields; i++) {
            const int column = t->column[i];
            const struct stored *c = column == ROWID_COLUMN ? &rowid : column == NO_COLUMN ? &none : &cell[column];
            is_plain = put_cell(r, c, &part->field[i], at[i]);
            at[i] += width_of[part->field[i].kind];
        }
        n++;
    }
    rows_fini(&rows);
    memcpy(to, &n, sizeof n);
    return state == ROWS_END && is_plain && n == most;
}

enum { TABLES_MOST = 3 }; /* in one call */

/* The rows of one table, as its source hands them over. */
struct table_reader_taking {
    struct table_reader *r;
    struct table_asked *asked;
    size_t n, cap;
    char *at[ROWS_COLUMNS]; /* columns */
    int cell[ROWS_COLUMNS]; /* by field: the cell of a row; below 0: the table has no such column */
};

/* The rank's name of a name of the source. */
static name_id taken_name(struct table_reader *r, name_id name, bool is_shape)
{
    struct taken_names *const t = &r->taken[is_shape];
    const char *const text = names_text(r->source->names, name);
    const size_t len = names_len(r->source->names, name);
    if (name >= t->n) {
        const size_t n = 2 * ((size_t)name + 1);
        name_id *const more = arena_take(r->mem, n, sizeof *more);
        if (!more)
            return NAME_EMPTY;
        if (t->n > 0)
            memcpy(more, t->of, t->n * sizeof *more);
        arena_drop(r->mem, t->of);
        *t = (struct taken_names){ n, more };
    }
    if (t->of[name] == 0) {
        const char *const quoted = is_shape && name != NAME_NA ? arena_printf(r->mem, "\"%s\"", text) : NULL;
        t->of[name] = 1 + (quoted ? names_add(r->rank->names, quoted, len + 2) : names_add(r->rank->names, text, len));
    }
    return t->of[name] - 1;
}

/* A text where a number is wanted is converted as SQLite does it. */
static void put_taken_text(struct table_reader *r, const struct db_field *f, const char *text, name_id name, void *at)
{
    if (f->kind >= VALUE_TEXT)
        *(name_id *)at = name;
    else if (f->kind == VALUE_REAL)
        *(double *)at = strtod(text, NULL);
    else
        put_number(r, f, strtoll(text, NULL, 10), at);
}

static void put_taken(struct table_reader *r, const struct db_field *f, struct cell c, void *at)
{
    static const double limit = 9223372036854775808.0;
    const bool is_name = c.kind == CELL_NAME || c.kind == CELL_SHAPE;
    char digits[24];
    switch (c.kind) {
    case CELL_INT:
    case CELL_UINT:
    case CELL_TIME:
    case CELL_TIME_BARE:
    case CELL_US:
        if (f->kind == VALUE_TEXT && snprintf(digits, sizeof digits, "%lld", (long long)c.i) > 0)
            *(name_id *)at = names_addz(r->rank->names, digits);
        else
            put_number(r, f, c.i, at);
        return;
    case CELL_REAL:
        if (isnan(c.f))
            break;
        if (f->kind == VALUE_REAL)
            *(double *)at = real_held(r, c.f);
        else
            put_number(r, f, c.f < limit && c.f > -limit ? (int64_t)c.f : c.f > 0 ? INT64_MAX : INT64_MIN, at);
        return;
    case CELL_NAME:
    case CELL_SHAPE:
    case CELL_TEXT:
        if (!is_name && !c.text)
            break;
        put_taken_text(r, f, is_name ? names_text(r->source->names, c.name) : c.text,
                       is_name ? taken_name(r, c.name, c.kind == CELL_SHAPE) : names_addz(r->rank->names, c.text), at);
        return;
    default: break;
    }
    put_null(r, f, at);
}

static bool taking_begin(void *context, const struct db_table *table, bool is_wanted[DB_COLUMNS])
{
    struct table_reader_taking *const t = context;
    const struct db_part *const part = &t->asked->part;
    const size_t most = t->n + table->n_rows, more = most > 2 * t->cap ? most : 2 * t->cap;
    for (size_t i = 0; i < part->n_fields; i++) {
        t->cell[i] = -1;
        for (size_t c = 0; c < table->n_columns; c++)
            if (strcmp(table->column[c].name, part->field[i].name) == 0) {
                t->cell[i] = (int)c;
                is_wanted[c] = true;
                t->asked->fields |= UINT64_C(1) << i;
            }
    }
    t->asked->is_there = true;
    for (size_t i = 0; most > t->cap && i < part->n_fields; i++) {
        const size_t width = width_of[part->field[i].kind];
        char *const column = arena_take(t->r->mem, more, width);
        if (!column)
            return false;
        if (t->n > 0)
            memcpy(column, t->at[i], t->n * width);
        arena_drop(t->r->mem, t->at[i]);
        t->at[i] = column;
        memcpy((char *)t->asked->to + part->field[i].at, &column, sizeof column);
    }
    t->cap = most > t->cap ? more : t->cap;
    return true;
}

static void taking_take(void *context, const struct cell *cell)
{
    static const struct cell none = { .kind = CELL_NA };
    struct table_reader_taking *const t = context;
    const struct db_part *const part = &t->asked->part;
    for (size_t i = 0; i < part->n_fields; i++) {
        const struct db_field *const f = &part->field[i];
        put_taken(t->r, f, t->cell[i] < 0 ? none : cell[t->cell[i]], t->at[i] + t->n * width_of[f->kind]);
    }
    t->n++;
}

static bool take_tables(struct table_reader *r, struct table_asked *asked, size_t n)
{
    struct table_reader_taking t[TABLES_MOST];
    struct db_taker taker[TABLES_MOST];
    assert(n <= TABLES_MOST);
    for (size_t i = 0; i < n; i++) {
        t[i] = (struct table_reader_taking){ .r = r, .asked = &asked[i] };
        taker[i] = (struct db_taker){ asked[i].part.table, taking_begin, taking_take, &t[i] };
    }
    struct db *const db = db_open_takers(taker, n, r->source->names);
    if (!db)
        return error_no_memory(r->e, r->path);
    if (!r->source->write(r->source->context, db, r->e)) {
        db_discard(db);
        return error_no_memory(r->e, r->path);
    }
    for (size_t i = 0; i < n; i++)
        memcpy(asked[i].to, &t[i].n, sizeof t[i].n);
    return db_close(db, r->e) && (!arena_failed(r->mem) || error_no_memory(r->e, r->path));
}

static bool read_table(struct table_reader *r, struct table_asked *asked)
{
    const struct db_part *const part = &asked->part;
    void *const to = asked->to;
    size_t most = 0, n = 0;
    if (!untrusted_db_look(&r->u, part->table, &asked->is_there))
        return failed(r);
    struct plain_table t;
    const bool is_plain =
        asked->is_there && plain_table(r, part, &t) && rows_count(&r->pages, t.root, &most) && most < NO_ROW;
    if (!asked->is_there || (!is_plain && !count_rows(r, part->table, &most)))
        return r->e->fault == FAULT_NONE;
    for (size_t i = 0; i < part->n_fields; i++) {
        asked->fields |= (uint64_t)has_column(r, part->table, part->field[i].name) << i;
        void *column = arena_take(r->mem, most, width_of[part->field[i].kind]);
        if (!column)
            return error_no_memory(r->e, r->path);
        memcpy((char *)to + part->field[i].at, &column, sizeof column);
    }
    const uint64_t text_bytes = r->text_bytes;
    if (is_plain && read_pages(r, part, &t, to, most))
        return true;
    r->text_bytes = text_bytes;
    sqlite3_stmt *s = select_fields(r, part);
    int code = s ? SQLITE_ROW : SQLITE_ERROR;
    while (s && n < most && (code = sqlite3_step(s)) == SQLITE_ROW && r->text_bytes <= 4 * r->u.file_bytes + 4096) {
        for (size_t i = 0; i < part->n_fields; i++) {
            char *column;
            memcpy(&column, (char *)to + part->field[i].at, sizeof column);
            put_value(r, s, (int)i, &part->field[i], column + n * width_of[part->field[i].kind]);
        }
        n++;
    }
    const bool done = s && (code == SQLITE_ROW || code == SQLITE_DONE);
    if (s && !done)
        failed(r);
    sqlite3_finalize(s);
    if (done && r->text_bytes > 4 * r->u.file_bytes + 4096)
        return damaged(r, "its texts are longer than the file");
    memcpy(to, &n, sizeof n);
    return done;
}

bool tables_read(struct table_reader *r, struct table_asked *asked, size_t n)
{
    if (r->source)
        return take_tables(r, asked, n);
    for (size_t i = 0; i < n; i++)
        if (!read_table(r, &asked[i]))
            return false;
    return true;
}

bool numbered_read(struct table_reader *r, const char *table, const char *text, struct numbered *out)
{
    struct {
        size_t n;
        int64_t *id;
        name_id *name;
    } rows = { 0 };
    const struct db_field field[] = { { "id", VALUE_I64, offsetof(__typeof__(rows), id), -1 },
                                      { text, VALUE_TEXT, offsetof(__typeof__(rows), name), 0 } };
    struct table_asked asked = { .part = { table, FIELDS(field) }, .to = &rows };
    if (!tables_read(r, &asked, 1))
        return false;
    out->name = rows.name;
    return rows_by_init(r, &out->by, rows.id, rows.n);
}

/* Columns of a part in ascending order of a key. */
bool table_sort(struct table_reader *r, const struct db_part *part, void *to, const int64_t *key)
{
    size_t n;
    memcpy(&n, to, sizeof n);
    bool is_sorted = true;
    for (size_t i = 1; i < n && is_sorted; i++)
        is_sorted = key[i - 1] <= key[i];
    if (is_sorted)
        return true;
    uint32_t *order = arena_take(r->mem, n, sizeof *order);
    uint64_t *keys = arena_take(r->mem, n, sizeof *keys);
    if (!order || !keys)
        return error_no_memory(r->e, r->path);
    for (size_t i = 0; i < n; i++)
        keys[i] = (uint64_t)key[i] ^ UINT64_C(1) << 63;
    order_fill(order, n);
    if (!order_by_u64(order, n, keys))
        return error_no_memory(r->e, r->path);
    for (size_t f = 0; f < part->n_fields; f++) {
        const size_t width = width_of[part->field[f].kind];
        void *old, *new = arena_take(r->mem, n, width);
        if (!new)
            return error_no_memory(r->e, r->path);
        memcpy(&old, (char *)to + part->field[f].at, sizeof old);
        order_apply(new, old, order, n, width);
        memcpy((char *)to + part->field[f].at, &new, sizeof new);
        arena_drop(r->mem, old);
    }
    arena_drop(r->mem, order);
    arena_drop(r->mem, keys);
    return true;
}

bool table_use(struct table_reader *r, enum rank_part bit, const struct table_asked *asked, int64_t *const *key)
{
    if (asked->is_there)
        r->rank->has |= bit;
    return !asked->is_there || !key || table_sort(r, &asked->part, asked->to, *key);
}

bool table_load(struct table_reader *r, enum rank_part bit, const struct db_part *part, void *to, int64_t *const *key)
{
    struct table_asked asked = { .part = *part, .to = to };
    return tables_read(r, &asked, 1) && table_use(r, bit, &asked, key);
}
