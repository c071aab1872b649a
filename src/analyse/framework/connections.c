/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/collection_analyse.h"

#include "analyse/flow/marks.h"
#include "analyse/framework/op_tree.h"
#include "base/memory/keys.h"
#include "base/memory/sort.h"
#include "raw/host_records.h"

static const uint64_t SIGN = UINT64_C(1) << 63;

/* Calls that operators may have made: launches of the runtime, or marks of the user. By begin. */
struct calls_made {
    size_t n;
    int64_t *begin_ns, *end_ns;
    uint64_t *thread, *id;
};

static bool calls_take(struct calls_made *c, size_t n, struct arena *mem)
{
    *c = (struct calls_made){ .n = n };
    int64_t **const time[] = { &c->begin_ns, &c->end_ns };
    uint64_t **const number[] = { &c->thread, &c->id };
    for (size_t i = 0; i < 2; i++) {
        *time[i] = arena_take(mem, n, sizeof **time[i]);
        *number[i] = arena_take(mem, n, sizeof **number[i]);
    }
    return !arena_failed(mem);
}

static bool calls_sort(struct calls_made *c, struct arena *mem)
{
    struct calls_made sorted;
    uint32_t *order = arena_take(mem, c->n, sizeof *order);
    uint64_t *key = arena_take(mem, c->n, sizeof *key);
    if (!order || !key || !calls_take(&sorted, c->n, mem))
        return false;
    for (size_t i = 0; i < c->n; i++)
        key[i] = (uint64_t)c->begin_ns[i] ^ SIGN;
    order_fill(order, c->n);
    if (!order_by_u64(order, c->n, key))
        return false;
    order_apply(sorted.begin_ns, c->begin_ns, order, c->n, sizeof *c->begin_ns);
    order_apply(sorted.end_ns, c->end_ns, order, c->n, sizeof *c->end_ns);
    order_apply(sorted.thread, c->thread, order, c->n, sizeof *c->thread);
    order_apply(sorted.id, c->id, order, c->n, sizeof *c->id);
    *c = sorted;
    return true;
}

/* Which calls launch tasks. On NPUs: calls of the node level with the type "launch". On GPUs there is no such type:
 * calls that have tasks. */
static bool *launching(const struct profile *p, struct arena *mem)
{
    const struct calls *c = &p->host.calls;
    const struct host_tasks *t = &p->host.tasks;
    bool *is_launch = arena_take(mem, c->n, sizeof *is_launch);
    if (!is_launch)
        return NULL;
    if (p->chip->task_log == TASK_LOG_CUDA) {
        for (size_t i = 0; i < t->n; i++)
            if (t->connection[i] > 0 && t->connection[i] <= c->n)
                is_launch[t->connection[i] - 1] = true;
        return is_launch;
    }
    const name_id launch = names_addz(p->names, "launch");
    for (size_t i = 0; i < c->n; i++)
        is_launch[i] = c->level[i] == LEVEL_NODE && dictionary_type(&p->dictionary, c->level[i], c->type[i]) == launch;
    return is_launch;
}

static bool launches_of(struct calls_made *out, const struct profile *p, struct arena *mem)
{
    const struct calls *c = &p->host.calls;
    const struct source *s = &p->host.source;
    const bool *is_launch = launching(p, mem);
    if (!is_launch || !calls_take(out, c->n, mem))
        return false;
    out->n = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (!is_launch[i] || !c->is_shown[i])
            continue;
        const size_t row = out->n++;
        out->begin_ns[row] = source_host_ns(s, c->begin[i]);
        out->end_ns[row] = source_host_ns(s, c->end[i]);
        out->thread[row] = thread_key(s->pid, c->thread[i]);
        out->id[row] = i + 1;
    }
    return calls_sort(out, mem);
}

static bool marks_of(struct calls_made *out, const struct profile *p, struct arena *mem)
{
    const struct marks *m = &p->host.records.marks;
    const struct source *s = &p->host.source;
    if (!calls_take(out, m->n, mem))
        return false;
    out->n = 0;
    for (size_t i = 0; i < m->n; i++) {
        const int64_t begin_ns = source_host_ns(s, m->begin[i]);
        if (begin_ns < s->begin_ns)
            continue;
        const size_t row = out->n++;
        out->begin_ns[row] = begin_ns;
        out->end_ns[row] = source_host_ns(s, m->end[i]);
        out->thread[row] = thread_key(s->pid, m->thread[i]);
        out->id[row] = i < m->n_plain ? MARK_WITHOUT_ID : mark_connection(mark_unique_id(m, i));
    }
    return calls_sort(out, mem);
}

/* Pairs forward and backward operators: of the operators with a sequence number, the last one with a forward thread is
 * the backward, and the last one without is the forward. pair[row]: number of the pair + 1, or 0; pairs are numbered in
 * the order in which their sequence numbers appear in the file. */
static uint32_t *pair_ops(const struct framework_ops *o, const uint32_t *row, size_t n, struct arena *mem)
{
    uint32_t *pair = arena_take(mem, o->n, sizeof *pair);
    uint32_t *last[2] = { arena_take(mem, n, sizeof **last), arena_take(mem, n, sizeof **last) }; /* row + 1 */
    struct keys sequence = { 0 };
    if (arena_failed(mem))
        return NULL;
    for (size_t i = 0; i < n; i++) {
        const uint32_t op = row[i];
        if (o->sequence[op] < 0)
            continue;
        const uint32_t place = keys_add(&sequence, (uint64_t)o->sequence[op], mem);
        if (place == KEYS_NO_MEMORY)
            return NULL;
        last[o->forward_thread[op] != 0][place] = op + 1;
    }
    uint32_t n_pairs = 0;
    for (size_t i = 0; i < sequence.key.n; i++)
        if (last[0][i] > 0 && last[1][i] > 0)
            pair[last[0][i] - 1] = pair[last[1][i] - 1] = ++n_pairs;
    return pair;
}

static bool sort_by_begin(const struct framework_ops *o, uint32_t *row, size_t n, struct arena *mem)
{
    uint64_t *key = arena_take(mem, o->n, sizeof *key);
    for (size_t i = 0; key && i < n; i++)
        key[row[i]] = (uint64_t)o->begin_ns[row[i]] ^ SIGN;
    return key && order_by_u64(row, n, key);
}

static void split_ops(struct connections *c, const struct collection *s, const struct framework_ops *o)
{
    size_t n_plain = 0;
    for (size_t i = 0; i < o->n; i++)
        n_plain += !op_is_mark(s->profile.names, o->name[i]);
    c->n = o->n;
    c->n_plain = n_plain;
    size_t plain = 0, marked = n_plain;
    for (uint32_t i = 0; i < o->n; i++)
        c->op[op_is_mark(s->profile.names, o->name[i]) ? marked++ : plain++] = i;
}

/* Calls, and who made them; `first`: the first of connections.op among which they were searched. */
struct made {
    struct calls_made calls;
    struct callers by;
    size_t first;
};

static bool find_callers(struct made *m, const struct connections *all, const struct framework *f, size_t first,
                         size_t n, struct arena *mem)
{
    m->first = first;
    m->calls.n = n > 0 ? m->calls.n : 0;
    if (m->calls.n == 0)
        return true;
    const struct calls_made *c = &m->calls;
    m->by = (struct callers){ f, all->op + first, n, { c->n, c->begin_ns, c->end_ns, c->thread }, NULL, NULL };
    return sort_by_begin(&f->ops, all->op + first, n, mem) && callers_find(&m->by, mem);
}

static bool list_ids(struct connections *c, const uint32_t *pair, uint64_t first_pair, const struct made *made,
                     size_t n_made, struct arena *mem)
{
    c->first = arena_take(mem, c->n + 1, sizeof *c->first);
    uint32_t *next = arena_take(mem, c->n + 1, sizeof *next);
    if (!c->first || !next)
        return false;
    for (size_t i = 0; i < c->n; i++)
        next[i] = pair[c->op[i]] > 0;
    for (size_t k = 0; k < n_made; k++)
        for (size_t i = 0; i < made[k].calls.n; i++)
            if (made[k].by.op[i] != NO_ROW)
                next[made[k].first + made[k].by.op[i]]++;
    for (size_t i = 0; i < c->n; i++) {
        c->first[i + 1] = c->first[i] + next[i];
        next[i] = c->first[i];
    }
    c->id = arena_take(mem, c->first[c->n], sizeof *c->id);
    if (!c->id)
        return false;
    for (size_t i = 0; i < c->n; i++)
        if (pair[c->op[i]] > 0)
            c->id[next[i]++] = first_pair + pair[c->op[i]] - 1;
    for (size_t k = 0; k < n_made; k++)
        for (size_t i = 0; i < made[k].calls.n; i++)
            if (made[k].by.op[i] != NO_ROW)
                c->id[next[made[k].first + made[k].by.op[i]]++] = made[k].calls.id[i];
    return true;
}

bool connections_find(struct connections *c, const struct collection *s, const struct framework *f, struct arena *mem)
{
    struct arena *temp = arena_new();
    struct made made[2] = { 0 };
    *c = (struct connections){ .op = arena_take(mem, f->ops.n, sizeof *c->op) };
    bool done = temp && c->op;
    if (done)
        split_ops(c, s, &f->ops);
    const uint32_t *pair = done ? pair_ops(&f->ops, c->op, c->n_plain, temp) : NULL;
    uint64_t first_pair = CONNECTION_FRAMEWORK;
    for (size_t i = 0; i < f->enqueue.n; i++)
        if (f->enqueue.id[i] + 1 + CONNECTION_FRAMEWORK > first_pair)
            first_pair = f->enqueue.id[i] + 1 + CONNECTION_FRAMEWORK;

    done = pair && launches_of(&made[0].calls, &s->profile, temp) && marks_of(&made[1].calls, &s->profile, temp) &&
           find_callers(&made[0], c, f, 0, c->n_plain, temp) &&
           find_callers(&made[1], c, f, c->n_plain, c->n - c->n_plain, temp) &&
           list_ids(c, pair, first_pair, made, 2, mem);
    c->dequeue = done ? queue_pairs(&f->enqueue, &f->dequeue, mem) : NULL;
    arena_free(temp);
    return c->dequeue != NULL;
}
