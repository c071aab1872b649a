#include "export/step_rows.h"

bool step_rows_show(const struct step_rows *r, uint64_t begin_tick)
{
    return r->is_generic || source_device_ns(r->source, begin_tick) >= r->source->begin_ns;
}

double step_us(const struct step_rows *r, uint64_t ticks)
{
    const struct ticks t = r->source->device_clock.tick;
    return (double)ticks * 1e6 / (1e9 * (double)t.den / (double)t.num);
}

static uint64_t end_of(const struct step_rows *r, size_t row)
{
    return r->steps->iterations.end[r->steps->trainings.iteration[r->training[row]]];
}

/* From the end of the nearest row that ended before the forward pass began. */
static uint64_t data_aug_of(const struct step_rows *r, size_t row)
{
    const uint64_t fp = r->steps->trainings.fp[r->training[row]];
    size_t low = 0, high = row;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (end_of(r, middle) < fp)
            low = middle + 1;
        else
            high = middle;
    }
    return fp > 0 && low > 0 ? fp - end_of(r, low - 1) : 0;
}

static void keep(struct step_rows *r, size_t from, size_t *to)
{
    r->training[*to] = r->training[from];
    r->data_aug[*to] = r->data_aug[from];
    (*to)++;
}

/* Where the spans of each iteration begin. They are sorted by it. */
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
    const struct trainings *t = &s->trainings;
    *r = (struct step_rows){ .source = &d->source,
                             .steps = s,
                             .is_generic = x->is_generic,
                             .training = arena_take(x->mem, t->n, sizeof *r->training),
                             .data_aug = arena_take(x->mem, t->n, sizeof *r->data_aug),
                             .first_reduce = first_of_iteration(&s->reduces, s->iterations.n, x->mem),
                             .first_get_next = first_of_iteration(&s->get_nexts, s->iterations.n, x->mem) };
    if (!r->training || !r->data_aug || !r->first_reduce || !r->first_get_next)
        return error_set(e, FAULT_LIMIT, "%s: no memory for its iterations", d->source.path);
    for (uint32_t i = 0; i < t->n; i++)
        if (r->is_generic || t->fp[i] > 0 || s->iterations.is_step[t->iteration[i]])
            r->training[r->n++] = i;
    for (size_t i = 0; i < r->n; i++)
        r->data_aug[i] = data_aug_of(r, i);
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        if (step_rows_show(r, s->iterations.begin[t->iteration[r->training[i]]]))
            keep(r, i, &n);
    r->n = n;
    return true;
}

void step_rows_choose(const struct export *x, struct step_rows *r)
{
    const struct iterations *t = &r->steps->iterations;
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        const uint32_t k = r->steps->trainings.iteration[r->training[i]];
        if (t->model[k] == x->model && t->index[k] >= x->first_iteration && t->index[k] <= x->last_iteration)
            keep(r, i, &n);
    }
    r->n = n;
}
