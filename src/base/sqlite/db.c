/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sqlite/db.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/file.h"
#include "base/files/out.h"
#include "base/memory/growing.h"
#include "base/memory/sort.h"
#include "base/sqlite/sqlite_descriptor.h"
#include "base/sqlite/sqlite_file.h"
#include "base/sqlite/sqlite_pages.h"

enum { MOST_COLUMNS = DB_COLUMNS, BLOCK_ROWS = 64 };

enum affinity { NUMERIC, REAL, TEXT };

struct db {
    struct out out;
    struct pages *pages;
    struct names *names;
    uint32_t *id_of; /* by name_id: id + 1, 0 = not used yet */
    size_t n_id_of;
    LIST(name_id) used; /* in the order of their ids */
    name_id *quoted;    /* by name_id of a shape: the same in quotes */
    size_t n_quoted;
    LIST(struct db_made {
        const char *name;
        struct btree *rows;
    })
    tables;
    LIST(const char *) indexes; /* "NAME ON TABLE (columns)" */
    const struct db_filter *filter;
    size_t n_filters;
    const void *filter_context;
    const struct db_taker *taker; /* NULL: rows go to the file */
    size_t n_takers;
    bool is_wanted[DB_COLUMNS]; /* columns of the current table that its taker wants */
    struct arena *mem;
    uint64_t n_rows;
    bool has_failed;                              /* a text could not be numbered */
    struct cell block[BLOCK_ROWS * MOST_COLUMNS]; /* the rows that are being written */
    char digits[MOST_COLUMNS][24];                /* the numbers of one row that are texts */
};

static bool no_memory(struct db *db, struct error *e)
{
    return error_no_memory(e, db->taker ? "tables in memory" : db->out.path);
}

struct db *db_open(const char *path, struct names *names, struct error *e)
{
    struct db *db = calloc(1, sizeof *db);
    if (!db) {
        error_no_memory(e, path);
        return NULL;
    }
    db->names = names;
    if (!out_open(&db->out, path, e)) {
        free(db);
        return NULL;
    }
    db->mem = arena_new();
    db->pages = db->mem ? pages_new(&db->out, db->mem) : NULL;
    if (!db->pages) {
        no_memory(db, e);
        db_discard(db);
        return NULL;
    }
    return db;
}

struct db *db_open_takers(const struct db_taker *taker, size_t n, struct names *names)
{
    struct db *db = calloc(1, sizeof *db);
    if (!db)
        return NULL;
    db->names = names;
    db->taker = taker;
    db->n_takers = n;
    if (!(db->mem = arena_new())) {
        db_discard(db);
        return NULL;
    }
    return db;
}

static const struct db_taker *taker_of(const struct db *db, const char *table, size_t len)
{
    for (size_t i = 0; i < db->n_takers; i++)
        if (strncmp(db->taker[i].table, table, len) == 0 && !db->taker[i].table[len])
            return &db->taker[i];
    return NULL;
}

bool db_wants(const struct db *db, const char *tables)
{
    bool found = !db->taker;
    for (const char *at = tables; !found && at && *at; at += *at == ' ') {
        const size_t n = strcspn(at, " ");
        found = taker_of(db, at, n);
        at += n;
    }
    return found;
}

void db_filters(struct db *db, const struct db_filter *filter, size_t n, const void *context)
{
    db->filter = filter;
    db->n_filters = n;
    db->filter_context = context;
}

static uint32_t no_number(struct db *db)
{
    db->has_failed = true;
    return 0;
}

uint32_t db_string(struct db *db, name_id name)
{
    if (!array_reserve(db->id_of, db->n_id_of, (size_t)name + 1, 1024))
        return no_number(db);
    if (db->id_of[name] == 0) {
        name_id *slot = list_add(&db->used, db->mem);
        if (!slot)
            return no_number(db);
        *slot = name;
        db->id_of[name] = (uint32_t)db->used.n;
    }
    return db->id_of[name] - 1;
}

/* Shapes keep their quotes in the database. */
static uint32_t shape_string(struct db *db, name_id shape)
{
    const size_t len = names_len(db->names, shape);
    if (shape == NAME_NA)
        return db_string(db, shape);
    if (!array_reserve(db->quoted, db->n_quoted, (size_t)shape + 1, 1024))
        return no_number(db);
    if (db->quoted[shape] == NAME_EMPTY) {
        char *text = arena_take(db->mem, len + 2, 1);
        if (!text)
            return no_number(db);
        text[0] = text[len + 1] = '"';
        memcpy(text + 1, names_text(db->names, shape), len);
        db->quoted[shape] = names_add(db->names, text, len + 2);
    }
    return db_string(db, db->quoted[shape]);
}

static struct sqlite_value int_text(char digits[static 24], int64_t i)
{
    return value_text(digits, (size_t)snprintf(digits, 24, "%" PRId64, i));
}

/* A number as a column stores it. There are no real numbers in text columns. */
static inline struct sqlite_value db_number_of(struct sqlite_value v, enum affinity affinity)
{
    assert(affinity != TEXT);
    return affinity == REAL ? value_real(v) : v;
}

static inline struct sqlite_value value_of(struct db *db, struct cell c, enum affinity affinity, char digits[static 24])
{
    switch (c.kind) {
    case CELL_INT:
    case CELL_TIME:
    case CELL_TIME_BARE:
    case CELL_US:
    case CELL_UINT: return affinity == TEXT ? int_text(digits, c.i) : db_number_of(value_int(c.i), affinity);
    case CELL_REAL: return db_number_of(value_number(c.f), affinity);
    case CELL_SHAPE: return value_int(shape_string(db, c.name));
    case CELL_NAME:
        if (affinity == TEXT)
            return value_text(names_text(db->names, c.name), names_len(db->names, c.name));
        return value_int(db_string(db, c.name));
    case CELL_TEXT:
        if (affinity == TEXT)
            return c.text ? value_text(c.text, strlen(c.text)) : value_null();
        return value_int(db_string(db, names_addz(db->names, c.text)));
    default: return value_null();
    }
}

static inline struct cell cell_of(const struct db_table *t, size_t row, size_t column)
{
    if (t->shown)
        row = t->shown[row];
    if (t->grid)
        return t->grid[row * t->n_columns + column];
    cell_getter *const get = t->column[column].get;
    return get ? get(t->rows, row) : t->get(t->rows, row, column);
}

/* Finds the order of the rows by their key column; NULL: they are in that order already. */
static bool order_rows(const struct db_table *t, size_t key, struct arena *mem, uint32_t **order)
{
    *order = NULL;
    size_t n = 1;
    while (n < t->n_rows && cell_of(t, n - 1, key).i < cell_of(t, n, key).i)
        n++;
    if (n >= t->n_rows)
        return true;
    uint64_t *keys = arena_take(mem, t->n_rows, sizeof *keys);
    uint32_t *rows = arena_take(mem, t->n_rows, sizeof *rows);
    if (!keys || !rows)
        return false;
    for (size_t i = 0; i < t->n_rows; i++)
        keys[i] = cell_of(t, i, key).u ^ (uint64_t)1 << 63;
    order_fill(rows, t->n_rows);
    *order = rows;
    return order_by_u64(rows, t->n_rows, keys);
}

/* The cells of some rows, one after the other. */
static const struct cell *cells_of(struct db *db, const struct db_table *t, const uint32_t *order, size_t first,
                                   size_t n)
{
    struct cell *to = db->block;
    if (t->grid && !t->shown && !order)
        return t->grid + first * t->n_columns;
    if (t->fill)
        t->fill(t->rows, first, n, to);
    for (size_t i = first; i < first + n && !t->fill; i++)
        for (size_t c = 0; c < t->n_columns; c++)
            *to++ = !db->taker || db->is_wanted[c] ? cell_of(t, order ? order[i] : i, c) : cell_na();
    return db->block;
}

/* How the rows of a table are written. */
struct row_form {
    size_t n, key; /* columns, and which one is the rowid; n when none is */
    enum affinity affinity[MOST_COLUMNS];
    struct {
        bool (*keeps)(const void *context, int64_t number);
        uint8_t cell;
    } filter[MOST_COLUMNS];
    size_t n_filters;
};

static void find_filters(const struct db *db, const struct db_table *t, struct row_form *f)
{
    for (size_t c = 0; c < t->n_columns; c++) {
        const struct db_filter *k = db->filter, *end = k + db->n_filters;
        while (k < end && ((k->table && strcmp(k->table, t->name) != 0) || strcmp(k->column, t->column[c].name) != 0))
            k++;
        if (k == end || !k->keeps)
            continue;
        f->filter[f->n_filters].keeps = k->keeps;
        f->filter[f->n_filters++].cell = (uint8_t)c;
    }
}

static bool is_wanted(const struct db *db, const struct row_form *f, const struct cell *cell)
{
    for (size_t i = 0; i < f->n_filters; i++) {
        const struct cell c = cell[f->filter[i].cell];
        const bool is_number = c.kind == CELL_INT || c.kind == CELL_UINT || c.kind == CELL_TIME ||
                               c.kind == CELL_TIME_BARE || c.kind == CELL_US || c.kind == CELL_REAL;
        if (!is_number || !f->filter[i].keeps(db->filter_context, c.kind == CELL_REAL ? (int64_t)c.f : c.i))
            return false;
    }
    return true;
}

static struct row_form form_of(const struct db *db, const struct db_table *t)
{
    struct row_form f = { .n = t->n_columns, .key = t->n_columns };
    for (size_t c = 0; c < t->n_columns; c++) {
        const char *type = t->column[c].type;
        if (strcmp(type, "INTEGER PRIMARY KEY") == 0)
            f.key = c;
        f.affinity[c] = strcmp(type, "TEXT") == 0 ? TEXT : strcmp(type, "REAL") == 0 ? REAL : NUMERIC;
    }
    if (db->n_filters > 0)
        find_filters(db, t, &f);
    return f;
}

static bool db_add_row(struct db *db, const struct row_form *f, const struct cell *cell, struct btree *b)
{
    struct sqlite_value value[MOST_COLUMNS];
    for (size_t c = 0; c < f->n; c++)
        value[c] = value_of(db, cell[c], f->affinity[c], db->digits[c]);
    if (f->key == f->n)
        return btree_add(b, btree_last(b) + 1, value, f->n);
    value[f->key] = value_null();
    return btree_add(b, cell[f->key].i, value, f->n);
}

/* To the taker, or to the file. */
static bool add_rows(struct db *db, const struct db_table *t, const struct row_form *form, const struct db_taker *taker,
                     struct btree *b, struct error *e)
{
    struct arena *mem = arena_new();
    uint32_t *order = NULL;
    if (!mem || (form->key < form->n && !order_rows(t, form->key, mem, &order))) {
        arena_free(mem);
        return no_memory(db, e);
    }
    bool done = true;
    for (size_t first = 0; first < t->n_rows && done; first += BLOCK_ROWS) {
        const size_t n = t->n_rows - first < BLOCK_ROWS ? t->n_rows - first : BLOCK_ROWS;
        const struct cell *cell = cells_of(db, t, order, first, n);
        for (size_t i = 0; i < n && done; i++) {
            if (form->n_filters > 0 && !is_wanted(db, form, cell + i * t->n_columns))
                continue;
            if (taker)
                taker->take(taker->context, cell + i * t->n_columns);
            else
                done = db_add_row(db, form, cell + i * t->n_columns, b);
            db->n_rows++;
        }
    }
    if (!done && arena_failed(db->mem))
        no_memory(db, e);
    else if (!done)
        error_set(e, FAULT_LIMIT, "%s: the row after %" PRId64 " of %s is too long or has the same key", db->out.path,
                  btree_last(b), t->name);
    arena_free(mem);
    return done;
}

/* Indexes are made at the end, over all the rows at once. */
static bool add_index(struct db *db, const char *index)
{
    for (size_t i = 0; index && i < db->indexes.n; i++)
        if (strcmp(db->indexes.at[i], index) == 0)
            index = NULL;
    const char **slot = index ? list_add(&db->indexes, db->mem) : NULL;
    if (slot)
        *slot = index;
    return slot || !index;
}

/* SQLite creates them, in the file under its temporary name. No journal and no sync: nobody reads a file of that
 * name. */
static bool make_indexes(struct db *db, struct error *e)
{
    if (db->indexes.n == 0 || db->out.failed_errno)
        return true;
    sqlite3 *sql = NULL;
    char uri[DESCRIPTOR_URI];
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
    int ok = sqlite3_open_v2(descriptor_uri(uri, db->out.fd), &sql, flags, NULL);
    if (ok == SQLITE_OK)
        ok = sqlite3_exec(sql,
                          "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
                          "PRAGMA cache_size=-8192; BEGIN",
                          NULL, NULL, NULL);
    for (size_t i = 0; i < db->indexes.n && ok == SQLITE_OK; i++) {
        char create[512];
        snprintf(create, sizeof create, "CREATE INDEX %s", db->indexes.at[i]);
        ok = sqlite3_exec(sql, create, NULL, NULL, NULL);
    }
    if (ok == SQLITE_OK)
        ok = sqlite3_exec(sql, "COMMIT", NULL, NULL, NULL);
    const int why = ok == SQLITE_FULL ? ENOSPC : ok == SQLITE_NOMEM ? ENOMEM : sql ? sqlite3_system_errno(sql) : 0;
    if (ok != SQLITE_OK && !why) /* SQLite cannot parse or read back what was written */
        error_set(e, FAULT_IO, "%s: cannot create indexes: %s; the disk may be failing: see the system log",
                  db->out.path, sqlite3_errstr(ok));
    else if (ok != SQLITE_OK)
        error_set(e, why == ENOMEM ? FAULT_LIMIT : FAULT_IO, "%s: cannot create indexes: %s", db->out.path,
                  write_trouble(why));
    sqlite3_close(sql);
    return ok == SQLITE_OK;
}

uint64_t db_rows(const struct db *db)
{
    return db->n_rows;
}

static struct btree *find_table(struct db *db, const struct db_table *t)
{
    for (size_t i = 0; i < db->tables.n; i++)
        if (strcmp(db->tables.at[i].name, t->name) == 0)
            return db->tables.at[i].rows;
    char create[4096];
    int n = snprintf(create, sizeof create, "CREATE TABLE %s (", t->name);
    for (size_t c = 0; c < t->n_columns; c++)
        n += snprintf(create + n, sizeof create - (size_t)n, "%s %s%s", t->column[c].name, t->column[c].type,
                      c + 1 < t->n_columns ? ", " : ")");
    const char *name = arena_text(db->mem, t->name, strlen(t->name)), *sql = arena_text(db->mem, create, (size_t)n);
    struct btree *b = name && sql ? pages_table(db->pages, name, sql) : NULL;
    struct db_made *made = b ? list_add(&db->tables, db->mem) : NULL;
    if (made)
        *made = (struct db_made){ name, b };
    return made ? b : NULL;
}

bool db_table(struct db *db, const struct db_table *t, struct error *e)
{
    assert(t->n_columns <= MOST_COLUMNS);
    if (t->n_rows == 0 && !t->is_made_empty)
        return true;
    const struct row_form form = form_of(db, t);
    if (db->taker) {
        const struct db_taker *const taker = taker_of(db, t->name, strlen(t->name));
        memset(db->is_wanted, 0, sizeof db->is_wanted);
        return !taker || (taker->begin(taker->context, t, db->is_wanted) ? add_rows(db, t, &form, taker, NULL, e)
                                                                         : no_memory(db, e));
    }
    struct btree *b = find_table(db, t);
    if (!b || !add_index(db, t->index))
        return no_memory(db, e);
    if (!add_rows(db, t, &form, NULL, b, e))
        return false;
    if (db->has_failed || names_failed(db->names))
        return no_memory(db, e);
    if (db->out.failed_errno) /* later rows would be lost as well */
        return error_set(e, FAULT_IO, "%s: cannot be written: %s", db->out.path, write_trouble(db->out.failed_errno));
    return true;
}

CELL_GETTER(nothing, void, cell_na())

bool db_table_kind(struct db *db, struct db_table t, const struct db_kind_column *column, size_t n_columns,
                   unsigned kind, struct error *e)
{
    struct db_column of_kind[MOST_COLUMNS];
    assert(n_columns <= MOST_COLUMNS);
    for (size_t i = 0; i < n_columns; i++)
        of_kind[i] =
            (struct db_column){ column[i].name, column[i].type, column[i].get[kind] ? column[i].get[kind] : nothing };
    t.column = of_kind;
    t.n_columns = n_columns;
    return db_table(db, &t, e);
}

CELL_GETTER(string_id, struct db, cell_uint(i))
CELL_GETTER(string_value, struct db, cell_name(r->used.at[i]))

/* Behind the last table of a taker. */
static bool end_taking(struct db *db, struct error *e)
{
    const bool done = !names_failed(db->names) || no_memory(db, e);
    db_discard(db);
    return done;
}

bool db_close(struct db *db, struct error *e)
{
    if (db->taker)
        return end_taking(db, e);
    static const struct db_column column[] = { { "id", "INTEGER PRIMARY KEY", string_id },
                                               { "value", "TEXT", string_value } };
    const struct db_table strings = {
        .name = "STRING_IDS", .column = column, .n_columns = 2, .n_rows = db->used.n, .rows = db
    };
    bool done = (!db->has_failed || no_memory(db, e)) && db_table(db, &strings, e) &&
                (pages_end(db->pages) || no_memory(db, e)) && make_indexes(db, e);
    if (done)
        sqlite_file_forget_log(db->out.path);
    done = done && out_close(&db->out, e);
    db_discard(db);
    return done;
}

void db_discard(struct db *db)
{
    if (!db)
        return;
    if (!db->taker)
        out_discard(&db->out);
    arena_free(db->mem);
    free(db->id_of);
    free(db->quoted);
    free(db);
}
