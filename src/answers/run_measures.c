/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run_measures.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/framework/spread.h"

bool measuring_begin(struct measuring *m, struct measured_rank *out, struct names *names, struct arena *mem)
{
    *m = (struct measuring){ .out = out, .names = names, .mem = mem, .work = arena_new() };
    struct arena *work = m->work;
    int64_t *time_ns = work ? arena_take(work, out->n_steps, sizeof *time_ns) : NULL;
    struct spread spread;
    if (!time_ns)
        return false;
    for (size_t i = 0; i < out->n_steps; i++)
        time_ns[i] = out->step[i].part_ns[RUN_STEP];
    if (!spread_find(&spread, time_ns, out->n_steps))
        return false;
    double sum[RUN_PARTS] = { 0 }, squares[RUN_PARTS] = { 0 };
    out->n_usual = 0;
    for (size_t i = 0; i < out->n_steps; i++) {
        struct run_step *s = &out->step[i];
        s->is_slow = spread_is_outlier(&spread, s->part_ns[RUN_STEP]);
        out->n_usual += !s->is_slow;
        for (unsigned k = 0; k < RUN_PARTS && !s->is_slow; k++)
            sum[k] += (double)s->part_ns[k];
    }
    const double n = (double)out->n_usual;
    for (size_t i = 0; i < out->n_steps; i++)
        for (unsigned k = 0; k < RUN_PARTS && !out->step[i].is_slow; k++) {
            const double off = (double)out->step[i].part_ns[k] - sum[k] / n;
            squares[k] += off * off;
        }
    for (unsigned k = 0; k < RUN_PARTS; k++)
        out->part[k] = (struct run_mean){ n > 0 ? sum[k] / n : 0, n > 1 ? squares[k] / (n - 1) / n : 0 };
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

/* Means and variances over the usual steps; a step in which a name does not occur counts as 0. */
static void means_find(struct measuring *m)
{
    const double n = (double)m->out->n_usual;
    for (size_t i = 0; i < m->sums.n; i++) {
        struct measure *row = &m->list.at[m->cells.key.at[i] >> 32];
        row->mean_ns += m->sums.at[i].ns / n;
        row->runs += (double)m->sums.at[i].runs / n;
    }
    if (n < 2)
        return;
    for (size_t i = 0; i < m->list.n; i++)
        m->list.at[i].variance_ns2 = m->list.at[i].mean_ns * m->list.at[i].mean_ns * n;
    for (size_t i = 0; i < m->sums.n; i++) {
        struct measure *row = &m->list.at[m->cells.key.at[i] >> 32];
        const double off = m->sums.at[i].ns - row->mean_ns;
        row->variance_ns2 +=
            off * off - row->mean_ns * row->mean_ns; /* this step was counted as one in which the name is missing */
    }
    for (size_t i = 0; i < m->list.n; i++) {
        const double squares = m->list.at[i].variance_ns2;
        m->list.at[i].variance_ns2 = squares > 0 ? squares / (n - 1) / n : 0;
    }
}

bool measuring_end(struct measuring *m)
{
    struct measured_rank *out = m->out;
    if (!out)
        return false;
    bool done = m->work && !m->failed && !arena_failed(m->work);
    out->at = done ? arena_take(m->mem, m->list.n, sizeof *out->at) : NULL;
    done = out->at != NULL;
    if (done) {
        means_find(m);
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
