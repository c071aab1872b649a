/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/steps/step_times.h"

#include "base/memory/sort.h"
#include "base/text/stamp.h"

/* Intervals that overlap or touch, as one. */
struct union_reader {
    const int64_t *begin_ns, *end_ns;
    size_t at, end;
    bool has_any;           /* there is a current one */
    int64_t from_ns, to_ns; /* it */
};

static void next_union(struct union_reader *r)
{
    r->has_any = r->at < r->end;
    if (!r->has_any)
        return;
    r->from_ns = r->begin_ns[r->at];
    r->to_ns = r->end_ns[r->at];
    for (r->at++; r->at < r->end && r->begin_ns[r->at] <= r->to_ns; r->at++)
        if (r->end_ns[r->at] > r->to_ns)
            r->to_ns = r->end_ns[r->at];
}

static size_t first_not_before(const int64_t *begin_ns, size_t n, int64_t ns)
{
    return SEARCH_FIRST_NOT(i, 0, n, begin_ns[i] < ns);
}

static struct union_reader read_from(const int64_t *begin_ns, const int64_t *to_ns, size_t n, int64_t from_ns,
                                     int64_t until_ns)
{
    struct union_reader r = { .begin_ns = begin_ns,
                              .end_ns = to_ns,
                              .at = first_not_before(begin_ns, n, from_ns),
                              .end = first_not_before(begin_ns, n, until_ns) };
    if (r.end < r.at)
        r.end = r.at;
    next_union(&r);
    return r;
}

/* Sums computing, communication, free and exposed time. Both readers are in the order of begin. */
static void add_up(struct union_reader compute, struct union_reader comm, struct step_time *t)
{
    int64_t busy_until_ns = 0;
    for (struct union_reader m = comm, c = compute; m.has_any || c.has_any;) {
        struct union_reader *r = !c.has_any || (m.has_any && m.from_ns < c.from_ns) ? &m : &c;
        if (!t->has_any)
            t->first_ns = busy_until_ns = r->from_ns;
        t->has_any = true;
        if (r->from_ns > busy_until_ns)
            t->free_ns = wrap_add(t->free_ns, r->from_ns - busy_until_ns);
        if (r->to_ns > busy_until_ns)
            busy_until_ns = r->to_ns;
        int64_t *const sum_ns = r == &m ? &t->communication_ns : &t->computing_ns;
        *sum_ns = wrap_add(*sum_ns, r->to_ns - r->from_ns);
        next_union(r);
    }
    t->stage_ns = t->has_any ? busy_until_ns - t->first_ns : 0;
    /* Communication without what was computed meanwhile. */
    t->exposed_ns = t->communication_ns;
    while (compute.has_any && comm.has_any) {
        const int64_t from_ns = compute.from_ns > comm.from_ns ? compute.from_ns : comm.from_ns,
                      to_ns = compute.to_ns < comm.to_ns ? compute.to_ns : comm.to_ns;
        if (to_ns > from_ns)
            t->exposed_ns = wrap_sub(t->exposed_ns, to_ns - from_ns);
        next_union(compute.to_ns < comm.to_ns ? &compute : &comm);
    }
}

struct step_time step_time_of(const struct device_work *w, int64_t begin_ns, int64_t end_ns)
{
    struct step_time t = { 0 };
    const struct union_reader compute =
                                  read_from(w->compute.begin_ns, w->compute.end_ns, w->compute.n, begin_ns, end_ns),
                              comm = read_from(w->comm.begin_ns, w->comm.end_ns, w->comm.n, begin_ns, end_ns);
    for (size_t i = first_not_before(w->comm.begin_ns, w->comm.n, begin_ns); i < comm.end; i++)
        if (w->is_receive[i])
            t.bubble_ns = wrap_add(t.bubble_ns, wrap_sub(w->comm.end_ns[i], w->comm.begin_ns[i]));
    add_up(compute, comm, &t);
    t.stage_ns = wrap_sub(t.stage_ns, t.bubble_ns);
    return t;
}
