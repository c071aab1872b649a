/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/collection_analyse.h"

#include <string.h>

#include "analyse/framework/memory_series.h"
#include "analyse/framework/op_tree.h"
#include "base/memory/columns.h"
#include "base/memory/keys.h"
#include "base/memory/sort.h"
#include "profile/collection.h"

/* The operator of an allocation.
 *
 * It is the one that its thread was in; or, where the thread dequeues tasks, the one that enqueued the task. Built
 * once for a collection; everything is in the arena of the caller. */

/* Rows of some table, thread by thread, by begin within a thread. */
struct rows_by_thread {
    const int64_t *begin_ns;
    uint32_t *row;
    struct keys threads; /* process << 32 | thread */
    size_t n_threads;
    uint32_t *first; /* n_threads + 1 positions in `row` */
    uint32_t *found; /* by thread: the position at which the last search ended */
};

struct memory_names {
    const struct collection *collection;
    struct rows_by_thread ops, dequeues;
    uint32_t *up;      /* by operator: an operator around it; those that have ended are removed when they are met */
    uint32_t *called;  /* by operator: the nearest one around it, or itself, with the name of an operator; or NO_ROW */
    uint32_t *enqueue; /* by dequeue span: the enqueue span of its task; or NO_ROW */
};

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

/* false: no memory */
static bool memory_names_make(struct memory_names *m, const struct collection *s, struct arena *mem)
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

/* The row of the operator; NO_ROW: none. To be called in the order of time: operators that have ended are
 * forgotten. */
static uint32_t memory_op(struct memory_names *m, size_t row)
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
    return op;
}

/* The events of device allocators in two orders, in scratch memory. */
struct memory_lifetimes_events {
    size_t n;
    uint64_t *time;       /* of every row, as an unsigned sort key */
    uint32_t *by_time;    /* rows */
    uint32_t *by_address; /* rows by process, address and time */
    uint32_t *position;   /* of every row, in by_time */
};

static bool events_sort(struct memory_lifetimes_events *v, const struct framework_memory *m, struct arena *mem)
{
    arena_columns(mem, m->n, v->time, v->by_time, v->by_address, v->position);
    if (arena_failed(mem))
        return false;
    for (uint32_t i = 0; i < m->n; i++) {
        v->time[i] = (uint64_t)m->time_ns[i] ^ SIGN;
        if (memory_is_on_device(m->device_type[i]) && m->allocator[i] == ALLOCATOR_INNER)
            v->by_time[v->n++] = i;
    }
    if (!order_by_u64(v->by_time, v->n, v->time))
        return false;
    for (uint32_t i = 0; i < v->n; i++) {
        v->by_address[i] = v->by_time[i];
        v->position[v->by_time[i]] = i;
    }
    return order_by_u64(v->by_address, v->n, m->pointer) && order_by_u32(v->by_address, v->n, m->process);
}

/* Lifetimes as they are found: address by address. */
struct memory_lifetimes_found {
    size_t n;
    uint32_t *row[3];    /* by kind */
    uint32_t *position;  /* by time, of the first event of the address */
    uint64_t n_unpaired; /* halves without the other */
};

static bool found_take(struct memory_lifetimes_found *f, size_t most, struct arena *mem)
{
    for (int k = 0; k < 3; k++)
        f->row[k] = arena_take(mem, most, sizeof *f->row[k]);
    f->position = arena_take(mem, most, sizeof *f->position);
    return !arena_failed(mem);
}

/* Counts the missing events of the last lifetime. Blocks of the caching allocator are allocated, freed and returned to
 * the pool; on GPUs, and where records name owners, there is no return. Workspaces are not checked: they are not
 * returned to a pool. */
static void count_missing(struct memory_lifetimes_found *f, const struct framework_memory *m)
{
    const size_t life = f->n - 1;
    const uint32_t row = f->row[MEMORY_MALLOC][life];
    if (m->component[row] != COMPONENT_CACHING)
        return;
    const bool has_two = m->owner || m->device_type[row] == MEMORY_ON_CUDA;
    for (int k = MEMORY_FREE; k <= (has_two ? MEMORY_FREE : MEMORY_BLOCK_FREE); k++)
        f->n_unpaired += f->row[k][life] == NO_ROW;
}

/* Divides the events of one address, by time, into lifetimes. */
static void find_lives(struct memory_lifetimes_found *f, const struct framework_memory *m, const uint32_t *row,
                       size_t n, uint32_t position)
{
    bool is_open = false;
    for (size_t i = 0; i < n; i++) {
        const uint8_t kind = m->kind[row[i]];
        if (kind > MEMORY_BLOCK_FREE)
            continue;
        if (is_open && f->row[kind][f->n - 1] == NO_ROW) {
            f->row[kind][f->n - 1] = row[i];
            continue;
        }
        if (is_open)
            count_missing(f, m);
        if (is_open && kind == MEMORY_MALLOC && m->owner && f->row[MEMORY_FREE][f->n - 1] == NO_ROW)
            f->n--; /* its end was lost: MindSpore's own table has only the later one */
        is_open = kind == MEMORY_MALLOC;
        f->n_unpaired += !is_open;
        if (is_open) {
            f->row[MEMORY_MALLOC][f->n] = row[i];
            f->row[MEMORY_FREE][f->n] = f->row[MEMORY_BLOCK_FREE][f->n] = NO_ROW;
            f->position[f->n++] = position;
        }
    }
    if (is_open)
        count_missing(f, m);
}

static void find_all(struct memory_lifetimes_found *f, const struct framework_memory *m,
                     const struct memory_lifetimes_events *v)
{
    for (size_t first = 0, n; first < v->n; first += n) {
        const uint32_t *row = v->by_address + first;
        for (n = 1;
             first + n < v->n && m->pointer[row[n]] == m->pointer[*row] && m->process[row[n]] == m->process[*row];)
            n++;
        find_lives(f, m, row, n, v->position[*row]);
    }
}

static bool put_in_order(struct memory_lives *l, const struct memory_lifetimes_found *f,
                         const struct memory_lifetimes_events *v, struct arena *mem, struct arena *scratch)
{
    uint32_t *order = arena_take(scratch, f->n, sizeof *order);
    uint64_t *when = arena_take(scratch, f->n, sizeof *when);
    uint32_t **const column[] = {
        [MEMORY_MALLOC] = &l->taken, [MEMORY_FREE] = &l->freed, [MEMORY_BLOCK_FREE] = &l->returned
    };
    for (int k = 0; k < 3; k++)
        *column[k] = arena_take(mem, f->n, sizeof **column[k]);
    l->name = arena_take(mem, f->n, sizeof *l->name);
    l->op = arena_take(mem, f->n, sizeof *l->op);
    if (arena_failed(mem) || arena_failed(scratch))
        return false;
    for (size_t i = 0; i < f->n; i++)
        when[i] = v->time[f->row[MEMORY_MALLOC][i]];
    order_fill(order, f->n);
    if (!order_by_u32(order, f->n, f->position) || !order_by_u64(order, f->n, when))
        return false;
    for (int k = 0; k < 3; k++)
        order_apply(*column[k], f->row[k], order, f->n, sizeof **column[k]);
    l->n = f->n;
    return true;
}

bool memory_lives_analyse(struct collection *s, struct error *e)
{
    const struct framework_memory *m = &s->framework.memory;
    struct framework_file *file = &s->framework.file[FRAMEWORK_MEMORY];
    struct arena *scratch = arena_new();
    struct memory_lifetimes_events v = { 0 };
    struct memory_lifetimes_found f = { 0 };
    struct memory_names names;
    s->lives = (struct memory_lives){ 0 };
    bool done = scratch && events_sort(&v, m, scratch) && found_take(&f, v.n, scratch);
    if (done)
        find_all(&f, m, &v);
    done = done && put_in_order(&s->lives, &f, &v, s->mem, scratch) &&
           (m->owner || s->lives.n == 0 || memory_names_make(&names, s, scratch));
    uint64_t n_nameless = 0;
    for (size_t i = 0; done && i < s->lives.n; i++) {
        const uint32_t op = m->owner ? NO_ROW : memory_op(&names, s->lives.taken[i]);
        s->lives.op[i] = op;
        s->lives.name[i] = m->owner       ? m->owner[s->lives.taken[i]]
                           : op == NO_ROW ? NAME_EMPTY
                                          : s->framework.ops.name[op];
        n_nameless += s->lives.name[i] == NAME_EMPTY;
    }
    losses_add(&file->lost, LOSS_UNPAIRED, f.n_unpaired, file->name, 0);
    losses_add(&file->lost, LOSS_UNMATCHED, n_nameless, file->name, 0);
    done = done && !arena_failed(scratch);
    arena_free(scratch);
    return done || error_no_memory(e, s->path);
}
