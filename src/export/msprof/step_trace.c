/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

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
