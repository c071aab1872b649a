/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/compared_runs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/leftover.h"
#include "base/files/out.h"
#include "base/files/outdir.h"
#include "base/sqlite/db.h"
#include "report/compare_page.h"

/* A column, with its title in CSV files and its name in the database. */
struct file_column {
    const char *title, *name, *type;
    cell_getter *get;
};

/* ---- rows ---------------------------------------------------------------------------------------------------------- */

/* A row of a table: one compared row. */
struct file_row {
    const struct comparison *c;
    const struct compared_row *row;
};

static struct cell us(double ns)
{
    return cell_round(ns / 1000);
}

static struct cell rank_cell(const struct measured_rank *r)
{
    return r->has_rank ? cell_int(r->rank) : r->has_device ? cell_int((int64_t)r->device) : cell_na();
}

static struct cell noise_cell(const struct difference *d)
{
    return d->state == DIFFERENCE_UNKNOWN ? cell_na() : us(d->noise_ns);
}

static struct cell ratio_cell(const struct difference *d)
{
    return d->a > 0 ? cell_round(d->b / d->a) : cell_na();
}

static struct cell mean_cell(const struct compared_side *s)
{
    return s->n > 0 ? us(s->total_ns / (double)s->n) : cell_na();
}

static struct cell of_some(const struct compared_side *s, double ns)
{
    return s->n > 0 ? us(ns) : cell_na();
}

CELL_GETTER(kind, struct file_row, cell_text(measure_key[r[i].row->kind]))
CELL_GETTER(name, struct file_row, cell_name(r[i].row->name))
CELL_GETTER(detail, struct file_row, cell_name(r[i].row->detail))
CELL_GETTER(step_a, struct file_row, us(r[i].row->difference.a))
CELL_GETTER(step_b, struct file_row, us(r[i].row->difference.b))
CELL_GETTER(step_more, struct file_row, us(r[i].row->difference.b - r[i].row->difference.a))
CELL_GETTER(step_ratio, struct file_row, ratio_cell(&r[i].row->difference))
CELL_GETTER(step_noise, struct file_row, noise_cell(&r[i].row->difference))
CELL_GETTER(state, struct file_row, cell_text(difference_key[r[i].row->difference.state]))
CELL_GETTER(by_runs, struct file_row, us(r[i].row->runs_ns))
CELL_GETTER(runs_a, struct file_row, cell_round(r[i].row->a.runs))
CELL_GETTER(runs_b, struct file_row, cell_round(r[i].row->b.runs))
CELL_GETTER(count_a, struct file_row, cell_uint(r[i].row->a.n))
CELL_GETTER(count_b, struct file_row, cell_uint(r[i].row->b.n))
CELL_GETTER(total_a, struct file_row, us(r[i].row->a.total_ns))
CELL_GETTER(total_b, struct file_row, us(r[i].row->b.total_ns))
CELL_GETTER(mean_a, struct file_row, mean_cell(&r[i].row->a))
CELL_GETTER(mean_b, struct file_row, mean_cell(&r[i].row->b))
CELL_GETTER(min_a, struct file_row, of_some(&r[i].row->a, r[i].row->a.min_ns))
CELL_GETTER(min_b, struct file_row, of_some(&r[i].row->b, r[i].row->b.min_ns))
CELL_GETTER(max_a, struct file_row, of_some(&r[i].row->a, r[i].row->a.max_ns))
CELL_GETTER(max_b, struct file_row, of_some(&r[i].row->b, r[i].row->b.max_ns))
CELL_GETTER(most_on, struct file_row, rank_cell(r[i].c->pair[r[i].row->pair].b))
CELL_GETTER(most_by, struct file_row, us(r[i].row->pair_ns))

static const struct file_column row_columns[] = {
    { "Kind", "kind", "TEXT", kind },
    { "Name", "name", "TEXT", name },
    { "Detail", "detail", "TEXT", detail },
    { "A Step(us)", "stepUsA", "REAL", step_a },
    { "B Step(us)", "stepUsB", "REAL", step_b },
    { "Difference(us)", "differenceUs", "REAL", step_more },
    { "Ratio", "ratio", "REAL", step_ratio },
    { "Noise(us)", "noiseUs", "REAL", step_noise },
    { "State", "state", "TEXT", state },
    { "Because Of Runs(us)", "becauseOfRunsUs", "REAL", by_runs },
    { "A Runs", "runsA", "REAL", runs_a },
    { "B Runs", "runsB", "REAL", runs_b },
    { "A Count", "countA", "INTEGER", count_a },
    { "B Count", "countB", "INTEGER", count_b },
    { "A Total(us)", "totalUsA", "REAL", total_a },
    { "B Total(us)", "totalUsB", "REAL", total_b },
    { "A Mean(us)", "meanUsA", "REAL", mean_a },
    { "B Mean(us)", "meanUsB", "REAL", mean_b },
    { "A Min(us)", "minUsA", "REAL", min_a },
    { "B Min(us)", "minUsB", "REAL", min_b },
    { "A Max(us)", "maxUsA", "REAL", max_a },
    { "B Max(us)", "maxUsB", "REAL", max_b },
    { "Most On", "mostOn", "INTEGER", most_on },
    { "Most By(us)", "mostByUs", "REAL", most_by },
};

/* ---- overall, by rank; steps --------------------------------------------------------------------------------------- */

struct overall_row {
    const struct measured_rank *rank; /* NULL: all of them */
    const char *part;
    const struct difference *d;
};

CELL_GETTER(overall_rank, struct overall_row, r[i].rank ? rank_cell(r[i].rank) : cell_text("all"))
CELL_GETTER(overall_part, struct overall_row, cell_text(r[i].part))
CELL_GETTER(overall_a, struct overall_row, us(r[i].d->a))
CELL_GETTER(overall_b, struct overall_row, us(r[i].d->b))
CELL_GETTER(overall_more, struct overall_row, us(r[i].d->b - r[i].d->a))
CELL_GETTER(overall_ratio, struct overall_row, ratio_cell(r[i].d))
CELL_GETTER(overall_noise, struct overall_row, noise_cell(r[i].d))
CELL_GETTER(overall_state, struct overall_row, cell_text(difference_key[r[i].d->state]))

static const struct file_column overall_columns[] = {
    { "Rank", "rank", "TEXT", overall_rank },
    { "Part", "part", "TEXT", overall_part },
    { "A Step(us)", "stepUsA", "REAL", overall_a },
    { "B Step(us)", "stepUsB", "REAL", overall_b },
    { "Difference(us)", "differenceUs", "REAL", overall_more },
    { "Ratio", "ratio", "REAL", overall_ratio },
    { "Noise(us)", "noiseUs", "REAL", overall_noise },
    { "State", "state", "TEXT", overall_state },
};

static struct cell name_or_na(name_id name)
{
    return name == NAME_EMPTY ? cell_na() : cell_name(name);
}

CELL_GETTER(step_name_a, struct compared_step, name_or_na(r[i].a))
CELL_GETTER(step_name_b, struct compared_step, name_or_na(r[i].b))
CELL_GETTER(step_time_a, struct compared_step, us((double)r[i].a_ns))
CELL_GETTER(step_time_b, struct compared_step, us((double)r[i].b_ns))
CELL_GETTER(step_difference, struct compared_step, us((double)r[i].b_ns - (double)r[i].a_ns))
CELL_GETTER(step_slow_a, struct compared_step, cell_int(r[i].a_is_slow))
CELL_GETTER(step_slow_b, struct compared_step, cell_int(r[i].b_is_slow))

static const struct file_column step_columns[] = {
    { "A", "a", "TEXT", step_name_a },
    { "B", "b", "TEXT", step_name_b },
    { "A Time(us)", "timeUsA", "REAL", step_time_a },
    { "B Time(us)", "timeUsB", "REAL", step_time_b },
    { "Difference(us)", "differenceUs", "REAL", step_difference },
    { "A Slow", "slowA", "INTEGER", step_slow_a },
    { "B Slow", "slowB", "INTEGER", step_slow_b },
};

struct memory_row {
    const char *what;
    int64_t a, b;
};

static struct cell bytes_cell(int64_t bytes)
{
    return bytes < 0 ? cell_na() : cell_int(bytes);
}

CELL_GETTER(memory_what, struct memory_row, cell_text(r[i].what))
CELL_GETTER(memory_a, struct memory_row, bytes_cell(r[i].a))
CELL_GETTER(memory_b, struct memory_row, bytes_cell(r[i].b))
CELL_GETTER(memory_more, struct memory_row, r[i].a < 0 || r[i].b < 0 ? cell_na() : cell_int(r[i].b - r[i].a))

static const struct file_column memory_columns[] = {
    { "Memory", "memory", "TEXT", memory_what },
    { "A Peak(B)", "peakBytesA", "INTEGER", memory_a },
    { "B Peak(B)", "peakBytesB", "INTEGER", memory_b },
    { "Difference(B)", "differenceBytes", "INTEGER", memory_more },
};

/* ---- files --------------------------------------------------------------------------------------------------------- */

#define COLUMNS(array) (array), sizeof(array) / sizeof *(array)

struct file_table {
    const char *file, *table;
    const struct file_column *column;
    size_t n_columns, n_rows;
    const void *rows;
};

enum { COLUMNS_MOST = 32, PATH_BYTES = 4200 };

static bool csv_write(const struct file_table *f, const struct names *names, const char *dir, bool is_safe,
                      struct error *e)
{
    char path[PATH_BYTES];
    struct column column[COLUMNS_MOST];
    struct out o;
    for (size_t i = 0; i < f->n_columns; i++)
        column[i] = (struct column){ f->column[i].title, f->column[i].get };
    const struct table t = { .name = f->file,
                             .column = column,
                             .n_columns = f->n_columns,
                             .n_rows = f->n_rows,
                             .rows = f->rows,
                             .names = names,
                             .is_safe = is_safe };
    if (snprintf(path, sizeof path, "%s/%s.csv", dir, f->file) >= (int)sizeof path)
        return error_set(e, FAULT_IO, "%s: path too long", dir);
    if (!out_open(&o, path, e))
        return false;
    table_csv_header(&t, &o);
    table_csv_rows(&t, &o, 0, t.n_rows);
    return out_close(&o, e);
}

static bool db_write(const struct file_table *f, size_t n, struct names *names, const char *dir, struct error *e)
{
    char path[PATH_BYTES];
    if (snprintf(path, sizeof path, "%s/comparison.db", dir) >= (int)sizeof path)
        return error_set(e, FAULT_IO, "%s: path too long", dir);
    struct db *db = db_open(path, names, e);
    if (!db)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct db_column column[COLUMNS_MOST];
        for (size_t k = 0; k < f[i].n_columns; k++)
            column[k] = (struct db_column){ f[i].column[k].name, f[i].column[k].type, f[i].column[k].get };
        const struct db_table t = { .name = f[i].table,
                                    .column = column,
                                    .n_columns = f[i].n_columns,
                                    .n_rows = f[i].n_rows,
                                    .rows = f[i].rows,
                                    .is_made_empty = true };
        if (!db_table(db, &t, e)) {
            db_discard(db);
            return false;
        }
    }
    return db_close(db, e);
}

static void overall_fill(struct overall_row *to, const struct comparison *c)
{
    for (unsigned k = 0; k < RUN_PARTS; k++)
        *to++ = (struct overall_row){ NULL, part_key[k], &c->part[k] };
    for (size_t i = 0; i < c->n_pairs; i++)
        for (unsigned k = 0; k < RUN_PARTS; k++)
            *to++ = (struct overall_row){ c->pair[i].b, part_key[k], &c->pair[i].part[k] };
}

bool compare_files_write(const struct compare_report *r, const char *dir, bool csv_is_safe, size_t *n_written,
                         struct error *e)
{
    static const char *const files[MEASURE_KINDS] = { "compare_kernels", "compare_shapes",    "compare_collectives",
                                                      "compare_copies",  "compare_operators", "compare_classes",
                                                      "compare_host",    "compare_calls" };
    static const char *const tables[MEASURE_KINDS] = { "COMPARE_KERNELS", "COMPARE_SHAPES",    "COMPARE_COLLECTIVES",
                                                       "COMPARE_COPIES",  "COMPARE_OPERATORS", "COMPARE_CLASSES",
                                                       "COMPARE_HOST",    "COMPARE_CALLS" };
    enum { OTHERS = 3 };
    const struct comparison *c = r->c;
    struct arena *mem = arena_new();
    const size_t n_overall = (c->n_pairs + 1) * RUN_PARTS;
    struct file_row *row = mem ? arena_take(mem, c->n, sizeof *row) : NULL;
    struct overall_row *overall = row ? arena_take(mem, n_overall, sizeof *overall) : NULL;
    if (!overall) {
        arena_free(mem);
        return error_no_memory(e, dir);
    }
    const struct memory_row memory[] = { { "allocated", c->memory_a[0], c->memory_b[0] },
                                         { "reserved", c->memory_a[1], c->memory_b[1] } };
    overall_fill(overall, c);
    for (size_t i = 0; i < c->n; i++)
        row[i] = (struct file_row){ c, &c->row[i] };
    struct file_table f[MEASURE_KINDS + OTHERS];
    for (unsigned k = 0; k < MEASURE_KINDS; k++)
        f[k] = (struct file_table){ files[k], tables[k], COLUMNS(row_columns), c->first[k + 1] - c->first[k],
                                    row + c->first[k] };
    f[MEASURE_KINDS] =
        (struct file_table){ "compare_overall", "COMPARE_OVERALL", COLUMNS(overall_columns), n_overall, overall };
    f[MEASURE_KINDS + 1] =
        (struct file_table){ "compare_steps", "COMPARE_STEPS", COLUMNS(step_columns), c->n_steps, c->step };
    f[MEASURE_KINDS + 2] =
        (struct file_table){ "compare_memory", "COMPARE_MEMORY", COLUMNS(memory_columns), 2, memory };
    int lock = -1;
    char *real = outdir_make(dir, e) ? realpath(dir, NULL) : NULL; /* the directory given by the user may be a link */
    if (!real && e->fault == FAULT_NONE)
        error_set(e, FAULT_IO, "%s: cannot be written: %s", dir, write_trouble(errno));
    bool done = real && (lock = outdir_lock(real, OUTDIR_PATIENCE_MS, e)) >= 0;
    if (done)
        leftovers_sweep(real);
    *n_written = 0;
    for (size_t i = 0; i < MEASURE_KINDS + OTHERS && done; i++)
        *n_written += done = csv_write(&f[i], c->names, dir, csv_is_safe, e);
    done = done && db_write(f, MEASURE_KINDS + OTHERS, c->names, dir, e) && compare_page_write(r, dir, e) &&
           outdir_settle(real, e);
    if (lock >= 0)
        close(lock);
    free(real);
    arena_free(mem);
    return done;
}
