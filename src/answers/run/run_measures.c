/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/run_measures.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/framework/steps/judge.h"
#include "base/process/robust.h"
#include "base/memory/sort.h"

/* Runs of steps that are slow by less stay: of steps that depend on each other, leaving some out would make equal runs
 * differ. */
static const double FAR = 1.1;

static int iterations_compare(const void *a, const void *b, void *context)
{
    const struct run_step *step = context;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct iteration *l = &step[x].iteration, *r = &step[y].iteration;
    const double l_size = iteration_size(l), r_size = iteration_size(r);
    return l->class_of != r->class_of ? (l->class_of < r->class_of ? -1 : 1)
           : l_size != r_size         ? (l_size < r_size ? -1 : 1)
                                      : (x > y) - (x < y);
}

uint32_t *run_steps_order(const struct run_step *step, size_t n, struct arena *mem)
{
    uint32_t *order = arena_take(mem, n, sizeof *order);
    if (order)
        order_fill(order, n);
    if (order && n > 1)
        qsort_r(order, n, sizeof *order, iterations_compare, (void *)(uintptr_t)step);
    return order;
}

static double median_of_steps(const struct run_step *step, const uint32_t *order, size_t n, double *scratch)
{
    for (size_t i = 0; i < n; i++)
        scratch[i] = (double)step[order[i]].part_ns[RUN_STEP];
    return middle_of(scratch, n).median;
}

/* The median of the class and size of each step, or of the class where there are few of a size. */
static bool usual_of_iterations(struct measured_rank *out, struct arena *work)
{
    enum { FEWEST_OF_SIZE = 3 };
    struct run_step *step = out->step;
    const uint32_t *order = run_steps_order(step, out->n_steps, work);
    double *scratch = order ? arena_take(work, out->n_steps, sizeof *scratch) : NULL;
    for (size_t first = 0, end; scratch && first < out->n_steps; first = end) {
        const enum iteration_class class_of = step[order[first]].iteration.class_of;
        for (end = first; end < out->n_steps && step[order[end]].iteration.class_of == class_of;)
            end++;
        const double of_class = median_of_steps(step, order + first, end - first, scratch);
        for (size_t from = first, to; from < end; from = to) {
            const double size = iteration_size(&step[order[from]].iteration);
            for (to = from; to < end && iteration_size(&step[order[to]].iteration) == size;)
                to++;
            const double of_size = median_of_steps(step, order + from, to - from, scratch);
            for (size_t i = from; i < to; i++)
                step[order[i]].usual_ns = to - from >= FEWEST_OF_SIZE ? of_size : of_class;
        }
    }
    return scratch != NULL;
}

/* Means over the usual steps. */
static void parts_mean(struct measured_rank *out)
{
    out->n_usual = 0;
    for (unsigned k = 0; k < RUN_PARTS; k++)
        out->part_ns[k] = 0;
    for (size_t i = 0; i < out->n_steps; i++) {
        const bool is_usual = run_step_is_usual(&out->step[i]);
        out->n_usual += is_usual;
        for (unsigned k = 0; k < RUN_PARTS && is_usual; k++)
            out->part_ns[k] += (double)out->step[i].part_ns[k];
    }
    for (unsigned k = 0; k < RUN_PARTS && out->n_usual > 0; k++)
        out->part_ns[k] /= (double)out->n_usual;
}

static void measures_mean(struct measured_rank *out)
{
    for (size_t i = 0; i < out->n; i++) {
        struct measure *m = &out->at[i];
        m->mean_ns = m->runs = 0;
        for (size_t k = 0; k < m->n_shares; k++) {
            const struct measured_share *x = &out->share[m->first + k];
            const double weight = run_step_is_usual(&out->step[x->step]) ? 1 / (double)out->n_usual : 0;
            m->mean_ns += (double)x->ns * weight;
            m->runs += (double)x->runs * weight;
        }
    }
}

void measured_rank_restrict(struct measured_rank *r, enum iteration_class class_of, double size)
{
    for (size_t i = 0; i < r->n_steps; i++) {
        const struct iteration *x = &r->step[i].iteration;
        r->step[i].is_apart = x->class_of != class_of || (size > 0 && iteration_size(x) != size);
    }
    parts_mean(r);
    measures_mean(r);
}

bool measuring_begin(struct measuring *m, struct measured_rank *out, struct names *names, struct arena *mem)
{
    *m = (struct measuring){ .out = out, .names = names, .mem = mem, .work = arena_new() };
    struct arena *work = m->work;
    int64_t *time_ns = work ? arena_take(work, out->n_steps, sizeof *time_ns) : NULL;
    uint32_t *class_of = time_ns ? arena_take(work, out->n_steps, sizeof *class_of) : NULL;
    double *size = class_of ? arena_take(work, out->n_steps, sizeof *size) : NULL;
    struct iteration *iteration = size ? arena_take(work, out->n_steps, sizeof *iteration) : NULL;
    struct judgement judged;
    if (!iteration)
        return false;
    for (size_t i = 0; i < out->n_steps; i++)
        time_ns[i] = out->step[i].part_ns[RUN_STEP], iteration[i] = out->step[i].iteration;
    const bool has_classes = iterations_sort(iteration, out->n_steps, class_of, size);
    const struct judge_table table = { .n_steps = out->n_steps,
                                       .n_ranks = 1,
                                       .time_ns = time_ns,
                                       .class_of = has_classes ? class_of : NULL,
                                       .size = has_classes ? size : NULL };
    if (!judge(&judged, &table, work) || (has_classes && !usual_of_iterations(out, work)))
        return false;
    out->n_startup = judged.n_startup;
    for (size_t i = 0; i < out->n_steps; i++) {
        struct run_step *s = &out->step[i];
        const double usual_ns = has_classes ? s->usual_ns : judged.usual_ns;
        s->is_slow = i < judged.n_startup || (judged.is_slow[i] && (double)time_ns[i] > FAR * usual_ns);
    }
    parts_mean(out);
    return true;
}

/* Names are numbered below 2^28 (names.c). */
static uint64_t row_key(enum measure_kind kind, name_id name, name_id detail)
{
    return (uint64_t)kind << 60 | (uint64_t)name << 30 | detail;
}

void measuring_add(struct measuring *m, enum measure_kind kind, name_id name, name_id detail, uint32_t step, double ns)
{
    const uint32_t at = keys_add(&m->rows, row_key(kind, name, detail), m->work);
    m->failed |= at == KEYS_NO_MEMORY;
    if (m->failed)
        return;
    if (at == m->list.n) {
        struct measure *new = list_add(&m->list, m->work);
        m->failed |= !new;
        if (!new)
            return;
        *new = (struct measure){ .kind = kind, .name = name, .detail = detail, .min_ns = ns, .max_ns = ns };
    }
    struct measure *row = &m->list.at[at];
    row->n++;
    row->total_ns += ns;
    row->min_ns = ns < row->min_ns ? ns : row->min_ns;
    row->max_ns = ns > row->max_ns ? ns : row->max_ns;
    if (step >= m->out->n_steps || m->out->step[step].is_slow)
        return;
    const uint32_t cell = keys_add(&m->cells, (uint64_t)at << 32 | step, m->work);
    m->failed |= cell == KEYS_NO_MEMORY;
    if (!m->failed && cell == m->sums.n)
        m->failed |= !list_add(&m->sums, m->work);
    if (m->failed)
        return;
    m->sums.at[cell].ns += ns;
    m->sums.at[cell].runs++;
}

static int by_key(const void *a, const void *b)
{
    const struct measure *x = a, *y = b;
    const uint64_t l = row_key(x->kind, x->name, x->detail), r = row_key(y->kind, y->name, y->detail);
    return l < r ? -1 : l > r;
}

/* The times in each step. False: no memory. */
static bool shares_find(struct measuring *m)
{
    struct measured_rank *out = m->out;
    const size_t n = m->sums.n;
    uint32_t *order = arena_take(m->work, n, sizeof *order);
    out->share = arena_take(m->mem, n, sizeof *out->share);
    if (!order || !out->share)
        return false;
    order_fill(order, n);
    if (!order_by_u64(order, n, m->cells.key.at))
        return false;
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = m->cells.key.at[order[i]];
        const struct measure_cell *cell = &m->sums.at[order[i]];
        struct measure *row = &m->list.at[key >> 32];
        row->first = row->n_shares++ == 0 ? i : row->first;
        out->share[i] = (struct measured_share){ (uint32_t)key, (float)cell->ns, (float)cell->runs };
    }
    return true;
}

bool measuring_end(struct measuring *m)
{
    struct measured_rank *out = m->out;
    if (!out)
        return false;
    bool done = m->work && !m->failed && !arena_failed(m->work) && shares_find(m);
    out->at = done ? arena_take(m->mem, m->list.n, sizeof *out->at) : NULL;
    done = out->at != NULL;
    if (done) {
        out->n = m->list.n;
        if (out->n > 0)
            memcpy(out->at, m->list.at, out->n * sizeof *out->at);
        if (out->n > 1)
            qsort(out->at, out->n, sizeof *out->at, by_key);
        measures_mean(out);
    }
    arena_free(m->work);
    m->work = NULL;
    return done && !arena_failed(m->mem) && !names_failed(m->names);
}
