/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/memory_names.h"

#include <string.h>

#include "analyse/framework/op_tree.h"
#include "base/memory/sort.h"

static const uint64_t SIGN = UINT64_C(1) << 63;

/* Distributes rows, which `order` has by begin, to their threads. */
static bool distribute(struct rows_by_thread *t, const uint32_t *order, size_t n, const uint32_t *process,
                       const uint32_t *thread, const int64_t *begin_ns, struct arena *mem)
{
    uint32_t *place = arena_take(mem, n, sizeof *place);
    *t = (struct rows_by_thread){ .begin_ns = begin_ns, .row = arena_take(mem, n, sizeof *t->row) };
    for (size_t i = 0; place && i < n; i++) {
        place[i] = keys_add(&t->threads, thread_key(process[order[i]], thread[order[i]]), mem);
        if (place[i] == KEYS_NO_MEMORY)
            return false;
    }
    t->n_threads = t->threads.key.n;
    t->first = arena_take(mem, t->n_threads + 1, sizeof *t->first);
    t->found = arena_take(mem, t->n_threads + 1, sizeof *t->found);
    if (!place || !t->row || !t->first || !t->found)
        return false;
    for (size_t i = 0; i < n; i++)
        t->first[place[i] + 1]++;
    for (size_t k = 0; k < t->n_threads; k++) {
        t->first[k + 1] += t->first[k];
        t->found[k] = t->first[k];
    }
    for (size_t i = 0; i < n; i++)
        t->row[t->found[place[i]]++] = order[i];
    for (size_t k = 0; k < t->n_threads; k++)
        t->found[k] = t->first[k];
    arena_drop(mem, place);
    return true;
}

/* The last row of a thread that began at a time or before; NO_ROW: none. Requests are nearly in the order of time, so
 * that the search starts at the last result and doubles its distance each time. */
static uint32_t last_begun(struct rows_by_thread *t, uint64_t key, int64_t at_ns)
{
    const uint32_t place = keys_find(&t->threads, key);
    if (place == KEYS_NONE)
        return NO_ROW;
    size_t low = t->first[place], high = t->first[place + 1], step = 1;
    size_t from = t->found[place];
    if (from < high && t->begin_ns[t->row[from]] <= at_ns) {
        for (low = from + 1; from + step < high && t->begin_ns[t->row[from + step]] <= at_ns; step *= 2)
            low = from + step + 1;
        high = from + step < high ? from + step : high;
    } else {
        high = from;
        for (; high - low >= step && t->begin_ns[t->row[high - step]] > at_ns; step *= 2)
            high -= step;
        low = high - low >= step ? high - step + 1 : low;
    }
    low = SEARCH_FIRST_NOT(i, low, high, t->begin_ns[t->row[i]] <= at_ns);
    t->found[place] = (uint32_t)low;
    return low > t->first[place] ? t->row[low - 1] : NO_ROW;
}

/* Operators, without those that only allocate: their names do not show what the memory is for. */
static bool distribute_ops(struct memory_names *m, const struct collection *s, struct arena *mem)
{
    const struct framework_ops *o = &s->framework.ops;
    const name_id tensor = names_addz(s->profile.names, "empty_tensor"),
                  workspace = names_addz(s->profile.names, "malloc_workspace");
    uint32_t *order = arena_take(mem, o->n, sizeof *order);
    size_t n = 0;
    for (size_t i = 0; order && i < o->n; i++) {
        const uint32_t row = s->tree.by_begin[i];
        if (o->name[row] != tensor && o->name[row] != workspace)
            order[n++] = row;
    }
    const bool done = order && distribute(&m->ops, order, n, o->process, o->thread, o->begin_ns, mem);
    arena_drop(mem, order);
    return done;
}

static bool distribute_dequeues(struct memory_names *m, const struct queue_spans *q, struct arena *mem)
{
    uint32_t *order = arena_take(mem, q->n, sizeof *order);
    uint64_t *begin = arena_take(mem, q->n, sizeof *begin);
    if (!order || !begin)
        return false;
    for (size_t i = 0; i < q->n; i++)
        begin[i] = (uint64_t)q->begin_ns[i] ^ SIGN;
    order_fill(order, q->n);
    const bool done = order_by_u64(order, q->n, begin) &&
                      distribute(&m->dequeues, order, q->n, q->process, q->thread, q->begin_ns, mem);
    arena_drop(mem, order);
    arena_drop(mem, begin);
    return done;
}

/* Finds the enqueue span of each dequeue span by the id of the task; if an id repeats, the last enqueue span counts. */
static bool join_queue(struct memory_names *m, const struct framework *f, struct arena *mem)
{
    struct keys ids = { 0 };
    uint32_t *last = arena_take(mem, f->enqueue.n, sizeof *last); /* row with an id, by its place */
    m->enqueue = arena_take(mem, f->dequeue.n, sizeof *m->enqueue);
    if (!last || !m->enqueue)
        return false;
    for (uint32_t i = 0; i < f->enqueue.n; i++) {
        const uint32_t place = keys_add(&ids, f->enqueue.id[i], mem);
        if (place == KEYS_NO_MEMORY)
            return false;
        last[place] = i;
    }
    for (size_t i = 0; i < f->dequeue.n; i++) {
        const uint32_t place = keys_find(&ids, f->dequeue.id[i]);
        m->enqueue[i] = place == KEYS_NONE ? NO_ROW : last[place];
    }
    arena_drop(mem, last);
    return true;
}

static bool is_operator(const char *name)
{
    return strncmp(name, "aten", 4) == 0 || strncmp(name, "npu", 3) == 0;
}

/* Fills `up` and `called`. Parents precede their children in the order of begin, so that their results are known. */
static bool find_callers(struct memory_names *m, const struct collection *s, struct arena *mem)
{
    const struct framework_ops *o = &s->framework.ops;
    m->up = arena_take(mem, o->n, sizeof *m->up);
    m->called = arena_take(mem, o->n, sizeof *m->called);
    if (!m->up || !m->called)
        return false;
    for (size_t i = 0; i < o->n; i++) {
        const uint32_t row = s->tree.by_begin[i], parent = s->tree.parent[row];
        m->up[row] = parent;
        m->called[row] = is_operator(names_text(s->profile.names, o->name[row])) ? row
                         : parent == NO_ROW                                      ? NO_ROW
                                                                                 : m->called[parent];
    }
    return true;
}

bool memory_names_make(struct memory_names *m, const struct collection *s, struct arena *mem)
{
    *m = (struct memory_names){ .collection = s };
    return distribute_ops(m, s, mem) && distribute_dequeues(m, &s->framework.dequeue, mem) &&
           join_queue(m, &s->framework, mem) && find_callers(m, s, mem);
}

/* The innermost operator around an operator, or the operator itself, that had not ended at a time. Operators that have
 * ended are skipped by all later requests: `up` is shortened, so that a deep tree is not climbed repeatedly. */
static uint32_t still_open(struct memory_names *m, uint32_t op, int64_t at_ns)
{
    const int64_t *end_ns = m->collection->framework.ops.end_ns;
    while (op != NO_ROW && end_ns[op] < at_ns) {
        const uint32_t next = m->up[op];
        if (next != NO_ROW && end_ns[next] < at_ns)
            m->up[op] = m->up[next];
        op = next;
    }
    return op;
}

name_id memory_name(struct memory_names *m, size_t row)
{
    const struct framework *f = &m->collection->framework;
    const int64_t at_ns = f->memory.time_ns[row];
    const uint64_t thread = thread_key(f->memory.process[row], f->memory.thread[row]);
    const uint32_t task = last_begun(&m->dequeues, thread, at_ns);
    uint32_t op;
    if (task != NO_ROW && at_ns < f->dequeue.end_ns[task]) {
        const uint32_t from = m->enqueue[task];
        op = from == NO_ROW ? NO_ROW
                            : last_begun(&m->ops, thread_key(f->enqueue.process[from], f->enqueue.thread[from]),
                                         f->enqueue.end_ns[from]);
        op = op == NO_ROW ? NO_ROW : m->called[op];
    } else {
        op = still_open(m, last_begun(&m->ops, thread, at_ns), at_ns);
    }
    return op == NO_ROW ? NAME_EMPTY : f->ops.name[op];
}
