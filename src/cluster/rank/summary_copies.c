/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank/summary_parts.h"

#include "base/text/stamp.h"
#include "cluster/rank/rank_parts.h"

enum summary_copies_kind { KIND_NONE, KIND_OTHER, KIND_COPY };

struct summary_copies_pieces {
    size_t n;
    uint64_t *begin_ns, *end_ns; /* their bits as they are: times are after 1970 */
    uint8_t *kind;
    uint32_t *step; /* row of the sums */
};

/* What runs last in a step, of which `from` … `to` is not yet accounted for. */
struct current {
    int64_t from, to;
    enum summary_copies_kind kind;
};

static void summary_copies_add(struct summary_copies_pieces *p, const struct rank_summary *s, int64_t begin,
                               int64_t end, int64_t launch, enum summary_copies_kind kind)
{
    const uint32_t step = step_of(&s->steps, launch);
    p->begin_ns[p->n] = (uint64_t)begin;
    p->end_ns[p->n] = (uint64_t)end;
    p->kind[p->n] = (uint8_t)kind;
    p->step[p->n++] = step == NO_ROW ? (uint32_t)s->steps.n : step;
}

/* A kernel whose call is not known belongs to no step, unless no call is known at all. */
static bool collect(struct summary_copies_pieces *p, const struct rank_summary *s, const struct rank *r,
                    struct arena *scratch)
{
    const name_id copy = names_addz(r->names, "MEMCPY_ASYNC");
    const bool has_calls = r->has & RANK_CALLS;
    struct by_connection calls;
    if (!by_connection_init(&calls, r->calls.connection, r->calls.n, scratch))
        return false;
    for (size_t i = 0; i < r->tasks.n; i++) {
        const int64_t begin = r->tasks.begin_ns[i], end = r->tasks.end_ns[i];
        const uint32_t call = has_calls ? by_connection_find(&calls, r->tasks.connection[i]) : NO_ROW;
        if (r->tasks.kernel[i] != NO_ROW && begin != end && (!has_calls || call != NO_ROW))
            summary_copies_add(p, s, begin, end, has_calls ? r->calls.begin_ns[call] : begin, KIND_OTHER);
    }
    for (size_t i = 0; i < r->collectives.n; i++) {
        const int64_t begin = r->collectives.begin_ns[i], launch = r->collectives.launch_ns[i];
        if (!has_calls || launch != INT64_MIN)
            summary_copies_add(p, s, begin, r->collectives.end_ns[i], has_calls ? launch : begin, KIND_OTHER);
    }
    for (size_t i = 0; i < r->tasks.n; i++)
        if (rank_task_is_copy(r, i, copy)) {
            const int64_t begin = r->tasks.begin_ns[i], end = r->tasks.end_ns[i];
            summary_copies_add(p, s, begin, end, begin, KIND_COPY);
            int64_t *const sum = &s->sums.copy_ns[p->step[p->n - 1]];
            *sum = wrap_add(*sum, end - begin);
        }
    return true;
}

/* cluster.md 6.1: the peer's walk, so that its numbers are ours; it counts what follows the last piece before x, if
 * that is a copy, up to x. */
static void walk(struct rank_summary *s, const struct summary_copies_pieces *p, const uint32_t *order,
                 struct current *current)
{
    int64_t *const exposed = s->sums.copy_exposed_ns;
    for (size_t i = 0; i < p->n; i++) {
        const uint32_t x = order[i];
        const int64_t begin = (int64_t)p->begin_ns[x], end = (int64_t)p->end_ns[x];
        struct current *const c = &current[p->step[x]];
        if (c->kind == KIND_NONE && c->to == 0)
            *c = (struct current){ begin, begin, KIND_NONE };
        const int64_t until = begin > c->to ? c->to : begin;
        if (c->kind == KIND_COPY && until > c->from)
            exposed[p->step[x]] = wrap_add(exposed[p->step[x]], until - c->from);
        if (begin > c->to)
            *c = (struct current){ begin, end, p->kind[x] };
        else if (end > c->to)
            *c = (struct current){ c->to, end, p->kind[x] };
        else
            c->from = end;
    }
    for (size_t i = 0; i <= s->steps.n; i++)
        if (current[i].kind == KIND_COPY)
            exposed[i] = wrap_add(exposed[i], current[i].to - current[i].from);
}

bool summarise_copies(struct rank_summary *s, const struct rank *r)
{
    struct arena *scratch = arena_new();
    const size_t most = 2 * r->tasks.n + r->collectives.n;
    bool works = scratch != NULL;
    if (works) {
        struct summary_copies_pieces p = { .begin_ns = arena_take(scratch, most, sizeof *p.begin_ns),
                                           .end_ns = arena_take(scratch, most, sizeof *p.end_ns),
                                           .kind = arena_take(scratch, most, sizeof *p.kind),
                                           .step = arena_take(scratch, most, sizeof *p.step) };
        uint32_t *order = arena_take(scratch, most, sizeof *order);
        struct current *current = arena_take(scratch, s->steps.n + 1, sizeof *current);
        works = !arena_failed(scratch) && collect(&p, s, r, scratch);
        if (works)
            order_fill(order, p.n);
        works = works && order_by_u64(order, p.n, p.end_ns) && order_by_u64(order, p.n, p.begin_ns);
        if (works)
            walk(s, &p, order, current);
    }
    arena_free(scratch);
    return works;
}
