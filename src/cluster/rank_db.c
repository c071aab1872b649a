/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank_db.h"

#include <math.h>
#include <string.h>

#include "base/keys.h"
#include "base/large_memory.h"
#include "base/sort.h"
#include "base/sqlite_rows.h"
#include "base/stamp.h"
#include "base/untrusted_db.h"
#include "cluster/by_connection.h"
#include "cluster/link_samples.h"
#include "cluster/rank_text.h"
#include "profile/calls.h"

/* How a value becomes an element of a column. */
enum value_kind {
    VALUE_I64,
    VALUE_TIME, /* int64_t, ns */
    VALUE_U64,
    VALUE_U32,
    VALUE_U8,
    VALUE_REAL,
    VALUE_TEXT,   /* name_id of the text itself */
    VALUE_STRING, /* name_id by the number in STRING_IDS */
    VALUE_API,    /* by that in ENUM_API_TYPE */
    VALUE_TYPE,   /* by that in ENUM_HCCL_DATA_TYPE */
};

static const uint8_t width_of[] = { 8, 8, 8, 4, 1, 8, 4, 4, 4, 4 };

struct db_field {
    const char *name;
    enum value_kind kind;
    size_t at;         /* of the pointer to its column, in the struct of columns */
    int64_t otherwise; /* where there is no value; of VALUE_REAL: it is a number */
};

struct db_part {
    const char *table;
    const struct db_field *field;
    size_t n_fields;
};
#define FIELDS(array) array, sizeof array / sizeof *array

/* Rows of a table by a number, the last of equal ones. Numbers that are close to each other are places of an array. */
struct rows_by {
    int64_t least;
    uint64_t span; /* 0: they are keys */
    struct keys keys;
    uint32_t *row; /* + 1 in the array; 0: none */
};

/* Numbers that stand for texts. */
struct numbered {
    struct rows_by by;
    name_id *name;
};

struct reader {
    struct untrusted_db u;
    const char *path;
    uint64_t text_bytes;
    struct mapped map; /* of a database whose pages can be read without SQLite */
    struct rows_file pages;
    struct numbered strings, apis, types;
    struct rank *rank;
    struct arena *mem;
    struct error *e;
};

static bool damaged(struct reader *r, const char *what)
{
    return error_set(r->e, FAULT_FORMAT, "%s: %s; analyse the rank again", r->path, what);
}

static bool failed(struct reader *r)
{
    const int code = sqlite3_errcode(r->u.db) & 0xFF;
    if (code == SQLITE_NOMEM)
        return error_no_memory(r->e, r->path);
    return error_set(r->e, code == SQLITE_IOERR ? FAULT_IO : FAULT_FORMAT,
                     "%s: cannot be read as a database: %s; analyse the rank again", r->path,
                     untrusted_db_trouble(&r->u));
}

/* Its pages can be read directly, if none is in a log. */
static void use_pages(struct reader *r)
{
    const struct sqlite_file *f = r->u.file;
    if (f->log.frame_of || !memory_map(&r->map, f->fd, (size_t)f->bytes))
        r->map.at = NULL;
    else if (!rows_file_init(&r->pages, r->map.at, r->map.bytes))
        memory_unmap(&r->map);
}

static bool reader_open(struct reader *r, const char *path)
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

static void reader_close(struct reader *r)
{
    memory_unmap(&r->map);
    untrusted_db_close(&r->u);
}

static bool has_column(const struct reader *r, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(r->u.db, NULL, table, column, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* The columns of a table that are wanted and there: "SELECT a, NULL, c FROM TABLE". */
static sqlite3_stmt *select_fields(struct reader *r, const struct db_part *part)
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

static bool count_rows(struct reader *r, const char *table, size_t *n)
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

static bool rows_by_init(struct reader *r, struct rows_by *by, const int64_t *id, size_t n)
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

static uint32_t row_of(const struct rows_by *by, int64_t id)
{
    const uint64_t place = (uint64_t)id - (uint64_t)by->least;
    if (by->span)
        return place < by->span && by->row[place] ? by->row[place] - 1 : NO_ROW;
    const uint32_t at = keys_find(&by->keys, (uint64_t)id);
    return at == KEYS_NONE ? NO_ROW : by->row[at] - 1;
}

static name_id numbered_name(const struct numbered *all, int64_t id)
{
    const uint32_t row = row_of(&all->by, id);
    return row == NO_ROW ? NAME_EMPTY : all->name[row];
}

static name_id text_name(struct reader *r, sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    const int n = sqlite3_column_bytes(s, column);
    r->text_bytes += (uint64_t)n;
    return text ? names_add(r->rank->names, text, (size_t)n) : NAME_EMPTY;
}

static double real_of(struct reader *r, sqlite3_stmt *s, int column)
{
    const double v = sqlite3_column_double(s, column);
    if (isfinite(v))
        return v;
    losses_add(&r->rank->identity.lost, LOSS_BAD_VALUE, 1, r->path, 0);
    return 0;
}

static void put_number(struct reader *r, const struct db_field *f, int64_t number, void *at)
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

static void put_null(struct reader *r, const struct db_field *f, void *at)
{
    if (f->kind >= VALUE_TEXT)
        *(name_id *)at = NAME_EMPTY;
    else
        put_number(r, f, f->otherwise, at);
}

static void put_value(struct reader *r, sqlite3_stmt *s, int column, const struct db_field *f, void *at)
{
    if (sqlite3_column_type(s, column) == SQLITE_NULL)
        put_null(r, f, at);
    else if (f->kind == VALUE_REAL)
        *(double *)at = real_of(r, s, column);
    else if (f->kind == VALUE_TEXT)
        *(name_id *)at = text_name(r, s, column);
    else
        put_number(r, f, sqlite3_column_int64(s, column), at);
}

/* Digits as the number that they are: times of PYTORCH_API are texts. False: not only digits, or too many. */
static bool digits(const struct cell *c, int64_t *number)
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
static bool put_cell(struct reader *r, const struct cell *c, const struct db_field *f, void *at)
{
    int64_t number = c->integer;
    if (c->kind == CELL_NULL) {
        put_null(r, f, at);
    } else if (f->kind == VALUE_TEXT) {
        r->text_bytes += c->bytes;
        *(name_id *)at = c->kind == CELL_TEXT ? names_add(r->rank->names, c->text, c->bytes) : NAME_EMPTY;
        return c->kind == CELL_TEXT;
    } else if (f->kind == VALUE_REAL && c->kind == CELL_REAL) {
        *(double *)at = c->real;
        return isfinite(c->real);
    } else if (c->kind == CELL_INTEGER || (c->kind == CELL_TEXT && f->kind != VALUE_REAL && digits(c, &number))) {
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
static bool plain_table(struct reader *r, const struct db_part *part, struct plain_table *t)
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
static bool read_pages(struct reader *r, const struct db_part *part, const struct plain_table *t, void *to, size_t most)
{
    static const struct cell none = { .kind = CELL_NULL };
    char *at[ROWS_COLUMNS];
    for (size_t i = 0; i < part->n_fields; i++)
        memcpy(&at[i], (char *)to + part->field[i].at, sizeof at[i]);
    struct rows rows;
    struct cell cell[ROWS_COLUMNS], rowid = { .kind = CELL_INTEGER };
    enum rows_state state;
    bool is_plain = true;
    size_t n = 0;
    rows_init(&rows, &r->pages, t->root);
    while ((state = rows_next(&rows, &rowid.integer, cell, t->n_columns)) == ROWS_ROW && n < most && is_plain &&
           r->text_bytes <= 4 * r->u.file_bytes + 4096) {
        for (size_t i = 0; is_plain && i < part->n_fields; i++) {
            const int column = t->column[i];
            const struct cell *c = column == ROWID_COLUMN ? &rowid : column == NO_COLUMN ? &none : &cell[column];
            is_plain = put_cell(r, c, &part->field[i], at[i]);
            at[i] += width_of[part->field[i].kind];
        }
        n++;
    }
    rows_fini(&rows);
    memcpy(to, &n, sizeof n);
    return state == ROWS_END && is_plain && n == most;
}

/* Fills the columns of `to`, whose first member is its number of rows. *is_there: the table exists. */
static bool read_part(struct reader *r, const struct db_part *part, void *to, bool *is_there)
{
    size_t most = 0, n = 0;
    if (!untrusted_db_look(&r->u, part->table, is_there))
        return failed(r);
    struct plain_table t;
    const bool is_plain =
        *is_there && plain_table(r, part, &t) && rows_count(&r->pages, t.root, &most) && most < NO_ROW;
    if (!*is_there || (!is_plain && !count_rows(r, part->table, &most)))
        return r->e->fault == FAULT_NONE;
    for (size_t i = 0; i < part->n_fields; i++) {
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

static bool read_numbered(struct reader *r, const char *table, const char *text, struct numbered *out)
{
    struct {
        size_t n;
        int64_t *id;
        name_id *name;
    } rows = { 0 };
    const struct db_field field[] = { { "id", VALUE_I64, offsetof(__typeof__(rows), id), -1 },
                                      { text, VALUE_TEXT, offsetof(__typeof__(rows), name), 0 } };
    bool is_there;
    if (!read_part(r, &(struct db_part){ table, FIELDS(field) }, &rows, &is_there))
        return false;
    out->name = rows.name;
    return rows_by_init(r, &out->by, rows.id, rows.n);
}

/* Columns of a part in ascending order of a key. */
static bool sort_part(struct reader *r, const struct db_part *part, void *to, const int64_t *key)
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

/* Reads and sorts, and sets the bit of a part that is there. */
static bool load_part(struct reader *r, enum rank_part bit, const struct db_part *part, void *to, int64_t *const *key)
{
    bool is_there;
    if (!read_part(r, part, to, &is_there))
        return false;
    if (is_there)
        r->rank->has |= bit;
    return !is_there || !key || sort_part(r, part, to, *key);
}

#define IN(type, member) offsetof(struct type, member)

static bool load_steps(struct reader *r)
{
    static const struct db_field field[] = { { "id", VALUE_I64, IN(rank_steps, id), 0 },
                                             { "startNs", VALUE_TIME, IN(rank_steps, begin_ns), 0 },
                                             { "endNs", VALUE_TIME, IN(rank_steps, end_ns), 0 } };
    struct rank_steps *t = &r->rank->steps;
    return load_part(r, RANK_STEPS, &(struct db_part){ "STEP_TIME", FIELDS(field) }, t, &t->begin_ns);
}

static bool load_calls(struct reader *r)
{
    static const struct db_field field[] = {
        { "name", VALUE_STRING, IN(rank_calls, name), 0 },
        { "type", VALUE_API, IN(rank_calls, type), 0 },
        { "startNs", VALUE_TIME, IN(rank_calls, begin_ns), 0 },
        { "endNs", VALUE_TIME, IN(rank_calls, end_ns), 0 },
        { "globalTid", VALUE_U64, IN(rank_calls, thread), 0 },
        { "connectionId", VALUE_U64, IN(rank_calls, connection), -1 },
    };
    struct rank_calls *t = &r->rank->calls;
    return read_numbered(r, "ENUM_API_TYPE", "name", &r->apis) &&
           load_part(r, RANK_CALLS, &(struct db_part){ "CANN_API", FIELDS(field) }, t, &t->begin_ns);
}

static bool load_marks(struct reader *r)
{
    static const struct db_field field[] = {
        { "message", VALUE_STRING, IN(rank_marks, message), 0 },
        { "domainId", VALUE_STRING, IN(rank_marks, domain), 0 },
        { "startNs", VALUE_TIME, IN(rank_marks, begin_ns), 0 },
        { "endNs", VALUE_TIME, IN(rank_marks, end_ns), 0 },
        { "eventType", VALUE_U8, IN(rank_marks, event_type), 0 },
        { "globalTid", VALUE_U64, IN(rank_marks, thread), 0 },
        { "connectionId", VALUE_U64, IN(rank_marks, connection), UINT32_MAX },
    };
    struct rank_marks *t = &r->rank->marks;
    return load_part(r, RANK_MARKS, &(struct db_part){ "MSTX_EVENTS", FIELDS(field) }, t, &t->begin_ns);
}

static bool load_clock(struct reader *r)
{
    static const struct db_field field[] = { { "timestampNs", VALUE_TIME, IN(rank_clock, time_ns), 0 },
                                             { "freq", VALUE_I64, IN(rank_clock, mhz), 0 } };
    struct rank_clock *t = &r->rank->clock;
    return load_part(r, RANK_CLOCK, &(struct db_part){ "AICORE_FREQ", FIELDS(field) }, t, &t->time_ns);
}

struct db_tasks {
    struct rank_tasks t;
    int64_t *id; /* globalTaskId */
};
struct db_kernels {
    struct rank_kernels k;
    int64_t *id;
};

static bool load_tasks(struct reader *r)
{
    static const struct db_field field[] = {
        { "taskType", VALUE_STRING, IN(db_tasks, t.type), 0 },
        { "startNs", VALUE_TIME, IN(db_tasks, t.begin_ns), 0 },
        { "endNs", VALUE_TIME, IN(db_tasks, t.end_ns), 0 },
        { "connectionId", VALUE_U64, IN(db_tasks, t.connection), UINT32_MAX },
        { "streamId", VALUE_U32, IN(db_tasks, t.stream), 0 },
        { "globalTaskId", VALUE_I64, IN(db_tasks, id), -1 },
    };
    static const struct db_field kernel_field[] = {
        { "name", VALUE_STRING, IN(db_kernels, k.name), 0 },
        { "opType", VALUE_STRING, IN(db_kernels, k.op_type), 0 },
        { "taskType", VALUE_STRING, IN(db_kernels, k.task_type), 0 },
        { "inputShapes", VALUE_STRING, IN(db_kernels, k.input_shapes), 0 },
        { "inputDataTypes", VALUE_STRING, IN(db_kernels, k.input_types), 0 },
        { "outputShapes", VALUE_STRING, IN(db_kernels, k.output_shapes), 0 },
        { "inputFormats", VALUE_STRING, IN(db_kernels, k.input_formats), 0 },
        { "outputFormats", VALUE_STRING, IN(db_kernels, k.output_formats), 0 },
        { "blockDim", VALUE_U32, IN(db_kernels, k.block_dim), 0 },
        { "globalTaskId", VALUE_I64, IN(db_kernels, id), -2 },
    };
    struct db_tasks tasks = { 0 };
    struct db_kernels kernels = { 0 };
    struct rows_by by;
    bool has_kernels;
    if (!load_part(r, RANK_TASKS, &(struct db_part){ "TASK", FIELDS(field) }, &tasks, &tasks.t.begin_ns) ||
        !read_part(r, &(struct db_part){ "COMPUTE_TASK_INFO", FIELDS(kernel_field) }, &kernels, &has_kernels) ||
        !rows_by_init(r, &by, kernels.id, kernels.k.n))
        return false;
    tasks.t.kernel = arena_take(r->mem, tasks.t.n, sizeof *tasks.t.kernel);
    if (!tasks.t.kernel)
        return error_no_memory(r->e, r->path);
    for (size_t i = 0; i < tasks.t.n; i++) /* tasks of a graph have one id for all its runs */
        tasks.t.kernel[i] = row_of(&by, tasks.id[i]);
    r->rank->tasks = tasks.t;
    r->rank->kernels = kernels.k;
    return true;
}

struct db_collectives {
    struct rank_collectives c;
    int64_t *id; /* opId */
};
struct db_comm_tasks {
    size_t n;
    int64_t *op, *src, *dst;
    name_id *type;
};

/* Of a send or receive: the ranks of its tasks that wait for or notify the other side, where all of them agree. */
static bool load_peers(struct reader *r, struct db_collectives *c)
{
    static const struct db_field field[] = {
        { "opId", VALUE_I64, IN(db_comm_tasks, op), -1 },
        { "srcRank", VALUE_I64, IN(db_comm_tasks, src), -1 },
        { "dstRank", VALUE_I64, IN(db_comm_tasks, dst), -1 },
        { "taskType", VALUE_STRING, IN(db_comm_tasks, type), 0 },
    };
    struct db_comm_tasks tasks = { 0 };
    struct rows_by by;
    bool is_there;
    if (!read_part(r, &(struct db_part){ "COMMUNICATION_TASK_INFO", FIELDS(field) }, &tasks, &is_there) ||
        !rows_by_init(r, &by, c->id, c->c.n))
        return false;
    const name_id record = names_addz(r->rank->names, "Notify_Record"),
                  wait = names_addz(r->rank->names, "Notify_Wait");
    for (size_t i = 0; i < tasks.n; i++) {
        const uint32_t op = row_of(&by, tasks.op[i]);
        if (op == NO_ROW || (tasks.type[i] != record && tasks.type[i] != wait) || c->c.dst[op] == -2)
            continue;
        const bool is_same = c->c.dst[op] == -1 || (c->c.dst[op] == tasks.dst[i] && c->c.src[op] == tasks.src[i]);
        c->c.src[op] = is_same ? tasks.src[i] : -2;
        c->c.dst[op] = is_same ? tasks.dst[i] : -2;
    }
    for (size_t i = 0; i < c->c.n; i++)
        if (c->c.dst[i] == -2 || c->c.dst[i] < 0)
            c->c.src[i] = c->c.dst[i] = -1;
    return true;
}

static bool load_collectives(struct reader *r)
{
    static const struct db_field field[] = {
        { "opName", VALUE_STRING, IN(db_collectives, c.name), 0 },
        { "groupName", VALUE_STRING, IN(db_collectives, c.group), 0 },
        { "opType", VALUE_STRING, IN(db_collectives, c.type), 0 },
        { "dataType", VALUE_TYPE, IN(db_collectives, c.data_type), 0 },
        { "startNs", VALUE_TIME, IN(db_collectives, c.begin_ns), 0 },
        { "endNs", VALUE_TIME, IN(db_collectives, c.end_ns), 0 },
        { "connectionId", VALUE_U64, IN(db_collectives, c.connection), -1 },
        { "count", VALUE_REAL, IN(db_collectives, c.count), -1 },
        { "opId", VALUE_I64, IN(db_collectives, id), -1 },
    };
    struct db_collectives c = { 0 };
    if (!read_numbered(r, "ENUM_HCCL_DATA_TYPE", "name", &r->types) ||
        !load_part(r, RANK_COLLECTIVES, &(struct db_part){ "COMMUNICATION_OP", FIELDS(field) }, &c, &c.c.begin_ns))
        return false;
    c.c.launch_ns = arena_take(r->mem, c.c.n, sizeof *c.c.launch_ns);
    c.c.src = arena_take(r->mem, c.c.n, sizeof *c.c.src);
    c.c.dst = arena_take(r->mem, c.c.n, sizeof *c.c.dst);
    if (!c.c.launch_ns || !c.c.src || !c.c.dst)
        return error_no_memory(r->e, r->path);
    for (size_t i = 0; i < c.c.n; i++) {
        c.c.launch_ns[i] = INT64_MIN;
        c.c.src[i] = c.c.dst[i] = -1;
    }
    const bool done = load_peers(r, &c);
    r->rank->collectives = c.c;
    return done;
}

/* The begin of the call that launched each collective, by its connection. */
static bool load_launches(struct reader *r)
{
    struct rank_collectives *c = &r->rank->collectives;
    const struct rank_calls *calls = &r->rank->calls;
    struct rows_by by;
    if (!rows_by_init(r, &by, (const int64_t *)calls->connection, calls->n))
        return false;
    for (size_t i = 0; i < c->n; i++) {
        const bool is_connected = c->connection[i] != CONNECTION_NONE && c->connection[i] != UINT64_MAX;
        const uint32_t call = is_connected ? row_of(&by, (int64_t)c->connection[i]) : NO_ROW;
        c->launch_ns[i] = call == NO_ROW ? INT64_MIN : calls->begin_ns[call];
    }
    return true;
}

struct db_ops {
    struct rank_ops o;
    int64_t *set; /* of connections: id in CONNECTION_IDS */
};
struct db_links {
    size_t n;
    int64_t *set;
    uint64_t *connection;
};

static bool load_ops(struct reader *r)
{
    static const struct db_field field[] = {
        { "name", VALUE_STRING, IN(db_ops, o.name), 0 },    { "startNs", VALUE_TIME, IN(db_ops, o.begin_ns), 0 },
        { "endNs", VALUE_TIME, IN(db_ops, o.end_ns), 0 },   { "globalTid", VALUE_U64, IN(db_ops, o.thread), 0 },
        { "connectionId", VALUE_I64, IN(db_ops, set), -1 },
    };
    static const struct db_field link_field[] = {
        { "id", VALUE_I64, IN(db_links, set), -2 },
        { "connectionId", VALUE_U64, IN(db_links, connection), -1 },
    };
    struct db_ops ops = { 0 };
    struct db_links links = { 0 };
    struct rows_by by;
    bool has_links;
    const struct db_part link_part = { "CONNECTION_IDS", FIELDS(link_field) };
    if (!load_part(r, RANK_OPS, &(struct db_part){ "PYTORCH_API", FIELDS(field) }, &ops, &ops.o.begin_ns) ||
        !read_part(r, &link_part, &links, &has_links) ||
        !sort_part(r, &link_part, &links, (const int64_t *)links.connection) || !rows_by_init(r, &by, ops.set, ops.o.n))
        return false;
    struct rank_op_links l = { .connection = links.connection, .op = arena_take(r->mem, links.n, sizeof *l.op) };
    if (!l.op)
        return error_no_memory(r->e, r->path);
    for (size_t i = 0; i < links.n; i++) {
        const uint32_t op = row_of(&by, links.set[i]);
        if (op == NO_ROW)
            continue;
        l.connection[l.n] = links.connection[i];
        l.op[l.n++] = op;
    }
    r->rank->ops = ops.o;
    r->rank->op_links = l;
    return true;
}

static bool load_step_trace(struct reader *r)
{
#define STEP_FIELD(name, column)                                                                                       \
    {                                                                                                                  \
        name, VALUE_REAL, IN(rank_step_trace, us) + (column) * sizeof(double *), 0                                     \
    }
    static const struct db_field field[] = {
        { "step", VALUE_TEXT, IN(rank_step_trace, step), 0 },
        STEP_FIELD("computing", STEP_COLUMN_COMPUTING),
        STEP_FIELD("communication_not_overlapped", STEP_COLUMN_EXPOSED),
        STEP_FIELD("overlapped", STEP_COLUMN_OVERLAPPED),
        STEP_FIELD("communication", STEP_COLUMN_COMMUNICATION),
        STEP_FIELD("free", STEP_COLUMN_FREE),
        STEP_FIELD("stage", STEP_COLUMN_STAGE),
        STEP_FIELD("bubble", STEP_COLUMN_BUBBLE),
        STEP_FIELD("communication_not_overlapped_and_exclude_receive", STEP_COLUMN_EXPOSED_NO_RECEIVE),
        STEP_FIELD("preparing", STEP_COLUMN_PREPARING),
    };
    return load_part(r, RANK_STEP_TRACE, &(struct db_part){ "StepTraceTime", FIELDS(field) }, &r->rank->step_trace,
                     NULL);
}

/* Databases of msprof and MindSpore know no steps here: all of it is one, which is called "step". */
static void one_step(struct reader *r, const char *table, name_id *step, size_t n)
{
    const name_id name = has_column(r, table, "step") ? NAME_EMPTY : names_addz(r->rank->names, "step");
    for (size_t i = 0; name != NAME_EMPTY && i < n; i++)
        step[i] = name;
}

static bool load_comm_tables(struct reader *r)
{
    static const struct db_field time_field[] = {
        { "hccl_op_name", VALUE_TEXT, IN(rank_comm_time, op), 0 },
        { "group_name", VALUE_TEXT, IN(rank_comm_time, group), 0 },
        { "step", VALUE_TEXT, IN(rank_comm_time, step), 0 },
        { "type", VALUE_TEXT, IN(rank_comm_time, type), 0 },
        { "start_timestamp", VALUE_REAL, IN(rank_comm_time, start_us), 0 },
        { "elapse_time", VALUE_REAL, IN(rank_comm_time, elapse_ms), 0 },
        { "transit_time", VALUE_REAL, IN(rank_comm_time, transit_ms), 0 },
        { "wait_time", VALUE_REAL, IN(rank_comm_time, wait_ms), 0 },
        { "synchronization_time", VALUE_REAL, IN(rank_comm_time, synchronization_ms), 0 },
        { "idle_time", VALUE_REAL, IN(rank_comm_time, idle_ms), 0 },
    };
    static const struct db_field band_field[] = {
        { "hccl_op_name", VALUE_TEXT, IN(rank_comm_bandwidth, op), 0 },
        { "group_name", VALUE_TEXT, IN(rank_comm_bandwidth, group), 0 },
        { "step", VALUE_TEXT, IN(rank_comm_bandwidth, step), 0 },
        { "type", VALUE_TEXT, IN(rank_comm_bandwidth, type), 0 },
        { "transport_type", VALUE_TEXT, IN(rank_comm_bandwidth, transport), 0 },
        { "transit_size", VALUE_REAL, IN(rank_comm_bandwidth, transit_mb), 0 },
        { "transit_time", VALUE_REAL, IN(rank_comm_bandwidth, transit_ms), 0 },
        { "bandwidth", VALUE_REAL, IN(rank_comm_bandwidth, gbs), 0 },
        { "large_packet_ratio", VALUE_REAL, IN(rank_comm_bandwidth, large_packet_ratio), 0 },
        { "package_size", VALUE_REAL, IN(rank_comm_bandwidth, package_mb), 0 },
        { "count", VALUE_REAL, IN(rank_comm_bandwidth, count), 0 },
        { "total_duration", VALUE_REAL, IN(rank_comm_bandwidth, total_ms), 0 },
    };
    struct rank_comm_time *t = &r->rank->comm_time;
    bool has_bandwidth;
    if (!load_part(r, RANK_COMM_TABLES, &(struct db_part){ "CommAnalyzerTime", FIELDS(time_field) }, t, NULL) ||
        !read_part(r, &(struct db_part){ "CommAnalyzerBandwidth", FIELDS(band_field) }, &r->rank->comm_bandwidth,
                   &has_bandwidth))
        return false;
    one_step(r, "CommAnalyzerTime", t->step, t->n);
    one_step(r, "CommAnalyzerBandwidth", r->rank->comm_bandwidth.step, r->rank->comm_bandwidth.n);
    t->wait_ratio = arena_take(r->mem, t->n, sizeof *t->wait_ratio);
    t->synchronization_ratio = arena_take(r->mem, t->n, sizeof *t->synchronization_ratio);
    if (!t->wait_ratio || !t->synchronization_ratio)
        return error_no_memory(r->e, r->path);
    for (size_t i = 0; i < t->n; i++)
        t->wait_ratio[i] = t->synchronization_ratio[i] = (double)NAN;
    return true;
}

static bool load_comm_matrix(struct reader *r)
{
    static const struct db_field field[] = {
        { "hccl_op_name", VALUE_TEXT, IN(rank_comm_matrix, op), 0 },
        { "group_name", VALUE_TEXT, IN(rank_comm_matrix, group), 0 },
        { "step", VALUE_TEXT, IN(rank_comm_matrix, step), 0 },
        { "type", VALUE_TEXT, IN(rank_comm_matrix, type), 0 },
        { "transport_type", VALUE_TEXT, IN(rank_comm_matrix, transport), 0 },
        { "op_name", VALUE_TEXT, IN(rank_comm_matrix, op_name), 0 },
        { "src_rank", VALUE_I64, IN(rank_comm_matrix, src), -1 },
        { "dst_rank", VALUE_I64, IN(rank_comm_matrix, dst), -1 },
        { "transit_size", VALUE_REAL, IN(rank_comm_matrix, transit_mb), 0 },
        { "transit_time", VALUE_REAL, IN(rank_comm_matrix, transit_ms), 0 },
        { "bandwidth", VALUE_REAL, IN(rank_comm_matrix, gbs), 0 },
    };
    static const char table[] = "CommAnalyzerMatrix";
    struct rank_comm_matrix *const m = &r->rank->comm_matrix;
    if (!load_part(r, RANK_COMM_MATRIX, &(struct db_part){ table, FIELDS(field) }, m, NULL))
        return false;
    one_step(r, table, m->step, m->n);
    return has_column(r, table, "op_name") || links_by_kind(m, r->rank->names, r->mem) ||
           error_no_memory(r->e, r->path);
}

/* Who it is: small tables, of which the first rows count. */
static bool load_identity(struct reader *r)
{
    struct {
        size_t n;
        name_id *a, *b;
    } texts = { 0 };
    struct {
        size_t n;
        int64_t *rank, *device;
    } map = { 0 };
#define TEXTS(a_name, b_name)                                                                                          \
    (const struct db_field[])                                                                                          \
    {                                                                                                                  \
        { a_name, VALUE_TEXT, offsetof(__typeof__(texts), a), 0 },                                                     \
        {                                                                                                              \
            b_name, VALUE_TEXT, offsetof(__typeof__(texts), b), 0                                                      \
        }                                                                                                              \
    }
    const struct db_field map_field[] = { { "rankId", VALUE_I64, offsetof(__typeof__(map), rank), -1 },
                                          { "deviceId", VALUE_I64, offsetof(__typeof__(map), device), -1 } };
    struct rank_identity *id = &r->rank->identity;
    const struct names *names = r->rank->names;
    bool is_there;
    if (!read_part(r, &(struct db_part){ "HOST_INFO", TEXTS("hostUid", "hostName"), 2 }, &texts, &is_there))
        return false;
    if (texts.n > 0) {
        id->host_uid = names_text(names, texts.a[0]);
        id->host_name = names_text(names, texts.b[0]);
    }
    if (!read_part(r, &(struct db_part){ "RANK_DEVICE_MAP", FIELDS(map_field) }, &map, &is_there))
        return false;
    if (map.n > 0) {
        id->has_device = true;
        id->device = map.device[0];
    }
    texts.n = 0;
    if (!read_part(r, &(struct db_part){ "META_DATA", TEXTS("name", "value"), 2 }, &texts, &is_there))
        return false;
    for (size_t i = 0; i < texts.n; i++) {
        if (strcmp(names_text(names, texts.a[i]), "distributed_args") == 0)
            id->distributed_args = names_text(names, texts.b[i]);
        else if (strcmp(names_text(names, texts.a[i]), "parallel_group_info") == 0)
            id->parallel_group_info = names_text(names, texts.b[i]);
        else if (strcmp(names_text(names, texts.a[i]), "pp_info") == 0)
            id->pp_info = names_text(names, texts.b[i]);
    }
    return true;
}

/* Collectives need the calls that launched them. */
static const struct {
    unsigned parts;
    bool (*load)(struct reader *r);
} loads[] = {
    { RANK_STEPS, load_steps },
    { RANK_STEP_TRACE, load_step_trace }, /* MindSpore's */
    { RANK_CALLS | RANK_COLLECTIVES, load_calls },
    { RANK_TASKS, load_tasks },
    { RANK_COLLECTIVES, load_collectives },
    { RANK_COLLECTIVES, load_launches },
    { RANK_OPS, load_ops },
    { RANK_MARKS, load_marks },
    { RANK_CLOCK, load_clock },
}, comm_loads[] = {
    { RANK_STEP_TRACE, load_step_trace },
    { RANK_COMM_TABLES, load_comm_tables },
    { RANK_COMM_MATRIX, load_comm_matrix },
};

bool rank_db_load(const struct job_rank *from, unsigned parts, struct rank *out, struct error *e)
{
    const unsigned of_timeline =
        RANK_STEPS | RANK_CALLS | RANK_TASKS | RANK_COLLECTIVES | RANK_OPS | RANK_MARKS | RANK_CLOCK;
    struct reader r = { .rank = out, .mem = out->mem, .e = e };
    out->identity.framework = from->framework;
    bool done = true;
    if (from->db) {
        done = reader_open(&r, from->db) && load_identity(&r);
        if (done && (parts & of_timeline))
            done = read_numbered(&r, "STRING_IDS", "value", &r.strings);
        for (size_t i = 0; done && i < sizeof loads / sizeof *loads; i++)
            if (parts & loads[i].parts)
                done = loads[i].load(&r);
        reader_close(&r);
    }
    const char *comm = from->comm ? from->comm : from->db; /* msmonitor and newer ones have all in one */
    if (done && comm && (parts & (RANK_STEP_TRACE | RANK_COMM_TABLES | RANK_COMM_MATRIX))) {
        done = reader_open(&r, comm);
        for (size_t i = 0; done && i < sizeof comm_loads / sizeof *comm_loads; i++)
            if (parts & comm_loads[i].parts & ~out->has)
                done = comm_loads[i].load(&r);
        reader_close(&r);
    }
    return done && rank_text_metadata(from->path, out, e);
}
