/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/results/results.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/durable.h"
#include "base/files/file.h"
#include "base/files/outdir.h"
#include "cluster/results/results_db.h"

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
    struct text_file *csv;         /* NULL: none is wanted */
    struct results_db_table *rows; /* in the database; NULL: as well */
    bool is_python;                /* lines end as those of Python's csv */
};

struct results_writer {
    struct results_request r;
    struct results_db *db; /* NULL: no table was wanted yet */
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
        found = found || (w->sinks.at[i]->rows && strcmp(w->sinks.at[i]->name, name) == 0);
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
    if (!t->name || !(w->r.wants_db || t->is_always_db) || is_in_db(w, t->name))
        return s;
    w->db = w->db ? w->db : results_db_open(w->r.dir, w->r.is_new, w->r.names, w->mem, e);
    s->rows = w->db ? results_db_table(w->db, t->name, t->column, t->n_columns, e) : NULL;
    return s->rows ? s : NULL;
}

static bool is_number(struct cell c)
{
    return c.kind == CELL_INT || c.kind == CELL_UINT || c.kind == CELL_REAL || c.kind == CELL_ROUND;
}

static void csv_cell(const struct results_writer *w, const struct result_column *column, struct cell c, struct out *o)
{
    void (*const put)(struct out *, const char *, size_t) = w->r.csv_is_safe ? out_csv_safe : out_csv;
    char digits[RESULT_DIGITS];
    const double divisor = column->csv_name ? column->csv_divisor : ends_in_ns(column->name) ? 1000 : 0;
    if (divisor > 0 && is_number(c)) {
        out_real(o, result_number(c) / divisor);
        return;
    }
    switch (c.kind) {
    case CELL_INT: out_i64(o, c.i); break;
    case CELL_UINT: out_u64(o, c.u); break;
    case CELL_REAL:
    case CELL_ROUND: out_real(o, result_number(c)); break;
    case CELL_US_SHORT: out_us_short(o, c.i); break;
    case CELL_TIME_BARE: out_bytes(o, digits, result_time_text(digits, c.i)); break;
    case CELL_NAME: put(o, names_text(w->r.names, c.name), names_len(w->r.names, c.name)); break;
    case CELL_TEXT: put(o, c.text, strlen(c.text)); break;
    default: break;
    }
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
        if (s->rows && !results_db_row(w->db, s->rows, cells, e))
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
    bool found = w->db && strcmp(results_db_path(w->db), path) == 0;
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

bool writer_close(struct results_writer *w, struct error *e)
{
    if (arena_failed(w->mem))
        return no_memory(w, e);
    uint64_t db_rows;
    if (w->db && (!results_db_close(w->db, &db_rows, e) || !file_done(w, results_db_path(w->db), db_rows, e)))
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
    for (size_t i = 0; i < w->texts.n; i++)
        if (w->texts.at[i]->is_open)
            out_discard(&w->texts.at[i]->out);
    results_db_discard(w->db);
    if (w->lock >= 0)
        close(w->lock);
    arena_free(w->mem);
}
