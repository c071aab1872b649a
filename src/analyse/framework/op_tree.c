/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/op_tree.h"

#include <string.h>

#include "analyse/host/host_analysis.h"
#include "base/memory/sort.h"

static const uint64_t SIGN = UINT64_C(1) << 63;

bool op_is_mark(const struct names *names, name_id name)
{
    return strncmp(names_text(names, name), "mstx_", 5) == 0;
}

/* For each span of `from` the last one of `to` with the same id. */
uint32_t *queue_pairs(const struct queue_spans *from, const struct queue_spans *to, struct arena *mem)
{
    uint32_t *found = arena_take(mem, from->n, sizeof *found), *order = arena_take(mem, to->n, sizeof *order);
    if (!found || !order)
        return NULL;
    order_fill(order, to->n);
    if (!order_by_u64(order, to->n, to->id))
        return NULL;
    for (size_t i = 0; i < from->n; i++) {
        const size_t after = from->id[i] == UINT64_MAX ? to->n : order_first_u64(order, to->n, to->id, from->id[i] + 1);
        found[i] = after > 0 && to->id[order[after - 1]] == from->id[i] ? order[after - 1] : NO_ROW;
    }
    return found;
}

static bool spans_of_queue(struct host_spans *out, const struct queue_spans *q, struct arena *mem)
{
    uint64_t *thread = arena_take(mem, q->n, sizeof *thread);
    for (size_t i = 0; thread && i < q->n; i++)
        thread[i] = thread_key(q->process[i], q->thread[i]);
    *out = (struct host_spans){ q->n, q->begin_ns, q->end_ns, thread };
    return thread != NULL;
}

/* The spans of some operators. */
static bool spans_of_ops(struct host_spans *out, const struct framework_ops *o, const uint32_t *row, size_t n,
                         struct arena *mem)
{
    int64_t *begin_ns = arena_take(mem, n, sizeof *begin_ns), *end_ns = arena_take(mem, n, sizeof *end_ns);
    uint64_t *thread = arena_take(mem, n, sizeof *thread);
    if (!begin_ns || !end_ns || !thread)
        return false;
    for (size_t i = 0; i < n; i++) {
        begin_ns[i] = o->begin_ns[row[i]];
        end_ns[i] = o->end_ns[row[i]];
        thread[i] = thread_key(o->process[row[i]], o->thread[row[i]]);
    }
    *out = (struct host_spans){ n, begin_ns, end_ns, thread };
    return true;
}

/* A call during a dequeue span was made by the operator that enqueued the task. */
bool callers_find(struct callers *c, struct arena *mem)
{
    const struct queue_spans *in = &c->f->enqueue, *out = &c->f->dequeue;
    struct host_spans ops, enqueued, dequeued;
    c->op = arena_take(mem, c->calls.n, sizeof *c->op);
    if (!c->op || !spans_of_ops(&ops, &c->f->ops, c->row, c->n_rows, mem))
        return false;
    if (!queue_is_used(c->f))
        return enclosing_find(&ops, &c->calls, c->op);
    const uint32_t *enqueue_of = queue_pairs(out, in, mem);
    uint32_t *op_of_task = arena_take(mem, in->n, sizeof *op_of_task);
    c->task = arena_take(mem, c->calls.n, sizeof *c->task);
    if (!enqueue_of || !op_of_task || !c->task || !spans_of_queue(&enqueued, in, mem) ||
        !spans_of_queue(&dequeued, out, mem) || !enclosing_find(&ops, &enqueued, op_of_task) ||
        !enclosing_find(&dequeued, &c->calls, c->task))
        return false;
    for (size_t i = 0; i < c->calls.n; i++) {
        c->task[i] = c->task[i] == NO_ROW ? NO_ROW : enqueue_of[c->task[i]];
        c->op[i] = c->task[i] == NO_ROW ? NO_ROW : op_of_task[c->task[i]];
    }
    return true;
}

/* Finds t->owner and t->task: the operators, and the tasks of the queue, of kernels. */
static bool find_owners(struct op_tree *t, const struct framework *f, const struct kernels *k,
                        const struct names *names, struct arena *mem, struct arena *spare)
{
    struct callers c = { .f = f };
    uint32_t *row = arena_take(spare, f->ops.n, sizeof *row);
    uint64_t *thread = arena_take(spare, k->n, sizeof *thread);
    t->owner = arena_take(mem, k->n, sizeof *t->owner);
    if (!row || !thread || !t->owner)
        return false;
    for (uint32_t i = 0; i < f->ops.n; i++)
        if (!op_is_mark(names, f->ops.name[i]))
            row[c.n_rows++] = i;
    for (size_t i = 0; i < k->n; i++)
        thread[i] = thread_key(k->process, k->launch_thread[i]);
    c.row = row;
    c.calls = (struct host_spans){ k->n, k->launch_ns, k->launch_end_ns, thread };
    if (!callers_find(&c, spare))
        return false;
    for (size_t i = 0; i < k->n; i++)
        t->owner[i] = c.op[i] == NO_ROW ? NO_ROW : row[c.op[i]];
    t->task = c.task ? arena_take(mem, k->n, sizeof *t->task) : NULL;
    if (t->task)
        memcpy(t->task, c.task, k->n * sizeof *t->task);
    return t->task || !c.task;
}

bool op_tree_gather(struct op_tree *t, size_t n_ops, size_t n_kernels, const int64_t *start_ns, struct arena *mem)
{
    struct arena *spare = arena_new();
    uint32_t *position = spare ? arena_take(spare, n_ops, sizeof *position) : NULL;
    uint32_t *next = spare ? arena_take(spare, n_ops, sizeof *next) : NULL;
    uint64_t *key = spare ? arena_take(spare, n_kernels, sizeof *key) : NULL;
    t->first_started = arena_take(mem, n_ops + 1, sizeof *t->first_started);
    t->started = arena_take(mem, n_kernels, sizeof *t->started);
    t->in_order = arena_take(mem, n_kernels, sizeof *t->in_order);
    bool ok = position && next && key && !arena_failed(mem);
    t->n_started = 0;
    for (uint32_t i = 0; ok && i < n_kernels; i++) {
        key[i] = start_ns ? (uint64_t)start_ns[i] ^ SIGN : 0;
        if (t->owner[i] != NO_ROW)
            t->in_order[t->n_started++] = i;
    }
    ok = ok && order_by_u64(t->in_order, t->n_started, key);
    for (uint32_t at = 0; ok && at < n_ops; at++)
        position[t->by_begin[at]] = at;
    for (size_t i = 0; ok && i < t->n_started; i++)
        t->first_started[position[t->owner[t->in_order[i]]] + 1]++;
    for (size_t at = 0; ok && at < n_ops; at++)
        t->first_started[at + 1] += t->first_started[at];
    for (size_t i = 0; ok && i < t->n_started; i++) {
        const uint32_t at = position[t->owner[t->in_order[i]]];
        t->started[t->first_started[at] + next[at]++] = t->in_order[i];
    }
    arena_free(spare);
    return ok;
}

/* Kernels count in the order in which operators asked for them: when they put the task into the queue, or launched. */
static const int64_t *starts(const struct op_tree *t, const struct framework *f, const struct kernels *k,
                             struct arena *spare)
{
    int64_t *start_ns = t->task ? arena_take(spare, k->n, sizeof *start_ns) : k->launch_ns;
    for (size_t i = 0; t->task && start_ns && i < k->n; i++)
        start_ns[i] = t->task[i] == NO_ROW ? k->launch_ns[i] : f->enqueue.begin_ns[t->task[i]];
    return start_ns;
}

/* All rows. */
static bool spans_of_all(struct host_spans *out, const struct framework_ops *o, struct arena *mem)
{
    uint64_t *thread = arena_take(mem, o->n, sizeof *thread);
    for (size_t i = 0; thread && i < o->n; i++)
        thread[i] = thread_key(o->process[i], o->thread[i]);
    *out = (struct host_spans){ o->n, o->begin_ns, o->end_ns, thread };
    return thread != NULL;
}

bool op_tree_nest(struct op_tree *t, const struct framework_ops *o, struct arena *mem)
{
    struct arena *spare = arena_new();
    struct host_spans ops;
    *t = (struct op_tree){ .by_begin = arena_take(mem, o->n, sizeof *t->by_begin),
                           .parent = arena_take(mem, o->n, sizeof *t->parent),
                           .self_ns = arena_take(mem, o->n, sizeof *t->self_ns) };
    bool ok = spare && !arena_failed(mem) && nesting_order(t->by_begin, o->n, o->begin_ns, o->end_ns) &&
              spans_of_all(&ops, o, spare);
    ok = ok && enclosing_tree(&ops, t->by_begin, t->parent, t->self_ns);
    arena_free(spare);
    return ok;
}

bool op_tree_build(struct op_tree *t, const struct framework *f, const struct kernels *k, const struct names *names,
                   struct arena *mem)
{
    struct arena *spare = arena_new();
    bool ok = spare && op_tree_nest(t, &f->ops, mem) && find_owners(t, f, k, names, mem, spare);
    const int64_t *start_ns = ok ? starts(t, f, k, spare) : NULL;
    ok = start_ns && op_tree_gather(t, f->ops.n, k->n, start_ns, mem);
    arena_free(spare);
    return ok;
}
