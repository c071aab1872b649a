/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank/rank_parts.h"

#include "profile/calls.h"

/* Kernels and collectives are ordered by begin, each: they are merged as two sorted lists. */
static void busy_take(struct busy *b, const struct rank *r, bool has_kernels, bool has_collectives)
{
    const struct rank_tasks *t = &r->tasks;
    const struct rank_collectives *c = &r->collectives;
    const size_t n_tasks = has_kernels ? t->n : 0, n_collectives = has_collectives ? c->n : 0;
    for (size_t i = 0, j = 0;;) {
        while (i < n_tasks && !rank_task_computes(r, i))
            i++;
        if (i == n_tasks && j == n_collectives)
            return;
        const bool is_kernel = i < n_tasks && (j == n_collectives || t->begin_ns[i] <= c->begin_ns[j]);
        b->begin_ns[b->n] = is_kernel ? t->begin_ns[i] : c->begin_ns[j];
        b->end_ns[b->n++] = is_kernel ? t->end_ns[i] : c->end_ns[j];
        i += is_kernel;
        j += !is_kernel;
    }
}

void busy_merge(struct busy *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++)
        if (n > 0 && b->begin_ns[i] <= b->end_ns[n - 1]) {
            if (b->end_ns[i] > b->end_ns[n - 1])
                b->end_ns[n - 1] = b->end_ns[i];
        } else {
            b->begin_ns[n] = b->begin_ns[i];
            b->end_ns[n++] = b->end_ns[i];
        }
    b->n = n;
}

bool busy_of_rank(struct busy *b, const struct rank *r, unsigned what, struct arena *mem)
{
    size_t most = r->collectives.n;
    for (size_t i = 0; i < r->tasks.n; i++)
        most += r->tasks.kernel[i] != NO_ROW;
    *b = (struct busy){ .begin_ns = arena_take(mem, most, sizeof *b->begin_ns),
                        .end_ns = arena_take(mem, most, sizeof *b->end_ns) };
    if (!b->begin_ns || !b->end_ns)
        return false;
    busy_take(b, r, what & BUSY_KERNELS, what & BUSY_COLLECTIVES);
    busy_merge(b);
    return true;
}
