/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/memory_timeline/memory_flow.h"

#include <stdlib.h>

#include "raw/framework_values.h"

static bool is_node(const struct event_tree *t, const struct storages *s, uint32_t at)
{
    const struct event v = event_of(t->f, t->event[at]);
    return v.kind == EVENT_MEMORY ||
           (v.kind == EVENT_OP && (t->f->ops.scope[v.row] == OP_SCOPE_BACKWARD || s->is_known[v.row]));
}

/* Marks the outermost nodes, by position. */
static size_t mark_nodes(const struct event_tree *t, const struct storages *s, bool *is_outermost)
{
    size_t n = 0;
    for (uint32_t at = 0; at < t->n;) {
        is_outermost[at] = is_node(t, s, at);
        n += is_outermost[at];
        at = is_outermost[at] ? t->end[at] : at + 1;
    }
    return n;
}

struct data_flow_building {
    struct data_flow *d;
    const struct event_tree *t;
    const struct storages *s;
    size_t n_edges;
    uint32_t *edge_of; /* by storage: its edge in this node + 1; numbers of earlier nodes are not larger than `first` */
    uint8_t *seen;     /* by edge of this node: bits of enum use */
    uint32_t *version; /* by storage: now */
};

static struct flow_edge *edge_to(struct data_flow_building *b, size_t first, uint32_t storage)
{
    if (b->edge_of[storage] <= first) {
        b->d->edge[b->n_edges] = (struct flow_edge){ .storage = storage };
        b->seen[b->n_edges - first] = 0;
        b->edge_of[storage] = (uint32_t)++b->n_edges;
    }
    return &b->d->edge[b->edge_of[storage] - 1];
}

/* A tensor is written to if an operator of the node writes to it according to its schema, or if no operator that uses
 * it has a schema. */
static bool is_written(uint8_t seen)
{
    return (seen & 1 << USE_WRITES) || seen == 1 << USE_UNKNOWN;
}

static void add_uses(struct data_flow_building *b, size_t first, uint32_t op)
{
    for (uint32_t u = b->s->first_use[op]; u < b->s->end_use[op]; u++) {
        const struct flow_edge *e = edge_to(b, first, use_storage(b->s->use.at[u]));
        b->seen[e - b->d->edge - (ptrdiff_t)first] |= (uint8_t)(1 << use_how(b->s->use.at[u]));
    }
}

static void add_allocation(struct data_flow_building *b, size_t first, uint32_t row)
{
    const int64_t bytes = b->t->f->memory.size_bytes[row];
    const uint32_t storage = b->s->of_memory[row];
    if (bytes != 0 && b->s->storage.at[storage].has_tensor)
        edge_to(b, first, storage)->what |= bytes > 0 ? EDGE_MAKES : EDGE_FREES;
}

static int by_storage(const void *a, const void *b)
{
    const uint32_t x = ((const struct flow_edge *)a)->storage, y = ((const struct flow_edge *)b)->storage;
    return (x > y) - (x < y);
}

static void add_node(struct data_flow_building *b, uint32_t at)
{
    struct data_flow *d = b->d;
    const size_t first = b->n_edges;
    d->at[d->n_nodes] = at;
    d->first_edge[d->n_nodes++] = (uint32_t)first;
    for (uint32_t i = at; i < b->t->end[at]; i++) {
        const struct event v = event_of(b->t->f, b->t->event[i]);
        if (v.kind == EVENT_OP)
            add_uses(b, first, v.row);
        else if (v.kind == EVENT_MEMORY)
            add_allocation(b, first, v.row);
    }
    for (size_t i = first; i < b->n_edges; i++) {
        struct flow_edge *e = &d->edge[i];
        if (!(e->what & EDGE_FREES) && is_written(b->seen[i - first]))
            e->what |= EDGE_WRITES;
        if (edge_comes_in(e)) {
            e->version = b->version[e->storage];
            b->version[e->storage] += (e->what & EDGE_WRITES) != 0;
        }
        d->is_used[e->storage] = true;
    }
    if (b->n_edges - first > 1)
        qsort(&d->edge[first], b->n_edges - first, sizeof *d->edge, by_storage);
}

static bool data_flow_take(struct data_flow_building *b, size_t n_nodes, size_t n_edges, struct arena *mem,
                           struct arena *scratch)
{
    const size_t n = b->s->storage.n;
    b->d->at = arena_take(mem, n_nodes, sizeof *b->d->at);
    b->d->first_edge = arena_take(mem, n_nodes + 1, sizeof *b->d->first_edge);
    b->d->edge = arena_take(mem, n_edges, sizeof *b->d->edge);
    b->d->first_value = arena_take(mem, n + 1, sizeof *b->d->first_value);
    b->d->is_used = arena_take(mem, n, sizeof *b->d->is_used);
    b->edge_of = arena_take(scratch, n, sizeof *b->edge_of);
    b->version = arena_take(scratch, n, sizeof *b->version);
    b->seen = arena_take(scratch, n, sizeof *b->seen); /* a node has no more edges than there are storages */
    return !arena_failed(mem) && !arena_failed(scratch);
}

static bool build(struct data_flow_building *b, struct arena *mem, struct arena *scratch)
{
    const struct event_tree *t = b->t;
    bool *is_outermost = arena_take(scratch, t->n, sizeof *is_outermost);
    if (!is_outermost)
        return false;
    const size_t n_nodes = mark_nodes(t, b->s, is_outermost);
    const size_t most_edges = b->s->use.n + t->f->memory.n;
    if (most_edges + b->s->storage.n >= UINT32_MAX || !data_flow_take(b, n_nodes, most_edges, mem, scratch))
        return false;
    for (size_t i = 0; i < t->n; i++)
        if (is_outermost[t->order[i]])
            add_node(b, t->order[i]);
    b->d->first_edge[b->d->n_nodes] = (uint32_t)b->n_edges;
    for (size_t i = 0; i < b->s->storage.n; i++) {
        b->d->first_value[i] = (uint32_t)b->d->n_values;
        b->d->n_values += b->version[i] + 1;
    }
    b->d->first_value[b->s->storage.n] = (uint32_t)b->d->n_values;
    return true;
}

bool data_flow_build(struct data_flow *d, const struct event_tree *t, const struct storages *s, struct arena *mem,
                     struct error *e)
{
    *d = (struct data_flow){ 0 };
    struct data_flow_building b = { .d = d, .t = t, .s = s };
    struct arena *scratch = arena_new();
    const bool done = scratch && build(&b, mem, scratch);
    arena_free(scratch);
    return done || error_no_memory(e, t->f->path);
}
