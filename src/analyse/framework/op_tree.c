/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/op_tree.h"

#include "analyse/host/nesting.h"
#include "base/sort.h"
#include "base/stamp.h"

static const uint64_t SIGN = UINT64_C(1) << 63;

/* end - begin; may wrap around if the times are damaged. */
static int64_t span_ns(int64_t begin_ns, int64_t end_ns)
{
    return wrap_sub(end_ns, begin_ns);
}

/* Rows in the order of a time; equal ones stay as they are. */
static bool order_by_ns(uint32_t *order, size_t n, const int64_t *ns)
{
    struct arena *spare = arena_new();
    uint64_t *key = spare ? arena_take(spare, n, sizeof *key) : NULL;
    for (size_t i = 0; key && i < n; i++)
        key[i] = (uint64_t)ns[i] ^ SIGN;
    order_fill(order, n);
    const bool ok = key && order_by_u64(order, n, key);
    arena_free(spare);
    return ok;
}

/* One pass over launches and spans, both in the order of time. A launch belongs to the first span that has not ended
 * before it, if this span has begun. Threads are not compared, because a library may launch from its own threads. */
static uint32_t *spans_of_launches(const struct queue_spans *dequeue, const struct kernels *k, struct arena *mem)
{
    uint32_t *span = arena_take(mem, k->n, sizeof *span);
    for (size_t i = 0, at = 0; span && i < k->n; i++) {
        while (at < dequeue->n && dequeue->end_ns[at] < k->launch_ns[i] && dequeue->begin_ns[at] <= k->launch_ns[i])
            at++;
        span[i] = at < dequeue->n && dequeue->begin_ns[at] <= k->launch_ns[i] ? (uint32_t)at : NO_ROW;
    }
    return span;
}

bool queued_find(struct queued *q, const struct queue_spans *dequeue, const struct kernels *k, struct arena *mem)
{
    struct arena *spare = arena_new();
    const uint32_t *span = spare ? spans_of_launches(dequeue, k, spare) : NULL;
    uint32_t *place = spare ? arena_take(spare, k->n, sizeof *place) : NULL;
    bool ok = span && place;
    *q = (struct queued){ 0 };
    for (size_t i = 0; ok && i < k->n; i++) {
        place[i] = span[i] == NO_ROW ? NO_ROW : keys_add(&q->ids, dequeue->id[span[i]], mem);
        ok = span[i] == NO_ROW || place[i] != KEYS_NO_MEMORY;
    }
    q->first = ok ? arena_take(mem, q->ids.key.n + 1, sizeof *q->first) : NULL;
    q->kernel = ok ? arena_take(mem, k->n, sizeof *q->kernel) : NULL;
    ok = q->first && q->kernel;
    for (size_t i = 0; ok && i < k->n; i++)
        if (place[i] != NO_ROW)
            q->first[place[i] + 1]++;
    for (size_t i = 0; ok && i < q->ids.key.n; i++)
        q->first[i + 1] += q->first[i];
    uint32_t *next = ok ? arena_take(spare, q->ids.key.n, sizeof *next) : NULL;
    for (size_t i = 0; next && i < k->n; i++)
        if (place[i] != NO_ROW)
            q->kernel[q->first[place[i]] + next[place[i]]++] = (uint32_t)i;
    arena_free(spare);
    return next != NULL;
}

/* An operator that is open. They form a stack, the outermost first. */
struct open_op {
    uint32_t at;    /* position in by_begin */
    int64_t all_ns; /* the end of the time in which it and all operators around it are open */
};

struct building {
    struct op_tree *t;
    const struct framework_ops *o;
    const struct kernels *k;
    bool is_by_thread;
    struct open_op *open;
    size_t n_open;
    size_t n_live;     /* so many of the first ones may still contain launches */
    uint32_t *starter; /* by position in in_order: the position of the operator */
};

/* Only the first n open operators may contain further launches. */
static void close_below(struct building *b, size_t n)
{
    while (b->n_live > n)
        b->t->below_end[b->open[--b->n_live].at] = (uint32_t)b->t->n_started;
}

/* Removes the innermost operators that have ended. */
static void leave(struct building *b, int64_t now_ns)
{
    while (b->n_open > 0 && now_ns > b->o->end_ns[b->t->by_begin[b->open[b->n_open - 1].at]]) {
        b->n_open--;
        close_below(b, b->n_open);
    }
}

static void enter(struct building *b, uint32_t at)
{
    const uint32_t row = b->t->by_begin[at];
    const struct open_op *around = b->n_open > 0 ? &b->open[b->n_open - 1] : NULL;
    const int64_t end_ns = b->o->end_ns[row], dur_ns = span_ns(b->o->begin_ns[row], end_ns);
    b->t->parent[row] = around ? b->t->by_begin[around->at] : NO_ROW;
    b->t->self_ns[row] = dur_ns;
    if (around) {
        const int64_t around_ns = b->o->end_ns[b->t->by_begin[around->at]];
        /* In one tree for all threads it is as in the reference, even if the operator outlives the one around it. */
        const int64_t inside_ns =
            b->is_by_thread && around_ns < end_ns ? span_ns(b->o->begin_ns[row], around_ns) : dur_ns;
        b->t->self_ns[b->t->parent[row]] = span_ns(inside_ns, b->t->self_ns[b->t->parent[row]]);
    }
    b->t->below[at] = b->t->below_end[at] = (uint32_t)b->t->n_started;
    b->n_live += b->n_live == b->n_open;
    b->open[b->n_open] = (struct open_op){ at, around && around->all_ns < end_ns ? around->all_ns : end_ns };
    b->n_open++;
}

static void start(struct building *b, uint32_t at, uint32_t kernel)
{
    b->starter[b->t->n_started] = at;
    b->t->in_order[b->t->n_started++] = kernel;
}

/* The innermost operator that is open together with all operators around it; NULL: none. An operator of another thread
 * may still be open when its parent has ended; it is not considered. */
static const struct open_op *innermost(struct building *b, int64_t now_ns)
{
    size_t n = b->n_live;
    while (n > 0 && b->open[n - 1].all_ns <= now_ns)
        n--;
    close_below(b, n);
    return n > 0 ? &b->open[n - 1] : NULL;
}

/* Assigns the kernels of enqueued tasks to the operators that enqueued them. A task that was enqueued by another thread
 * than that of the innermost operator has no operator. An id that repeats counts once. */
static bool walk_queue(struct building *b, const struct framework *f, const struct queued *q, struct arena *spare)
{
    const struct queue_spans *in = &f->enqueue;
    uint32_t *order = arena_take(spare, in->n, sizeof *order);
    bool *is_taken = arena_take(spare, q->ids.key.n, sizeof *is_taken);
    if (!order || !is_taken || !order_by_ns(order, in->n, in->begin_ns))
        return false;
    for (size_t at = 0, i = 0; at < b->o->n || i < in->n;) {
        if (at < b->o->n && (i == in->n || b->o->begin_ns[b->t->by_begin[at]] <= in->begin_ns[order[i]])) {
            leave(b, b->o->begin_ns[b->t->by_begin[at]]);
            enter(b, (uint32_t)at++);
            continue;
        }
        const uint32_t mark = order[i++];
        leave(b, in->begin_ns[mark]);
        const uint32_t last = b->n_open > 0 ? b->open[b->n_open - 1].at : NO_ROW;
        if (last == NO_ROW || b->o->thread[b->t->by_begin[last]] != in->thread[mark])
            continue;
        const uint32_t place = keys_find(&q->ids, in->id[mark]);
        b->t->has_queued[b->open[0].at] = true;
        if (place == KEYS_NONE || is_taken[place])
            continue;
        is_taken[place] = true;
        for (uint32_t n = q->first[place]; n < q->first[place + 1]; n++)
            start(b, last, q->kernel[n]);
    }
    return true;
}

/* Processes some operators (positions in by_begin) and launches, both in the order of time. NULL: all of them. */
static void walk_some(struct building *b, const uint32_t *some, size_t n, const uint32_t *kernel, size_t n_kernels)
{
    for (size_t k = 0, i = 0; k < n || i < n_kernels;) {
        const uint32_t at = k == n ? 0
                            : some ? some[k]
                                   : (uint32_t)k,
                       launched = i == n_kernels ? 0
                                  : kernel       ? kernel[i]
                                                 : (uint32_t)i;
        if (k < n && (i == n_kernels || b->o->begin_ns[b->t->by_begin[at]] <= b->k->launch_ns[launched])) {
            leave(b, b->o->begin_ns[b->t->by_begin[at]]);
            enter(b, at);
            k++;
            continue;
        }
        const struct open_op *op = innermost(b, b->k->launch_ns[launched]);
        if (op)
            start(b, op->at, launched);
        i++;
    }
}

/* The same for each thread separately: an operator contains operators and launches of its own thread only. */
static bool walk_threads(struct building *b, struct arena *spare)
{
    const size_t n_ops = b->o->n, n_kernels = b->k->n;
    uint32_t *op = arena_take(spare, n_ops, sizeof *op), *kernel = arena_take(spare, n_kernels, sizeof *kernel);
    uint64_t *op_thread = arena_take(spare, n_ops, sizeof *op_thread);
    if (arena_failed(spare))
        return false;
    order_fill(op, n_ops); /* positions in by_begin */
    order_fill(kernel, n_kernels);
    for (size_t i = 0; i < n_ops; i++)
        op_thread[i] = b->o->thread[b->t->by_begin[i]];
    if (!order_by_u64(op, n_ops, op_thread) || !order_by_u32(kernel, n_kernels, b->k->thread))
        return false;
    for (size_t at = 0, i = 0; at < n_ops || i < n_kernels;) {
        const uint64_t thread = at < n_ops && (i == n_kernels || op_thread[op[at]] <= b->k->thread[kernel[i]])
                                    ? op_thread[op[at]]
                                    : b->k->thread[kernel[i]];
        size_t end = at, kernels_end = i;
        while (end < n_ops && op_thread[op[end]] == thread)
            end++;
        while (kernels_end < n_kernels && b->k->thread[kernel[kernels_end]] == thread)
            kernels_end++;
        walk_some(b, op + at, end - at, kernel + i, kernels_end - i);
        close_below(b, 0);
        b->n_open = 0;
        at = end;
        i = kernels_end;
    }
    return true;
}

/* Sorts the started kernels by operator. */
static bool by_operator(const struct building *b, struct arena *spare)
{
    struct op_tree *t = b->t;
    uint32_t *next = arena_take(spare, b->o->n + 1, sizeof *next);
    if (!next)
        return false;
    for (size_t i = 0; i < t->n_started; i++)
        t->first_started[b->starter[i] + 1]++;
    for (size_t at = 0; at < b->o->n; at++)
        t->first_started[at + 1] += t->first_started[at];
    for (size_t i = 0; i < t->n_started; i++)
        t->started[t->first_started[b->starter[i]] + next[b->starter[i]]++] = t->in_order[i];
    return true;
}

bool op_tree_build(struct op_tree *t, const struct framework *f, const struct kernels *k, const struct queued *q,
                   struct arena *mem)
{
    const struct framework_ops *o = &f->ops;
    struct arena *spare = arena_new();
    if (!spare)
        return false;
    *t = (struct op_tree){
        .by_begin = arena_take(mem, o->n, sizeof *t->by_begin),
        .parent = arena_take(mem, o->n, sizeof *t->parent),
        .self_ns = arena_take(mem, o->n, sizeof *t->self_ns),
        .has_queued = arena_take(mem, o->n, sizeof *t->has_queued),
        .started = arena_take(mem, k->n, sizeof *t->started),
        .first_started = arena_take(mem, o->n + 1, sizeof *t->first_started),
        .in_order = arena_take(mem, k->n, sizeof *t->in_order),
        .below = arena_take(mem, o->n, sizeof *t->below),
        .below_end = arena_take(mem, o->n, sizeof *t->below_end),
    };
    struct building b = {
        .t = t,
        .o = o,
        .k = k,
        .is_by_thread = tree_is_by_thread(k, q),
        .open = arena_take(spare, o->n, sizeof *b.open),
        .starter = arena_take(spare, k->n, sizeof *b.starter),
    };
    bool ok = !arena_failed(mem) && !arena_failed(spare) && nesting_order(t->by_begin, o->n, o->begin_ns, o->end_ns);
    if (ok && q)
        ok = walk_queue(&b, f, q, spare);
    else if (ok && b.is_by_thread)
        ok = walk_threads(&b, spare);
    else if (ok)
        walk_some(&b, NULL, o->n, NULL, k->n);
    if (ok)
        close_below(&b, 0);
    ok = ok && by_operator(&b, spare);
    arena_free(spare);
    return ok;
}
