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
