/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/run_measures.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/framework/steps/judge.h"
#include "base/memory/sort.h"

/* Runs of steps that are slow by less stay: of steps that depend on each other, leaving some out would make equal runs
 * differ. */
static const double FAR = 1.1;

bool measuring_begin(struct measuring *m, struct measured_rank *out, struct names *names, struct arena *mem)
{
    *m = (struct measuring){ .out = out, .names = names, .mem = mem, .work = arena_new() };
    struct arena *work = m->work;
    int64_t *time_ns = work ? arena_take(work, out->n_steps, sizeof *time_ns) : NULL;
    struct judgement judged;
    if (!time_ns)
        return false;
    for (size_t i = 0; i < out->n_steps; i++)
        time_ns[i] = out->step[i].part_ns[RUN_STEP];
    if (!judge_series(&judged, time_ns, out->n_steps, work))
        return false;
    out->n_usual = 0;
    out->n_startup = judged.n_startup;
    for (size_t i = 0; i < out->n_steps; i++) {
        struct run_step *s = &out->step[i];
        s->is_slow = i < judged.n_startup || (judged.is_slow[i] && (double)time_ns[i] > FAR * judged.usual_ns);
        out->n_usual += !s->is_slow;
        for (unsigned k = 0; k < RUN_PARTS && !s->is_slow; k++)
            out->part_ns[k] += (double)s->part_ns[k];
    }
    for (unsigned k = 0; k < RUN_PARTS && out->n_usual > 0; k++)
        out->part_ns[k] /= (double)out->n_usual;
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

/* Means over the usual steps, and the times in each of them. False: no memory. */
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
        row->mean_ns += cell->ns / (double)out->n_usual;
        row->runs += (double)cell->runs / (double)out->n_usual;
        out->share[i] = (struct measured_share){ (uint32_t)key, (float)cell->ns };
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
    }
    arena_free(m->work);
    m->work = NULL;
    return done && !arena_failed(m->mem) && !names_failed(m->names);
}
