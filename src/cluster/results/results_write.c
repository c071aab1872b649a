/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/results/results.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/destination.h"
#include "base/files/durable.h"
#include "base/files/file.h"
#include "base/files/outdir.h"
#include "base/sqlite/sqlite_descriptor.h"
#include "base/sqlite/sqlite_file.h"
#include "base/sqlite/untrusted_db.h"

struct text_file {
    struct out out;
    const char *path;
    uint64_t rows;
    bool is_open;
};

struct table_sink {
    const char *name;
    const struct result_column *column;
    size_t n_columns;
    struct text_file *csv; /* NULL: none is wanted */
    sqlite3_stmt *insert;  /* NULL: as well */
    bool is_python;        /* lines end as those of Python's csv */
};

struct results_writer {
    struct results_request r;
    sqlite3 *db;
    struct leftover half; /* of the database */
    const char *db_path;
    uint64_t db_rows;
    LIST(struct text_file *) texts;
    LIST(struct table_sink *) sinks;
    LIST(struct results_file) files;
    struct arena *mem;
    int lock;
};

static bool no_memory(const struct results_writer *w, struct error *e)
{
    return error_no_memory(e, w->r.dir);
}

struct results_writer *writer_open(const struct results_request *r, struct error *e)
{
    struct arena *mem = arena_new();
    struct results_writer *w = mem ? arena_take(mem, 1, sizeof *w) : NULL;
    if (!w) {
        error_no_memory(e, r->dir);
        arena_free(mem);
        return NULL;
    }
    *w = (struct results_writer){ .r = *r, .mem = mem };
    w->lock = outdir_lock(r->dir, OUTDIR_PATIENCE_MS, e);
    if (w->lock < 0) {
        arena_free(mem);
        return NULL;
    }
    leftovers_sweep(r->dir);
    return w;
}

static bool no_database(const struct results_writer *w, struct error *e)
{
    return error_set(e, FAULT_FORMAT,
                     "%s: not a database that SQLite can read; remove it, or write elsewhere with --out", w->db_path);
}

static bool db_failed(struct results_writer *w, struct error *e)
{
    const int code = w->db ? sqlite3_errcode(w->db) : SQLITE_NOMEM;
    if ((code & 0xFF) == SQLITE_NOMEM)
        return no_memory(w, e);
    if ((code & 0xFF) == SQLITE_NOTADB || (code & 0xFF) == SQLITE_CORRUPT)
        return no_database(w, e);
    return error_set(e, FAULT_IO, "%s: cannot be written: %s; make room there, or write elsewhere with --out",
                     w->db_path, sqlite3_errmsg(w->db));
}

/* What is there already, other tables of which stay. */
static bool copy_existing(struct results_writer *w, int to, struct error *e)
{
    struct stat st;
    int why;
    const int from = w->r.is_new ? -1 : file_open(AT_FDCWD, w->db_path, &st, &why);
    if (from < 0)
        return w->r.is_new || why == ENOENT ||
               error_set(e, FAULT_IO, "%s: cannot be read: %s", w->db_path, read_trouble(why));
    close(from);
    if (st.st_size == 0)
        return true;
    struct untrusted_db u;
    struct error damage = { 0 };
    if (!untrusted_db_open(&u, w->db_path, &damage))
        return damage.fault == FAULT_LIMIT ? no_memory(w, e) : no_database(w, e);
    why = untrusted_db_is_sound(&u) ? sqlite_file_copy(u.file, to) : NOT_A_FILE;
    untrusted_db_close(&u);
    return why == 0 ||
           (why == NOT_A_FILE ? no_database(w, e)
                              : error_set(e, FAULT_IO, "%s: cannot be written: %s", w->db_path, write_trouble(why)));
}

static bool db_open_once(struct results_writer *w, struct error *e)
{
    if (w->db)
        return true;
    w->db_path = arena_printf(w->mem, "%s/cluster_analysis.db", w->r.dir);
    if (!w->db_path)
        return no_memory(w, e);
    if (!destination_is_plain(w->db_path, e))
        return false;
    const int fd = leftover_file(&w->half, w->db_path);
    if (fd < 0)
        return error_set(e, FAULT_IO, "%s: cannot be written: %s", w->db_path, write_trouble(errno));
    const bool is_copied = copy_existing(w, fd, e);
    close(fd);
    if (!is_copied)
        return false;
    static const char set[] = "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=OFF; "
                              "PRAGMA synchronous=OFF; PRAGMA cache_size=-4096; BEGIN";
    /* Restricted afterwards: before, it could not be without a journal, which a run that fails would leave behind. */
    char uri[DESCRIPTOR_URI];
    descriptor_uri(uri, w->half.lock);
    if (sqlite3_open_v2(uri, &w->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL) !=
            SQLITE_OK ||
        sqlite3_exec(w->db, set, NULL, NULL, NULL) != SQLITE_OK || !untrusted_db_restrict(w->db))
        return db_failed(w, e);
    return true;
}

/* The table anew, and the statement that fills it. */
static bool db_table_begin(struct results_writer *w, struct table_sink *s, struct error *e)
{
    if (!db_open_once(w, e))
        return false;
    sqlite3_str *sql = sqlite3_str_new(w->db), *put = sqlite3_str_new(w->db);
    sqlite3_str_appendf(sql, "DROP TABLE IF EXISTS \"%w\"; CREATE TABLE \"%w\" (", s->name, s->name);
    sqlite3_str_appendf(put, "INSERT INTO \"%w\" VALUES (", s->name);
    for (size_t i = 0; i < s->n_columns; i++) {
        sqlite3_str_appendf(sql, "%s\"%w\" %s", i ? ", " : "", s->column[i].name, s->column[i].type);
        sqlite3_str_appendall(put, i ? ",?" : "?");
    }
    sqlite3_str_appendall(sql, ")");
    sqlite3_str_appendall(put, ")");
    char *create = sqlite3_str_finish(sql), *insert = sqlite3_str_finish(put);
    const bool done = create && insert && sqlite3_exec(w->db, create, NULL, NULL, NULL) == SQLITE_OK &&
                      sqlite3_prepare_v2(w->db, insert, -1, &s->insert, NULL) == SQLITE_OK;
    if (!done)
        create &&insert ? db_failed(w, e) : no_memory(w, e);
    sqlite3_free(create);
    sqlite3_free(insert);
    return done;
}

static struct text_file *text_open(struct results_writer *w, const char *folder, const char *name, struct error *e)
{
    struct text_file *f = arena_take(w->mem, 1, sizeof *f), **slot = f ? list_add(&w->texts, w->mem) : NULL;
    const char *dir = folder ? arena_printf(w->mem, "%s/%s", w->r.dir, folder) : w->r.dir;
    if (!slot || !dir || !(f->path = arena_printf(w->mem, "%s/%s", dir, name))) {
        no_memory(w, e);
        return NULL;
    }
    *slot = f;
    if (folder && !outdir_make_inside(dir, e))
        return NULL;
    f->is_open = out_open(&f->out, f->path, e);
    return f->is_open ? f : NULL;
}

static bool ends_in_ns(const char *name)
{
    const size_t n = strlen(name);
    return n > 2 && strcmp(name + n - 2, "Ns") == 0;
}

static void line_end(struct out *o, const struct table_sink *s)
{
    if (s->is_python)
        out_lit(o, "\r\n");
    else
        out_char(o, '\n');
}

static void csv_header(const struct table_sink *s, struct out *o)
{
    for (size_t i = 0; i < s->n_columns; i++) {
        const struct result_column *c = &s->column[i];
        const char *name = c->csv_name ? c->csv_name : c->name;
        if (i > 0)
            out_char(o, ',');
        if (c->csv_name || !ends_in_ns(name)) {
            out_csv(o, name, strlen(name));
        } else {
            out_bytes(o, name, strlen(name) - 2);
            out_lit(o, "(Us)");
        }
    }
    line_end(o, s);
}

/* Whether another mode of this run writes the table of this name: it has the same rows. */
static bool is_in_db(const struct results_writer *w, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < w->sinks.n; i++)
        found = found || (w->sinks.at[i]->insert && strcmp(w->sinks.at[i]->name, name) == 0);
    return found;
}

struct table_sink *writer_table(struct results_writer *w, const char *class_name, const struct result_table *t,
                                struct error *e)
{
    struct table_sink *s = arena_take(w->mem, 1, sizeof *s), **slot = s ? list_add(&w->sinks, w->mem) : NULL;
    if (!slot) {
        no_memory(w, e);
        return NULL;
    }
    *slot = s;
    *s = (struct table_sink){
        .name = t->name, .column = t->column, .n_columns = t->n_columns, .is_python = class_name == NULL
    };
    if (w->r.wants_text && t->file && (class_name || t->name == NULL)) {
        if (!(s->csv = text_open(w, class_name, t->file, e)))
            return NULL;
        csv_header(s, &s->csv->out);
    }
    if (t->name && (w->r.wants_db || t->is_always_db) && !is_in_db(w, t->name) && !db_table_begin(w, s, e))
        return NULL;
    return s;
}

static double results_write_number_of(struct cell c)
{
    switch (c.kind) {
    case CELL_INT: return (double)c.i;
    case CELL_UINT: return (double)c.u;
    case CELL_ROUND: return round_exact(c.f, c.digits);
    default: return c.f;
    }
}

static bool is_number(struct cell c)
{
    return c.kind == CELL_INT || c.kind == CELL_UINT || c.kind == CELL_REAL || c.kind == CELL_ROUND;
}

/* Microseconds since the epoch, all digits of them: "1717211066000950.2" has lost some. */
static size_t time_text(char out[32], int64_t ns)
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

static void csv_cell(const struct results_writer *w, const struct result_column *column, struct cell c, struct out *o)
{
    void (*const put)(struct out *, const char *, size_t) = w->r.csv_is_safe ? out_csv_safe : out_csv;
    char digits[32];
    const double divisor = column->csv_name ? column->csv_divisor : ends_in_ns(column->name) ? 1000 : 0;
    if (divisor > 0 && is_number(c)) {
        out_real(o, results_write_number_of(c) / divisor);
        return;
    }
    switch (c.kind) {
    case CELL_INT: out_i64(o, c.i); break;
    case CELL_UINT: out_u64(o, c.u); break;
    case CELL_REAL:
    case CELL_ROUND: out_real(o, results_write_number_of(c)); break;
    case CELL_US_SHORT: out_us_short(o, c.i); break;
    case CELL_TIME_BARE: out_bytes(o, digits, time_text(digits, c.i)); break;
    case CELL_NAME: put(o, names_text(w->r.names, c.name), names_len(w->r.names, c.name)); break;
    case CELL_TEXT: put(o, c.text, strlen(c.text)); break;
    default: break;
    }
}

/* Its text has no static life: SQLite copies those of numbers and takes the others as they are, until the row is in. */
static int db_cell(const struct results_writer *w, sqlite3_stmt *s, int at, struct cell c)
{
    char digits[32];
    switch (c.kind) {
    case CELL_INT: return sqlite3_bind_int64(s, at, c.i);
    case CELL_UINT:
        return c.u <= INT64_MAX ? sqlite3_bind_int64(s, at, (int64_t)c.u)
                                : sqlite3_bind_text(s, at, digits, (int)digits_put(digits, c.u), SQLITE_TRANSIENT);
    case CELL_REAL:
    case CELL_ROUND: return sqlite3_bind_double(s, at, results_write_number_of(c));
    case CELL_US_SHORT: return sqlite3_bind_double(s, at, (double)c.i / 1000);
    case CELL_TIME_BARE: return sqlite3_bind_text(s, at, digits, (int)time_text(digits, c.i), SQLITE_TRANSIENT);
    case CELL_NAME:
        return sqlite3_bind_text64(s, at, names_text(w->r.names, c.name), names_len(w->r.names, c.name), SQLITE_STATIC,
                                   SQLITE_UTF8);
    case CELL_TEXT: return sqlite3_bind_text64(s, at, c.text, strlen(c.text), SQLITE_STATIC, SQLITE_UTF8);
    default: return sqlite3_bind_null(s, at);
    }
}

static bool db_row(struct results_writer *w, struct table_sink *s, const struct cell *cells, struct error *e)
{
    int failed = SQLITE_OK;
    for (size_t i = 0; i < s->n_columns; i++)
        failed |= db_cell(w, s->insert, (int)i + 1, cells[i]);
    if (failed != SQLITE_OK || sqlite3_step(s->insert) != SQLITE_DONE)
        return db_failed(w, e);
    sqlite3_reset(s->insert);
    w->db_rows++;
    return true;
}

bool writer_rows(struct results_writer *w, struct table_sink *s, const struct cell *cells, size_t n_rows,
                 struct error *e)
{
    for (size_t row = 0; row < n_rows; row++, cells += s->n_columns) {
        for (size_t i = 0; s->csv && i < s->n_columns; i++) {
            if (i > 0)
                out_char(&s->csv->out, ',');
            csv_cell(w, &s->column[i], cells[i], &s->csv->out);
        }
        if (s->csv) {
            line_end(&s->csv->out, s);
            s->csv->rows++;
        }
        if (s->insert && !db_row(w, s, cells, e))
            return false;
    }
    return true;
}

bool writer_results(struct results_writer *w, const struct results *r, struct error *e)
{
    for (size_t i = 0; i < r->tables.n; i++) {
        const struct result_table *t = &r->tables.at[i];
        struct table_sink *s = writer_table(w, r->class_name, t, e);
        if (!s || !writer_rows(w, s, t->grid, t->n_rows, e))
            return false;
    }
    return true;
}

struct out *writer_text(struct results_writer *w, const char *name, struct error *e)
{
    struct text_file *f = w->r.wants_text ? text_open(w, NULL, name, e) : NULL;
    return f ? &f->out : NULL;
}

static bool is_written(const struct results_writer *w, const char *folder, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s%s%s", w->r.dir, folder ? folder : "", folder ? "/" : "", name);
    bool found = w->db_path && strcmp(w->db_path, path) == 0;
    for (size_t i = 0; i < w->texts.n; i++)
        found = found || strcmp(w->texts.at[i]->path, path) == 0;
    return found;
}

/* Of a folder that is a link nothing is removed: it leads to somebody else's files. */
static void clear_folder(const struct results_writer *w, const char *folder)
{
    const int fd = openat(w->lock, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    int why;
    for (const char *name; dir && (name = dir_next(dir, &why));) {
        const size_t n = strlen(name);
        if (n > 4 && strcmp(name + n - 4, ".csv") == 0 && !is_written(w, folder, name))
            unlinkat(fd, name, 0);
    }
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
}

/* Removes what an earlier run left and this one did not write again: only files that have names of ours. */
static void clear_old(const struct results_writer *w)
{
    static const char *const name[] = { "cluster_step_trace_time.csv", "communication_group.json",
                                        "cluster_communication.json", "cluster_communication_matrix.json",
                                        "cluster_analysis.db" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (!is_written(w, NULL, name[i]))
            unlinkat(w->lock, name[i], 0);
    for (size_t i = 0; w->r.folder && w->r.folder[i]; i++)
        clear_folder(w, w->r.folder[i]);
}

static bool file_done(struct results_writer *w, const char *path, uint64_t rows, struct error *e)
{
    struct results_file *f = list_add(&w->files, w->mem);
    if (!f)
        return no_memory(w, e);
    *f = (struct results_file){ path, rows };
    return true;
}

static bool database_close(struct results_writer *w, struct error *e)
{
    bool done = sqlite3_exec(w->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK || db_failed(w, e);
    for (size_t i = 0; i < w->sinks.n; i++) {
        sqlite3_finalize(w->sinks.at[i]->insert);
        w->sinks.at[i]->insert = NULL;
    }
    if (sqlite3_close(w->db) != SQLITE_OK && done)
        done = db_failed(w, e);
    w->db = NULL;
    if (done)
        sqlite_file_forget_log(w->db_path);
    const int why = done ? leftover_settle(&w->half, w->db_path) : 0;
    if (why != 0)
        done = error_set(e, FAULT_IO, "%s: cannot be written: %s", w->db_path, write_trouble(why));
    return done && file_done(w, w->db_path, w->db_rows, e);
}

bool writer_close(struct results_writer *w, struct error *e)
{
    if (arena_failed(w->mem))
        return no_memory(w, e);
    if (w->db && !database_close(w, e))
        return false;
    for (size_t i = 0; i < w->texts.n; i++) {
        struct text_file *f = w->texts.at[i];
        f->is_open = false;
        if (!out_close(&f->out, e) || !file_done(w, f->path, f->rows, e))
            return false;
    }
    int why = 0;
    for (size_t i = 0; i < w->texts.n && why == 0; i++) /* a folder of several has nothing to write the second time */
        why = durable_name(w->texts.at[i]->path);
    if (why)
        return error_set(e, FAULT_IO, "%s: cannot be written: %s", w->r.dir, write_trouble(why));
    if (!outdir_settle(w->r.dir, e))
        return false;
    if (w->r.is_new)
        clear_old(w);
    return true;
}

const struct results_file *writer_files(const struct results_writer *w, size_t *n)
{
    *n = w->files.n;
    return w->files.at;
}

void writer_free(struct results_writer *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->sinks.n; i++)
        sqlite3_finalize(w->sinks.at[i]->insert);
    for (size_t i = 0; i < w->texts.n; i++)
        if (w->texts.at[i]->is_open)
            out_discard(&w->texts.at[i]->out);
    sqlite3_close(w->db);
    leftover_settle(&w->half, NULL);
    if (w->lock >= 0)
        close(w->lock);
    arena_free(w->mem);
}
