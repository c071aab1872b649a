/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/host/host_analysis.h"

#include <string.h>

#include "base/memory/arena.h"
#include "base/memory/sort.h"
#include "raw/host_records.h"

/* Deeper nesting than this is no call stack but a damaged file. */
enum { DEEPEST = 20 };

static bool find_threads(struct profile *p)
{
    struct calls *c = &p->host.calls;
    for (size_t i = 0; i < c->n; i++)
        c->n_threads += i == 0 || c->thread[i] != c->thread[i - 1];
    c->first_of_thread = arena_take(p->host.source.mem, c->n_threads + 1, sizeof *c->first_of_thread);
    if (!c->first_of_thread)
        return false;
    size_t at = 0;
    for (uint32_t i = 0; i < c->n; i++)
        if (i == 0 || c->thread[i] != c->thread[i - 1])
            c->first_of_thread[at++] = i;
    c->first_of_thread[at] = (uint32_t)c->n;
    return true;
}

/* The calls of these levels form the tree. Of nested calls of one level only the outermost is part of it, except for
 * nodes. */
static const uint16_t tree_level[] = { LEVEL_ACL, LEVEL_MODEL, LEVEL_COMMUNICATION, LEVEL_NODE };
enum { TREE_LEVELS = sizeof tree_level / sizeof *tree_level, NODE_AT = TREE_LEVELS - 1 };

static void select_thread(struct calls *c, size_t first, size_t end)
{
    uint64_t last_begin[TREE_LEVELS] = { 0 }, last_end[TREE_LEVELS] = { 0 };
    for (size_t i = first; i < end; i++) {
        size_t k = 0;
        while (k < TREE_LEVELS && tree_level[k] != c->level[i])
            k++;
        if (k == TREE_LEVELS || c->begin[i] == c->end[i])
            continue;
        c->in_tree[i] = k == NODE_AT || last_end[k] < c->begin[i] || c->end[i] < last_begin[k];
        if (c->in_tree[i] && k != NODE_AT) {
            last_begin[k] = c->begin[i];
            last_end[k] = c->end[i];
        }
    }
}

/* A call is inside the last one before it that ends no earlier. */
static void nest_thread(struct profile *p, size_t first, size_t end)
{
    struct calls *c = &p->host.calls;
    uint32_t open[DEEPEST];
    size_t depth = 0;
    for (size_t i = first; i < end; i++) {
        if (!c->in_tree[i])
            continue;
        while (depth > 0 && c->end[open[depth - 1]] < c->end[i])
            depth--;
        if (depth == DEEPEST) {
            record_lost(&p->host.source, "api_event.data", LOSS_BAD_VALUE, NULL);
            c->in_tree[i] = false;
            continue;
        }
        c->parent[i] = depth > 0 ? open[depth - 1] : NO_ROW;
        open[depth++] = (uint32_t)i;
    }
}

/* Calls that ended before the collection are not shown, unless they are part of the loading of a model, which explains
 * the tasks of that model. */
static void show_thread(struct profile *p, size_t first, size_t end)
{
    struct calls *c = &p->host.calls;
    const struct source *s = &p->host.source;
    uint64_t load_begin = 1, load_end = 0;
    for (size_t i = first; i < end; i++) {
        if (c->level[i] == LEVEL_MODEL && c->end[i] > load_end &&
            dictionary_type(&p->dictionary, LEVEL_MODEL, c->type[i]) == NAME_MODEL_LOAD) {
            load_begin = c->begin[i];
            load_end = c->end[i];
        }
        const bool in_load = c->begin[i] >= load_begin && c->end[i] <= load_end;
        c->is_shown[i] = in_load || source_host_ns(s, c->end[i]) >= s->begin_ns;
        losses_add(&p->host.source.lost, LOSS_OUTSIDE, !c->is_shown[i], "host/data/api_event.data", 0);
    }
}

/* To which calls the records of a family are attached. */
struct attach {
    const struct calls *calls;
    uint16_t level;
    bool to_innermost; /* descriptions of operators belong to the innermost node, all other records to the outermost */
};

/* The first node from `row` on that had not ended at `time`. Records are in the order of time, so that earlier nodes
 * are not needed again. */
static size_t next_node(const struct attach *a, size_t row, size_t end, uint64_t time)
{
    const struct calls *c = a->calls;
    while (row < end && (!c->in_tree[row] || c->level[row] != a->level || c->end[row] < time))
        row++;
    return row;
}

/* Returns the number of records that no node of their level contains; they have no call. */
static uint64_t attach_records(const struct attach *a, size_t n, const uint32_t *thread, const uint64_t *time,
                               const uint16_t *level, uint32_t *call)
{
    const struct calls *c = a->calls;
    uint64_t lost = 0;
    size_t t = 0, node = 0, inner = 0, end = 0; /* thread number; the rows of its calls that are left */
    for (size_t i = 0; i < n; i++) {
        if (level && level[i] != a->level)
            continue;
        if (i == 0 || t == 0 || c->thread[c->first_of_thread[t - 1]] != thread[i]) {
            while (t < c->n_threads && c->thread[c->first_of_thread[t]] < thread[i])
                t++;
            const bool known = t < c->n_threads && c->thread[c->first_of_thread[t]] == thread[i];
            node = known ? c->first_of_thread[t] : 0;
            end = known ? c->first_of_thread[t + 1] : 0;
            inner = node;
            t += known;
        }
        node = next_node(a, node, end, time[i]);
        if (node == end || c->begin[node] >= time[i]) {
            lost++;
            continue;
        }
        call[i] = (uint32_t)node;
        if (!a->to_innermost)
            continue;
        inner = next_node(a, inner > node ? inner : node + 1, end, time[i]);
        if (inner < end && c->begin[inner] <= time[i])
            call[i] = (uint32_t)inner;
    }
    return lost;
}

static void attach_all(struct profile *p)
{
    struct host_records *h = &p->host.records;
    const struct calls *c = &p->host.calls;
    const struct attach model = { c, LEVEL_MODEL, false }, node = { c, LEVEL_NODE, false },
                        innermost = { c, LEVEL_NODE, true }, comm = { c, LEVEL_COMMUNICATION, false };
    uint64_t lost = 0;
    lost += attach_records(&model, h->fusions.n, h->fusions.thread, h->fusions.time, NULL, h->fusions.call);
    lost += attach_records(&innermost, h->node_basics.n, h->node_basics.thread, h->node_basics.time, NULL,
                           h->node_basics.call);
    lost += attach_records(&node, h->node_attrs.n, h->node_attrs.thread, h->node_attrs.time, NULL, h->node_attrs.call);
    lost += attach_records(&node, h->tensors.n, h->tensors.thread, h->tensors.time, NULL, h->tensors.call);
    if (p->chip->task_log != TASK_LOG_CUDA) /* see nccl_collectives.c */
        lost += attach_records(&node, h->hccl_ops.n, h->hccl_ops.thread, h->hccl_ops.time, NULL, h->hccl_ops.call);
    lost += attach_records(&comm, h->hccl_infos.n, h->hccl_infos.thread, h->hccl_infos.time, NULL, h->hccl_infos.call);
    lost +=
        attach_records(&node, h->contexts.n, h->contexts.thread, h->contexts.time, h->contexts.level, h->contexts.call);
    lost +=
        attach_records(&comm, h->contexts.n, h->contexts.thread, h->contexts.time, h->contexts.level, h->contexts.call);
    losses_add(&p->host.source.lost, LOSS_UNMATCHED, lost, "host/data", 0);
}

/* A task belongs to the deepest call around it. */
static void attach_tracks(struct profile *p)
{
    const struct calls *c = &p->host.calls;
    struct tracks *t = &p->host.records.tracks;
    size_t thread = 0, row = 0, end = 0, depth = 0;
    uint32_t open[DEEPEST];
    for (size_t i = 0; i < t->n; i++) {
        if (i == 0 || t->thread[i] != t->thread[i - 1]) {
            while (thread < c->n_threads && c->thread[c->first_of_thread[thread]] < t->thread[i])
                thread++;
            const bool known = thread < c->n_threads && c->thread[c->first_of_thread[thread]] == t->thread[i];
            row = known ? c->first_of_thread[thread] : 0;
            end = known ? c->first_of_thread[thread + 1] : 0;
            depth = 0;
        }
        for (; row < end && c->begin[row] < t->time[i]; row++) {
            if (!c->in_tree[row])
                continue;
            while (depth > 0 && c->end[open[depth - 1]] < c->end[row])
                depth--;
            open[depth++] = (uint32_t)row; /* in_tree promises that there is room */
        }
        while (depth > 0 && c->end[open[depth - 1]] < t->time[i])
            depth--;
        t->call[i] = depth > 0 ? open[depth - 1] : NO_ROW;
    }
}

struct call_path call_path_of(const struct calls *c, uint32_t call)
{
    struct call_path path = { NO_ROW, NO_ROW, NO_ROW };
    for (; call != NO_ROW; call = c->parent[call]) {
        uint32_t *slot = c->level[call] == LEVEL_MODEL           ? &path.model
                         : c->level[call] == LEVEL_NODE          ? &path.node
                         : c->level[call] == LEVEL_COMMUNICATION ? &path.communication
                                                                 : NULL;
        if (slot && *slot == NO_ROW)
            *slot = call;
    }
    return path;
}

bool calls_analyse(struct profile *p, struct error *e)
{
    struct calls *c = &p->host.calls;
    struct arena *mem = p->host.source.mem;
    c->parent = arena_take(mem, c->n, sizeof *c->parent);
    c->in_tree = arena_take(mem, c->n, sizeof *c->in_tree);
    c->is_shown = arena_take(mem, c->n, sizeof *c->is_shown);
    if (!c->parent || !c->in_tree || !c->is_shown || !find_threads(p))
        return error_no_memory(e, p->path);
    for (size_t t = 0; t < c->n_threads; t++) {
        const size_t first = c->first_of_thread[t], end = c->first_of_thread[t + 1];
        select_thread(c, first, end);
        nest_thread(p, first, end);
        show_thread(p, first, end);
    }
    attach_all(p);
    attach_tracks(p);
    return true;
}

static const uint64_t SIGN = UINT64_C(1) << 63;
enum { FEW = 16 };

struct nesting_intervals {
    const int64_t *begin_ns, *end_ns;
};

/* Whether a precedes b, if both begin together: the longer one precedes; of equally long ones, the one that was
 * recorded later; of spans without duration, the one that was recorded earlier. */
static bool is_before(const struct nesting_intervals *v, uint32_t a, uint32_t b)
{
    if (v->end_ns[a] != v->end_ns[b])
        return v->end_ns[a] > v->end_ns[b];
    return v->end_ns[a] > v->begin_ns[a] ? a > b : a < b;
}

/* Rows that begin together. `key` is by row. */
static bool run_sort(const struct nesting_intervals *v, uint32_t *row, size_t n, uint64_t *key)
{
    if (n > FEW) {
        for (size_t i = 0; i < n; i++)
            key[row[i]] = v->end_ns[row[i]] > v->begin_ns[row[i]] ? ~row[i] : row[i];
        if (!order_by_u64(row, n, key))
            return false;
        for (size_t i = 0; i < n; i++)
            key[row[i]] = ~((uint64_t)v->end_ns[row[i]] ^ SIGN);
        return order_by_u64(row, n, key);
    }
    for (size_t i = 1; i < n; i++) {
        const uint32_t one = row[i];
        size_t at = i;
        for (; at > 0 && is_before(v, one, row[at - 1]); at--)
            row[at] = row[at - 1];
        row[at] = one;
    }
    return true;
}

bool nesting_order(uint32_t *order, size_t n, const int64_t *begin_ns, const int64_t *end_ns)
{
    const struct nesting_intervals v = { begin_ns, end_ns };
    struct arena *mem = arena_new();
    uint64_t *key = mem ? arena_take(mem, n, sizeof *key) : NULL;
    order_fill(order, n);
    for (size_t i = 0; key && i < n; i++)
        key[i] = (uint64_t)begin_ns[i] ^ SIGN;
    bool done = key && order_by_u64(order, n, key);
    for (size_t i = 0, end; done && i < n; i = end) {
        for (end = i + 1; end < n && begin_ns[order[end]] == begin_ns[order[i]];)
            end++;
        done = end - i == 1 || run_sort(&v, order + i, end - i, key);
    }
    arena_free(mem);
    return done;
}
