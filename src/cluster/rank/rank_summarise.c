/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/ascending.h"
#include "cluster/rank/rank_parts.h"

#include <stdlib.h>
#include <string.h>

#include "cluster/rank/summary_parts.h"

/* Distinct clocks of the cores. */
static bool summarise_clock(struct rank_summary *s, const struct rank *r)
{
    const size_t n = r->clock.n;
    s->mhz = arena_take(s->mem, n + 1, sizeof *s->mhz);
    if (!s->mhz)
        return false;
    for (size_t i = 0; i < n; i++) { /* few changes: those that repeat the one before need no sort */
        if (s->n_mhz == 0 || s->mhz[s->n_mhz - 1] != r->clock.mhz[i])
            s->mhz[s->n_mhz++] = r->clock.mhz[i];
    }
    qsort(s->mhz, s->n_mhz, sizeof *s->mhz, compare_i64s);
    size_t kept = 0;
    for (size_t i = 0; i < s->n_mhz; i++)
        if (kept == 0 || s->mhz[kept - 1] != s->mhz[i])
            s->mhz[kept++] = s->mhz[i];
    s->n_mhz = kept;
    return true;
}

static bool summarise_sums(struct rank_summary *s, const struct rank *r)
{
    struct summary_step_sums *t = &s->sums;
    t->n = r->steps.n + 1;
    int64_t **const column[] = { &t->copy_ns, &t->copy_exposed_ns, &t->last_collective_end_ns, &t->tail_computing_ns,
                                 &t->tail_free_ns };
    for (size_t i = 0; i < sizeof column / sizeof *column; i++)
        if (!(*column[i] = arena_take(s->mem, t->n, sizeof **column[i])))
            return false;
    return true;
}

/* In the order in which they need each other. */
static bool (*const parts[])(struct rank_summary *s, const struct rank *r) = {
    summarise_sums,  summarise_collectives, summarise_clock,     summarise_runs,
    summarise_calls, summarise_copies,      summarise_exposed,   summarise_gaps,
    summarise_marks, summarise_step_trace,  summarise_own_steps,
};

bool rank_summarise(const struct rank *r, int exit_code, struct rank_summary *out, struct error *e)
{
    *out = (struct rank_summary){ .identity = r->identity,
                                  .has = r->has,
                                  .exit_code = exit_code,
                                  .steps = r->steps,
                                  .step_trace = r->step_trace,
                                  .comm_time = r->comm_time,
                                  .comm_bandwidth = r->comm_bandwidth,
                                  .comm_matrix = r->comm_matrix,
                                  .collectives.ops = r->collectives,
                                  .names = r->names,
                                  .mem = r->mem };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!parts[i](out, r))
            return error_no_memory(e, r->identity.path);
    return !arena_failed(out->mem) || error_no_memory(e, r->identity.path);
}
