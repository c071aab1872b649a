#include "base/db.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct db {
    sqlite3 *sql;
    char *path, *temp;
    struct names *names;
    uint32_t *id_of; /* by name_id: id + 1, 0 = not used yet */
    size_t n_id_of;
    LIST(name_id) used; /* in the order of their ids */
    name_id *quoted;    /* by name_id of a shape: the same in quotes */
    size_t n_quoted;
    LIST(const char *) indexes; /* "NAME ON TABLE (columns)" */
    struct arena *mem;
    uint64_t n_rows;
};

static bool failed(struct db *db, const char *what, struct error *e)
{
    return error_set(e, FAULT_IO, "%s: %s: %s", db->path, what, db->sql ? sqlite3_errmsg(db->sql) : "no memory");
}

static bool run(struct db *db, const char *sql, struct error *e)
{
    return sqlite3_exec(db->sql, sql, NULL, NULL, NULL) == SQLITE_OK || failed(db, sql, e);
}

/* No journal and no sync: the file has no name that anyone looks at until it is complete. */
static const char settings[] = "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
                               "PRAGMA cache_size=-8192; BEGIN";

struct db *db_open(const char *path, struct names *names, struct error *e)
{
    struct db *db = calloc(1, sizeof *db);
    if (!db) {
        error_set(e, FAULT_LIMIT, "%s: no memory for the database", path);
        return NULL;
    }
    db->names = names;
    db->mem = arena_new();
    db->path = strdup(path);
    const size_t size = strlen(path) + 32;
    db->temp = malloc(size);
    if (!db->mem || !db->path || !db->temp) {
        error_set(e, FAULT_LIMIT, "%s: no memory for the database", path);
        db_discard(db);
        return NULL;
    }
    snprintf(db->temp, size, "%s.part-%ld", path, (long)getpid());
    /* SQLite would create it with the umask's mode; results are 0640. */
    const int fd = open(db->temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (fd < 0) {
        error_set(e, FAULT_IO, "%s: cannot be created: %s", path, strerror(errno));
        db_discard(db);
        return NULL;
    }
    close(fd);
    if (sqlite3_open_v2(db->temp, &db->sql, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK ||
        !run(db, settings, e)) {
        failed(db, "cannot be opened", e);
        db_discard(db);
        return NULL;
    }
    return db;
}

uint32_t db_string(struct db *db, name_id name)
{
    if (name >= db->n_id_of) {
        const size_t more = ((size_t)name + 1) * 2;
        uint32_t *bigger = realloc(db->id_of, more * sizeof *bigger);
        if (!bigger)
            return 0;
        memset(bigger + db->n_id_of, 0, (more - db->n_id_of) * sizeof *bigger);
        db->id_of = bigger;
        db->n_id_of = more;
    }
    if (db->id_of[name] == 0) {
        name_id *slot = list_add(&db->used, db->mem);
        if (!slot)
            return 0;
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
    if (shape >= db->n_quoted) {
        const size_t more = ((size_t)shape + 1) * 2;
        name_id *bigger = realloc(db->quoted, more * sizeof *bigger);
        if (!bigger)
            return 0;
        memset(bigger + db->n_quoted, 0, (more - db->n_quoted) * sizeof *bigger);
        db->quoted = bigger;
        db->n_quoted = more;
    }
    if (db->quoted[shape] == NAME_EMPTY) {
        char *text = arena_take(db->mem, len + 2, 1);
        if (!text)
            return 0;
        text[0] = text[len + 1] = '"';
        memcpy(text + 1, names_text(db->names, shape), len);
        db->quoted[shape] = names_add(db->names, text, len + 2);
    }
    return db_string(db, db->quoted[shape]);
}

static int bind(struct db *db, sqlite3_stmt *s, int at, struct cell c, bool is_text)
{
    switch (c.kind) {
    case CELL_INT:
    case CELL_TIME:
    case CELL_US: return sqlite3_bind_int64(s, at, c.i);
    case CELL_UINT: return sqlite3_bind_int64(s, at, (int64_t)c.u);
    case CELL_REAL: return sqlite3_bind_double(s, at, c.f);
    case CELL_SHAPE: return sqlite3_bind_int64(s, at, shape_string(db, c.name));
    case CELL_NAME:
    case CELL_TEXT:
        if (is_text && c.kind == CELL_TEXT)
            return sqlite3_bind_text(s, at, c.text, -1, SQLITE_STATIC);
        if (is_text)
            return sqlite3_bind_text64(s, at, names_text(db->names, c.name), names_len(db->names, c.name),
                                       SQLITE_STATIC, SQLITE_UTF8);
        return sqlite3_bind_int64(s, at, db_string(db, c.kind == CELL_TEXT ? names_addz(db->names, c.text) : c.name));
    default: return sqlite3_bind_null(s, at);
    }
}

/* Starting a statement costs SQLite more than a row does: 64 rows at a time take 40 % of the time. */
enum { MOST_COLUMNS = 64, ROWS_AT_ONCE = 64, MOST_PARAMETERS = 512 };

static sqlite3_stmt *prepare_insert(struct db *db, const struct db_table *t, size_t n_rows, struct error *e)
{
    char sql[4096];
    size_t at = (size_t)snprintf(sql, sizeof sql / 2, "INSERT INTO %s VALUES ", t->name);
    for (size_t r = 0; r < n_rows; r++)
        for (size_t c = 0; c < t->n_columns; c++) { /* two bytes for each of the parameters, and two for each row */
            sql[at++] = c > 0 ? ',' : r > 0 ? ',' : ' ';
            if (c == 0)
                sql[at++] = '(';
            sql[at++] = '?';
            if (c + 1 == t->n_columns)
                sql[at++] = ')';
        }
    sql[at] = 0;
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL) != SQLITE_OK)
        failed(db, t->name, e);
    return s;
}

static struct cell cell_of(const struct db_table *t, size_t row, size_t column)
{
    return t->grid  ? t->grid[row * t->n_columns + column]
           : t->get ? t->get(t->rows, row, column)
                    : t->column[column].get(t->rows, row);
}

static bool insert_rows(struct db *db, const struct db_table *t, size_t first, size_t n_rows, size_t at_once,
                        struct error *e)
{
    bool is_text[MOST_COLUMNS];
    for (size_t c = 0; c < t->n_columns; c++)
        is_text[c] = strcmp(t->column[c].type, "TEXT") == 0;
    sqlite3_stmt *s = n_rows > 0 ? prepare_insert(db, t, at_once, e) : NULL;
    bool done = s || n_rows == 0;
    for (size_t r = first; done && r < first + n_rows; r += at_once) {
        int parameter = 0, ok = SQLITE_OK;
        for (size_t k = r; k < r + at_once; k++)
            for (size_t c = 0; c < t->n_columns && ok == SQLITE_OK; c++)
                ok = bind(db, s, ++parameter, cell_of(t, k, c), is_text[c]);
        done = (ok == SQLITE_OK && sqlite3_step(s) == SQLITE_DONE) || failed(db, t->name, e);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return done;
}

static bool rows(struct db *db, const struct db_table *t, struct error *e)
{
    const size_t fit = MOST_PARAMETERS / t->n_columns, at_once = fit < ROWS_AT_ONCE ? fit : ROWS_AT_ONCE;
    const size_t whole = t->n_rows / at_once * at_once;
    return insert_rows(db, t, 0, whole, at_once, e) && insert_rows(db, t, whole, t->n_rows - whole, 1, e);
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

static bool make_indexes(struct db *db, struct error *e)
{
    char sql[512];
    for (size_t i = 0; i < db->indexes.n; i++) {
        snprintf(sql, sizeof sql, "CREATE INDEX %s", db->indexes.at[i]);
        if (!run(db, sql, e))
            return false;
    }
    return true;
}

uint64_t db_rows(const struct db *db)
{
    return db->n_rows;
}

bool db_table(struct db *db, const struct db_table *t, struct error *e)
{
    assert(t->n_columns <= MOST_COLUMNS);
    if (t->n_rows == 0 && !t->is_made_empty)
        return true;
    char create[4096];
    int a = snprintf(create, sizeof create, "CREATE TABLE IF NOT EXISTS %s (", t->name);
    for (size_t c = 0; c < t->n_columns; c++) {
        const char *comma = c + 1 < t->n_columns ? ", " : ")";
        a += snprintf(create + a, sizeof create - (size_t)a, "%s %s%s", t->column[c].name, t->column[c].type, comma);
    }
    const bool done = run(db, create, e) && rows(db, t, e);
    db->n_rows += done ? t->n_rows : 0;
    return done && add_index(db, t->index);
}

static struct cell string_id(const void *rows, size_t row)
{
    (void)rows;
    return cell_uint(row);
}

static struct cell string_value(const void *rows, size_t row)
{
    return cell_name(((const struct db *)rows)->used.at[row]);
}

bool db_close(struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        {"id",     "INTEGER PRIMARY KEY", string_id   },
        { "value", "TEXT",                string_value}
    };
    const struct db_table strings = {
        .name = "STRING_IDS", .column = column, .n_columns = 2, .n_rows = db->used.n, .rows = db
    };
    bool done = db_table(db, &strings, e) && make_indexes(db, e) && run(db, "COMMIT", e);
    if (done && sqlite3_close(db->sql) != SQLITE_OK)
        done = failed(db, "cannot be closed", e);
    else if (done)
        db->sql = NULL;
    if (done && rename(db->temp, db->path) != 0)
        done = error_set(e, FAULT_IO, "%s: cannot get its final name: %s", db->path, strerror(errno));
    if (done) {
        free(db->temp);
        db->temp = NULL;
    }
    db_discard(db);
    return done;
}

void db_discard(struct db *db)
{
    if (!db)
        return;
    sqlite3_close(db->sql);
    if (db->temp)
        unlink(db->temp);
    arena_free(db->mem);
    free(db->id_of);
    free(db->quoted);
    free(db->temp);
    free(db->path);
    free(db);
}
