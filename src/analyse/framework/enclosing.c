/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/enclosing.h"

#include "analyse/host/nesting.h"
#include "base/arena.h"
#include "base/sort.h"
#include "profile/calls.h"

/* Only damaged files have a thousand nested spans. The limit keeps the search from becoming quadratic. */
enum { DEEPEST = 1000 };

/* Rows by thread, then in nesting order. */
static uint32_t *sorted(const struct host_spans *s, struct arena *mem)
{
    uint32_t *order = arena_take(mem, s->n, sizeof *order);
    const bool done =
        order && nesting_order(order, s->n, s->begin_ns, s->end_ns) && order_by_u64(order, s->n, s->thread);
    return done ? order : NULL;
}

/* The open spans, as a linked list from the innermost to the outermost. */
struct open_spans {
    const struct host_spans *of;
    uint32_t *below; /* by row: the span that was open when it began */
    uint32_t top;    /* NO_ROW: none is open */
};

/* Spans that end in the nanosecond in which the new one begins are closed first. */
static void open_span(struct open_spans *o, uint32_t span)
{
    while (o->top != NO_ROW && o->of->end_ns[o->top] <= o->of->begin_ns[span])
        o->top = o->below[o->top];
    o->below[span] = o->top;
    o->top = span;
}

static uint32_t around(const struct open_spans *o, int64_t end_ns)
{
    uint32_t row = o->top;
    for (int depth = 0; row != NO_ROW && o->of->end_ns[row] < end_ns; depth++)
        row = depth < DEEPEST ? o->below[row] : NO_ROW;
    return row;
}

static void find(const struct host_spans *outer, const uint32_t *outer_order, const struct host_spans *inner,
                 const uint32_t *inner_order, struct open_spans *open, uint32_t *found)
{
    size_t next = 0;
    for (size_t i = 0; i < inner->n; i++) {
        const uint32_t row = inner_order[i];
        const uint64_t thread = inner->thread[row];
        if (i > 0 && thread != inner->thread[inner_order[i - 1]])
            open->top = NO_ROW;
        for (; next < outer->n; next++) {
            const uint32_t span = outer_order[next];
            if (outer->thread[span] > thread ||
                (outer->thread[span] == thread && outer->begin_ns[span] > inner->begin_ns[row]))
                break;
            if (outer->thread[span] == thread)
                open_span(open, span);
        }
        while (open->top != NO_ROW && outer->end_ns[open->top] < inner->begin_ns[row])
            open->top = open->below[open->top];
        found[row] = around(open, inner->end_ns[row]);
    }
}

bool enclosing_find(const struct host_spans *outer, const struct host_spans *inner, uint32_t *found)
{
    struct arena *mem = arena_new();
    const uint32_t *outer_order = mem ? sorted(outer, mem) : NULL, *inner_order = mem ? sorted(inner, mem) : NULL;
    struct open_spans open = { outer, mem ? arena_take(mem, outer->n, sizeof *open.below) : NULL, NO_ROW };
    const bool done = outer_order && inner_order && open.below;
    if (done)
        find(outer, outer_order, inner, inner_order, &open, found);
    arena_free(mem);
    return done;
}
