/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank/summary_parts.h"

#include "cluster/rank/rank_parts.h"

/* What of the collectives is outside of the kernels. */
static void subtract(struct summary_exposed *out, const struct busy *collectives, const struct busy *kernels)
{
    for (size_t i = 0, k = 0; i < collectives->n; i++) {
        int64_t from = collectives->begin_ns[i];
        const int64_t end = collectives->end_ns[i];
        while (k < kernels->n && kernels->end_ns[k] <= from)
            k++;
        /* The last kernel may reach into the next collective: it is looked at again. */
        for (size_t at = k; from < end; at++) {
            const int64_t to = at < kernels->n && kernels->begin_ns[at] < end ? kernels->begin_ns[at] : end;
            if (to > from) {
                out->begin_ns[out->n] = from;
                out->end_ns[out->n++] = to;
            }
            from = to == end ? end : kernels->end_ns[at];
            if (to != end)
                k = at;
        }
    }
}

bool summarise_exposed(struct rank_summary *s, const struct rank *r)
{
    s->exposed = (struct summary_exposed){ 0 };
    struct arena *scratch = arena_new();
    struct busy collectives, kernels;
    bool works = scratch && busy_of_rank(&collectives, r, BUSY_COLLECTIVES, scratch) &&
                 busy_of_rank(&kernels, r, BUSY_KERNELS, scratch);
    if (works) {
        struct summary_exposed *const out = &s->exposed;
        const size_t most = collectives.n + kernels.n; /* each kernel begins at most one more piece */
        out->begin_ns = arena_take(s->mem, most, sizeof *out->begin_ns);
        out->end_ns = arena_take(s->mem, most, sizeof *out->end_ns);
        works = out->begin_ns && out->end_ns;
        if (works)
            subtract(out, &collectives, &kernels);
        if (works && out->n < most) {
            out->begin_ns = arena_trim(s->mem, out->begin_ns, out->n, sizeof *out->begin_ns);
            out->end_ns = arena_trim(s->mem, out->end_ns, out->n, sizeof *out->end_ns);
        }
    }
    arena_free(scratch);
    return works;
}
