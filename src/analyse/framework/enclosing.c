/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/collection_analyse.h"

#include <string.h>

#include "analyse/host/host_analysis.h"
#include "base/memory/arena.h"
#include "base/memory/sort.h"
#include "base/text/stamp.h"
#include "profile/calls.h"

/* Rows by thread, then in nesting order. by_begin: those in nesting order, or NULL. */
static uint32_t *sorted(const struct host_spans *s, const uint32_t *by_begin, struct arena *mem)
{
    uint32_t *order = arena_take(mem, s->n, sizeof *order);
    if (order && by_begin && s->n > 0)
        memcpy(order, by_begin, s->n * sizeof *order);
    const bool done = order && (by_begin || nesting_order(order, s->n, s->begin_ns, s->end_ns)) &&
                      order_by_u64(order, s->n, s->thread);
    return done ? order : NULL;
}

/* The spans of one thread that may contain what begins next, the outermost first. Each ends no later than the one below
 * it, so that this needs no limit for damaged files, in which all spans may be open. */
struct open_spans {
    const struct host_spans *of;
    uint32_t *row;
    size_t n;
    int64_t *self_ns; /* by row, or NULL */
};

static int64_t top_end(const struct open_spans *o)
{
    return o->of->end_ns[o->row[o->n - 1]];
}

/* Opens a span and returns the one that contains it. One that ends before it does contains nothing from here on that
 * the new one does not, and loses the time that they share. */
static uint32_t open_span(struct open_spans *o, uint32_t span)
{
    const int64_t begin_ns = o->of->begin_ns[span], end_ns = o->of->end_ns[span];
    int64_t from_ns = begin_ns;
    while (o->n > 0 && (top_end(o) <= begin_ns || top_end(o) < end_ns)) {
        if (o->self_ns && top_end(o) > from_ns) {
            int64_t *self_ns = &o->self_ns[o->row[o->n - 1]];
            *self_ns = wrap_sub(*self_ns, wrap_sub(top_end(o), from_ns));
            from_ns = top_end(o);
        }
        o->n--;
    }
    const uint32_t around = o->n > 0 ? o->row[o->n - 1] : NO_ROW;
    if (o->self_ns) {
        o->self_ns[span] = end_ns > begin_ns ? wrap_sub(end_ns, begin_ns) : 0;
        if (around != NO_ROW && end_ns > from_ns)
            o->self_ns[around] = wrap_sub(o->self_ns[around], wrap_sub(end_ns, from_ns));
    }
    o->row[o->n++] = span;
    return around;
}

static void find(struct open_spans *open, const uint32_t *outer_order, const struct host_spans *inner,
                 const uint32_t *inner_order, uint32_t *found)
{
    const struct host_spans *outer = open->of;
    size_t next = 0;
    for (size_t i = 0; i < inner->n; i++) {
        const uint32_t row = inner_order[i];
        const uint64_t thread = inner->thread[row];
        if (i > 0 && thread != inner->thread[inner_order[i - 1]])
            open->n = 0;
        for (; next < outer->n; next++) {
            const uint32_t span = outer_order[next];
            if (outer->thread[span] > thread ||
                (outer->thread[span] == thread && outer->begin_ns[span] > inner->begin_ns[row]))
                break;
            if (outer->thread[span] == thread)
                open_span(open, span);
        }
        while (open->n > 0 && top_end(open) < inner->begin_ns[row])
            open->n--;
        const size_t n = SEARCH_FIRST_NOT(at, 0, open->n, outer->end_ns[open->row[at]] >= inner->end_ns[row]);
        found[row] = n > 0 ? open->row[n - 1] : NO_ROW;
    }
}

bool enclosing_find(const struct host_spans *outer, const struct host_spans *inner, uint32_t *found)
{
    struct arena *mem = arena_new();
    const uint32_t *outer_order = mem ? sorted(outer, NULL, mem) : NULL,
                   *inner_order = mem ? sorted(inner, NULL, mem) : NULL;
    struct open_spans open = { .of = outer, .row = mem ? arena_take(mem, outer->n, sizeof *open.row) : NULL };
    const bool done = outer_order && inner_order && open.row;
    if (done)
        find(&open, outer_order, inner, inner_order, found);
    arena_free(mem);
    return done;
}

bool enclosing_tree(const struct host_spans *s, const uint32_t *by_begin, uint32_t *parent, int64_t *self_ns)
{
    struct arena *mem = arena_new();
    const uint32_t *order = mem ? sorted(s, by_begin, mem) : NULL;
    struct open_spans open = { .of = s,
                               .row = mem ? arena_take(mem, s->n, sizeof *open.row) : NULL,
                               .self_ns = self_ns };
    const bool done = order && open.row;
    for (size_t i = 0; done && i < s->n; i++) {
        if (i > 0 && s->thread[order[i]] != s->thread[order[i - 1]])
            open.n = 0;
        parent[order[i]] = open_span(&open, order[i]);
    }
    arena_free(mem);
    return done;
}
