/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/verdicts/verdicts.h"

#include <math.h>

#include "base/process/robust.h"
#include "profile/calls.h"

bool rank_waits_find(struct rank_waits *w, const struct collective_match *m, const struct keys *steps,
                     struct arena *mem)
{
    *w = (struct rank_waits){ .mem = mem, .has_p2p = arena_take(mem, m->rank.n + 1, sizeof *w->has_p2p) };
    if (!w->has_p2p)
        return false;
    for (size_t i = 0; i < m->list.n; i++) {
        const struct matched *const c = &m->list.at[i];
        if (c->is_p2p)
            w->has_p2p[c->first] = w->has_p2p[c->last] = true;
        if (c->n < 2 || c->is_p2p)
            continue;
        const uint32_t step =
            steps && c->step >= 0 ? keys_find(steps, names_number(m->names, (uint64_t)c->step)) : NO_ROW;
        if (steps && step == NO_ROW)
            continue;
        const uint32_t part[] = { c->group, c->last, step };
        const uint32_t at = tuple_add(&w->keys, part, 3, mem);
        if (at == KEYS_NO_MEMORY || (at == w->list.n && !list_add(&w->list, mem)))
            return false;
        struct rank_wait *const to = &w->list.at[at];
        const double others_ns = (double)(c->sum_exposed_ns - c->last_exposed_ns) / (double)(c->n - 1);
        *to = (struct rank_wait){ c->group, c->last, step, to->us + fmax(0, others_ns - (double)c->least_ns) / 1000 };
    }
    return true;
}

double rank_waits_step_us(const struct rank_waits *w, uint32_t rank, uint32_t step)
{
    double most = 0;
    for (size_t i = 0; i < w->list.n; i++)
        if (w->list.at[i].rank == rank && w->list.at[i].step == step)
            most = fmax(most, w->list.at[i].us);
    return most;
}

static double usual_of_group_us(const struct rank_waits *w, uint32_t rank, uint32_t group, size_t n_steps,
                                double *scratch)
{
    size_t n = 0;
    for (size_t i = 0; i < w->list.n && n < n_steps; i++)
        if (w->list.at[i].rank == rank && w->list.at[i].group == group)
            scratch[n++] = w->list.at[i].us;
    while (n < n_steps) /* steps in which it was never last */
        scratch[n++] = 0;
    return lower_median(scratch, n);
}

double rank_waits_usual_us(const struct rank_waits *w, uint32_t rank, size_t n_steps, double *scratch)
{
    struct keys groups = { 0 };
    double most = 0;
    for (size_t i = 0; i < w->list.n; i++) {
        const struct rank_wait *const x = &w->list.at[i];
        const size_t n_groups = groups.key.n;
        if (x->rank == rank && keys_add(&groups, x->group, w->mem) == n_groups)
            most = fmax(most, usual_of_group_us(w, rank, x->group, n_steps, scratch));
    }
    return most;
}
