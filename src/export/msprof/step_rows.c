/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

#include "base/memory/sort.h"

bool step_rows_show(const struct step_rows *r, uint64_t begin_tick)
{
    return r->is_generic || source_device_ns(r->source, begin_tick) >= r->source->begin_ns;
}

bool step_rows_have(const struct step_rows *r, size_t iteration)
{
    const struct iterations *t = &r->steps->iterations;
    return step_rows_show(r, t->begin[iteration]) && t->index[iteration] >= r->first_index &&
           t->index[iteration] <= r->last_index;
}

double step_us(const struct step_rows *r, uint64_t ticks)
{
    const struct ticks t = r->source->device_clock.tick;
    return (double)ticks * 1e6 / (1e9 * (double)t.den / (double)t.num);
}

/* The ticks since the end of the last row that ended before the forward pass of this row began. */
static uint64_t data_aug_of(const struct step_rows *r, size_t at)
{
    const struct iterations *t = &r->steps->iterations;
    const uint64_t fp = t->fp[r->row[at]];
    const size_t n_before = SEARCH_FIRST_NOT(i, 0, at, t->end[r->row[i]] < fp);
    return fp > 0 && n_before > 0 ? fp - t->end[r->row[n_before - 1]] : 0;
}

static void step_rows_keep(struct step_rows *r, size_t from, size_t *to)
{
    r->row[*to] = r->row[from];
    r->data_aug[*to] = r->data_aug[from];
    (*to)++;
}

/* The index of the first span of each iteration. Spans are sorted by iteration. */
static uint32_t *first_of_iteration(const struct spans *s, size_t n_iterations, struct arena *mem)
{
    uint32_t *first = arena_take(mem, n_iterations + 1, sizeof *first);
    for (size_t i = 0, at = 0; first && i <= n_iterations; i++) {
        while (at < s->n && s->iteration[at] < i)
            at++;
        first[i] = (uint32_t)at;
    }
    return first;
}

bool step_rows_make(const struct export *x, const struct device *d, struct step_rows *r, struct error *e)
{
    const struct steps *s = &d->steps;
    const struct iterations *t = &s->iterations;
    *r = (struct step_rows){ .source = &d->source,
                             .steps = s,
                             .is_generic = x->is_generic,
                             .last_index = UINT64_MAX,
                             .row = arena_take(x->mem, t->n, sizeof *r->row),
                             .data_aug = arena_take(x->mem, t->n, sizeof *r->data_aug),
                             .first_reduce = first_of_iteration(&s->reduces, t->n, x->mem),
                             .first_get_next = first_of_iteration(&s->get_nexts, t->n, x->mem) };
    bool done = r->row && r->data_aug && r->first_reduce && r->first_get_next;
    if (done)
        order_fill(r->row, t->n);
    if (!done || !order_by_u64(r->row, t->n, t->end))
        return error_no_memory(e, d->source.path);
    for (size_t i = 0; i < t->n; i++)
        r->data_aug[i] = data_aug_of(r, i);
    for (size_t i = 0; i < t->n; i++)
        if (step_rows_have(r, r->row[i]))
            step_rows_keep(r, i, &r->n);
    return true;
}

void step_rows_choose(const struct export *x, struct step_rows *r)
{
    size_t n = 0;
    r->first_index = x->first_iteration;
    r->last_index = x->last_iteration;
    for (size_t i = 0; i < r->n; i++)
        if (r->steps->iterations.model[r->row[i]] == x->model && step_rows_have(r, r->row[i]))
            step_rows_keep(r, i, &n);
    r->n = n;
}

static const char *const head[] = { "Device_id",         "Iteration ID",          "FP Start(us)",
                                    "BP End(us)",        "Iteration End(us)",     "Iteration Time(us)",
                                    "FP to BP Time(us)", "Iteration Refresh(us)", "Data Aug Bound(us)",
                                    "Model ID" };
enum { HEAD = sizeof head / sizeof *head };

static size_t n_reduces(const struct step_rows *r, uint32_t iteration)
{
    size_t n = 0;
    for (uint32_t i = r->first_reduce[iteration]; i < r->first_reduce[iteration + 1]; i++)
        n += step_rows_show(r, r->steps->reduces.begin[i]);
    return n;
}

static struct cell time_cell(const struct step_rows *r, uint64_t tick)
{
    return tick ? cell_time(source_device_ns(r->source, tick)) : cell_na();
}

static struct cell dur_cell(const struct step_rows *r, uint64_t ticks, bool is_known)
{
    if (!is_known)
        return cell_na();
    return r->is_generic ? cell_real(step_us(r, ticks)) : cell_us(step_ns(r, ticks));
}

static struct cell reduce_dur_cell(const struct step_rows *r, uint64_t begin, uint64_t end)
{
    if (r->is_generic)
        return cell_real(round_exact(step_us(r, end - begin), 3));
    return cell_us(source_device_ns(r->source, end) - source_device_ns(r->source, begin));
}

/* Fills the cells of a row. Cells of reductions that it does not have are left as they are. */
static void fill_row(const struct step_rows *r, size_t row, struct cell *cell)
{
    const struct steps *s = r->steps;
    const uint32_t i = r->row[row];
    const uint64_t fp = s->iterations.fp[i], bp = s->iterations.bp[i], end = s->iterations.end[i];
    size_t n = 0;
    cell[n++] = cell_uint(r->source->device);
    cell[n++] = cell_uint(s->iterations.index[i]);
    cell[n++] = time_cell(r, fp);
    cell[n++] = time_cell(r, bp);
    cell[n++] = time_cell(r, end);
    cell[n++] = dur_cell(r, end - s->iterations.begin[i], true);
    cell[n++] = dur_cell(r, bp - fp, fp && bp);
    cell[n++] = dur_cell(r, end - bp, bp);
    cell[n++] = dur_cell(r, r->data_aug[row], r->data_aug[row]);
    cell[n++] = cell_uint(s->iterations.model[i]);
    for (uint32_t k = r->first_reduce[i]; k < r->first_reduce[i + 1]; k++) {
        if (!step_rows_show(r, s->reduces.begin[k]))
            continue;
        cell[n++] = time_cell(r, s->reduces.begin[k]);
        cell[n++] = reduce_dur_cell(r, s->reduces.begin[k], s->reduces.end[k]);
    }
}

bool step_trace_report(const struct export *x, struct table *out, struct error *e)
{
    const struct profile *p = x->profile;
    struct step_rows *rows = arena_take(x->mem, p->n_devices, sizeof *rows);
    size_t most = 0;
    for (size_t d = 0; rows && d < p->n_devices; d++) {
        if (!step_rows_make(x, &p->device[d], &rows[d], e))
            return false;
        for (size_t i = 0; i < rows[d].n; i++) {
            const size_t n = n_reduces(&rows[d], rows[d].row[i]);
            most = n > most ? n : most;
        }
    }
    struct grid g = { .n_columns = HEAD + 2 * most, .mem = x->mem };
    struct column *column = arena_take(x->mem, g.n_columns, sizeof *column);
    struct cell *cell = arena_take(x->mem, g.n_columns, sizeof *cell);
    if (!rows || !column || !cell)
        return error_no_memory(e, "step_trace");
    for (size_t c = 0; c < g.n_columns; c++)
        column[c].name = c < HEAD ? head[c] : (c - HEAD) % 2 == 0 ? "Reduce Start(us)" : "Reduce Duration(us)";
    for (size_t d = 0; d < p->n_devices; d++)
        for (size_t i = 0; i < rows[d].n; i++) {
            for (size_t c = HEAD; c < g.n_columns; c++)
                cell[c] = x->is_generic ? cell_blank() : cell_na();
            fill_row(&rows[d], i, cell);
            grid_row(&g, cell);
        }
    *out = grid_table(&g, "step_trace", column, p->names);
    return true;
}
