/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/memory_timeline/memory_flow.h"

#include <string.h>

#include "analyse/host/host_analysis.h"
#include "base/memory/columns.h"
#include "base/memory/keys.h"
#include "base/memory/sort.h"
#include "raw/framework_values.h"

enum { NO_EVENT = UINT32_MAX };
static const uint64_t sign = (uint64_t)1 << 63;

int64_t event_begin_ns(const struct framework *f, uint32_t number)
{
    const struct event v = event_of(f, number);
    switch (v.kind) {
    case EVENT_OP: return f->ops.begin_ns[v.row];
    case EVENT_MEMORY: return f->memory.time_ns[v.row];
    default: return f->python.begin_ns[v.row];
    }
}

static int64_t end_ns(const struct framework *f, uint32_t number)
{
    const struct event v = event_of(f, number);
    switch (v.kind) {
    case EVENT_OP: return f->ops.end_ns[v.row];
    case EVENT_MEMORY: return f->memory.time_ns[v.row];
    default: return f->python.end_ns[v.row];
    }
}

static uint32_t thread(const struct framework *f, uint32_t number)
{
    const struct event v = event_of(f, number);
    return v.kind == EVENT_OP       ? f->ops.thread[v.row]
           : v.kind == EVENT_MEMORY ? f->memory.thread[v.row]
                                    : f->python.thread[v.row];
}

/* The tree while it is built. Events are positions in by_begin: enclosing events precede those inside them. */
struct growing {
    const struct framework *f;
    const struct names *names;
    const uint32_t *by_begin;
    uint32_t *parent;
    int64_t *until_ns; /* when an event closes: at its end, or at the end of an enclosing event of its thread */
    struct keys threads;
    LIST(uint32_t) open; /* by thread: the innermost event, NO_EVENT: none */
    struct arena *mem;
};

/* The innermost event that is open on a thread when another one begins. What begins in the nanosecond in which an event
 * ends is behind it, but an allocation, which has no duration, is inside. The end of an event also closes the events
 * inside it, even if they end later: events that overlap without nesting are damaged. */
static uint32_t open_on(struct growing *g, uint64_t of_thread, int64_t at_ns, bool is_moment, uint32_t *place)
{
    *place = keys_add(&g->threads, of_thread, g->mem);
    if (*place == KEYS_NO_MEMORY)
        return NO_EVENT;
    if (*place == g->open.n) {
        uint32_t *new = list_add(&g->open, g->mem);
        if (new)
            *new = NO_EVENT;
        return NO_EVENT;
    }
    uint32_t *at = &g->open.at[*place];
    /* An event whose parent is on another thread stays there: it is closed only by its own thread, and only once. */
    while (*at != NO_EVENT && thread(g->f, g->by_begin[*at]) == of_thread && g->until_ns[*at] < at_ns + !is_moment) {
        g->until_ns[*at] = INT64_MAX;
        *at = g->parent[*at];
    }
    return *at;
}

/* An operator on a thread without open events belongs to the innermost open event of the thread of its forward. The
 * range that the autograd engine records around a function has no forward thread: that of the function is used, which
 * is the next record. */
static uint64_t forward_thread(const struct growing *g, uint32_t number)
{
    static const char engine[] = "autograd::engine::evaluate_function: ";
    const struct framework_ops *o = &g->f->ops;
    const struct event v = event_of(g->f, number);
    if (v.kind != EVENT_OP)
        return 0;
    if (o->scope[v.row] == 0 && v.row + 1 < o->n && o->scope[v.row + 1] == OP_SCOPE_BACKWARD &&
        strncmp(names_text(g->names, o->name[v.row]), engine, sizeof engine - 1) == 0)
        return o->forward_thread[v.row + 1];
    return o->forward_thread[v.row];
}

static bool grow(struct growing *g, size_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t number = g->by_begin[i];
        const int64_t begin = event_begin_ns(g->f, number), end = end_ns(g->f, number);
        uint32_t place, other;
        const uint32_t around = open_on(g, thread(g->f, number), begin, end <= begin, &place);
        const uint64_t forward = around == NO_EVENT ? forward_thread(g, number) : 0;
        g->parent[i] = forward ? open_on(g, forward, begin, end <= begin, &other) : around;
        if (arena_failed(g->mem))
            return false;
        g->until_ns[i] =
            around != NO_EVENT && thread(g->f, g->by_begin[around]) == thread(g->f, number) && g->until_ns[around] < end
                ? g->until_ns[around]
                : end;
        if (end > begin)
            g->open.at[place] = i;
    }
    return true;
}

/* Computes positions from parents: first the size of each subtree, then the position of each event. */
static void lay_out(struct event_tree *t, const uint32_t *parent, uint32_t *size, uint32_t *position)
{
    for (size_t i = t->n; i-- > 0;) {
        size[i]++;
        if (parent[i] != NO_EVENT)
            size[parent[i]] += size[i];
    }
    uint32_t next_root = 0;
    for (size_t i = 0; i < t->n; i++) {
        /* t->order serves as the next free position inside of an event, by position, until it is filled below. */
        uint32_t *next = parent[i] == NO_EVENT ? &next_root : &t->order[position[parent[i]]];
        const uint32_t at = *next;
        *next += size[i];
        position[i] = at;
        t->order[at] = at + 1;
        t->event[at] = t->by_begin[i];
        t->end[at] = at + size[i];
        const struct event v = event_of(t->f, t->event[at]);
        t->in_backward[at] = (v.kind == EVENT_OP && t->f->ops.scope[v.row] == OP_SCOPE_BACKWARD) ||
                             (parent[i] != NO_EVENT && t->in_backward[position[parent[i]]]);
    }
}

/* Sorts the events in nesting order. */
static bool sort_nested(const struct event_tree *t, uint32_t *number, struct arena *scratch)
{
    int64_t *begin = arena_take(scratch, t->n, sizeof *begin), *end = arena_take(scratch, t->n, sizeof *end);
    uint32_t *order = arena_take(scratch, t->n, sizeof *order), *sorted = arena_take(scratch, t->n, sizeof *sorted);
    for (size_t i = 0; !arena_failed(scratch) && i < t->n; i++) {
        begin[i] = event_begin_ns(t->f, number[i]);
        end[i] = end_ns(t->f, number[i]);
    }
    const bool done = !arena_failed(scratch) && nesting_order(order, t->n, begin, end);
    if (done) {
        order_apply(sorted, number, order, t->n, sizeof *sorted);
        memcpy(number, sorted, t->n * sizeof *number);
    }
    arena_drop(scratch, begin), arena_drop(scratch, end), arena_drop(scratch, order), arena_drop(scratch, sorted);
    return done;
}

/* Positions by begin. */
static bool sort_by_begin(const struct event_tree *t, struct arena *scratch)
{
    uint64_t *key = arena_take(scratch, t->n, sizeof *key);
    for (size_t i = 0; key && i < t->n; i++)
        key[i] = (uint64_t)event_begin_ns(t->f, t->event[i]) ^ sign;
    order_fill(t->order, t->n);
    const bool done = key && order_by_u64(t->order, t->n, key);
    arena_drop(scratch, key);
    return done;
}

static bool event_tree_take(struct event_tree *t, size_t n, struct arena *mem)
{
    arena_columns(mem, n, t->by_begin, t->event, t->end, t->order, t->in_backward);
    return !arena_failed(mem);
}

static bool build(struct event_tree *t, const struct names *names, struct arena *mem, struct arena *scratch)
{
    const struct framework *f = t->f;
    const size_t n_numbers = f->ops.n + f->memory.n + f->python.n;
    if (!event_tree_take(t, n_numbers, mem))
        return false;
    for (uint32_t i = 0; i < n_numbers; i++) {
        const struct event v = event_of(f, i);
        if (v.kind != EVENT_MEMORY || f->memory.kind[v.row] != MEMORY_BLOCK_FREE)
            t->by_begin[t->n++] = i;
    }
    struct growing g = { .f = f, .names = names, .by_begin = t->by_begin, .mem = scratch };
    g.parent = arena_take(scratch, t->n, sizeof *g.parent);
    g.until_ns = arena_take(scratch, t->n, sizeof *g.until_ns);
    uint32_t *size = arena_take(scratch, t->n, sizeof *size), *position = arena_take(scratch, t->n, sizeof *position);
    if (arena_failed(scratch) || !sort_nested(t, t->by_begin, scratch) || !grow(&g, t->n))
        return false;
    lay_out(t, g.parent, size, position);
    return sort_by_begin(t, scratch);
}

bool event_tree_build(struct event_tree *t, const struct framework *f, const struct names *names, struct arena *mem,
                      struct error *e)
{
    *t = (struct event_tree){ .f = f };
    struct arena *scratch = arena_new();
    const bool is_countable = f->ops.n + f->memory.n + f->python.n < NO_EVENT;
    const bool done = scratch && is_countable && build(t, names, mem, scratch);
    arena_free(scratch);
    if (!is_countable)
        return error_set(e, FAULT_LIMIT, "%s: more events than can be counted", f->path);
    return done || error_no_memory(e, f->path);
}
