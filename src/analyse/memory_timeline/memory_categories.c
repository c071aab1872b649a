/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/memory_timeline/memory_flow.h"

#include <string.h>

#include "raw/framework_values.h"

const char *const memory_category_name[MEMORY_CATEGORIES] = {
    [MEMORY_PARAMETER] = "PARAMETER",
    [MEMORY_OPTIMIZER_STATE] = "OPTIMIZER_STATE",
    [MEMORY_INPUT] = "INPUT",
    [MEMORY_TEMPORARY] = "TEMPORARY",
    [MEMORY_ACTIVATION] = "ACTIVATION",
    [MEMORY_GRADIENT] = "GRADIENT",
    [MEMORY_AUTOGRAD_DETAIL] = "AUTOGRAD_DETAIL",
    [MEMORY_UNKNOWN] = "UNKNOWN",
};

struct memory_categories_finding {
    struct memory_categories *c;
    const struct event_tree *t;
    const struct storages *s;
    const struct data_flow *d;
    const struct names *names;
    bool *follows_gradient; /* by storage: computed, in some version, from gradients or parameters */
    struct arena *scratch;
};

#define SET(category) (1U << (category))
enum { OF_MODEL = SET(MEMORY_GRADIENT) | SET(MEMORY_PARAMETER) };

static unsigned category_in(const struct memory_categories_finding *w, const struct flow_edge *e)
{
    return memory_category_of(w->c, e->storage, edge_value_in(w->d, e));
}

static unsigned category_out(const struct memory_categories_finding *w, const struct flow_edge *e)
{
    return memory_category_of(w->c, e->storage, edge_value_out(w->d, e));
}

static bool is_backward(const struct memory_categories_finding *w, size_t node)
{
    return w->t->in_backward[w->d->at[node]];
}

/* Where the edges of a node begin; those of the next one begin behind them. */
static const struct flow_edge *edges(const struct memory_categories_finding *w, size_t node)
{
    return w->d->edge + w->d->first_edge[node];
}

/* The categories of all that comes in or goes out, as a set. */
static unsigned categories_around(const struct memory_categories_finding *w, size_t node)
{
    unsigned all = 0;
    for (const struct flow_edge *e = edges(w, node); e < edges(w, node + 1); e++) {
        all |= edge_comes_in(e) ? SET(category_in(w, e)) : 0;
        all |= edge_goes_out(e) ? SET(category_out(w, e)) : 0;
    }
    return all;
}

/* Values are marked by node: those that come in, those that go out, or both. */
enum { IN = 1, OUT = 2, BOTH = IN | OUT };

static bool any_marked(const struct memory_categories_finding *w, size_t node, const bool *marks, unsigned which)
{
    for (const struct flow_edge *e = edges(w, node); e < edges(w, node + 1); e++)
        if (((which & IN) && edge_comes_in(e) && marks[edge_value_in(w->d, e)]) ||
            ((which & OUT) && edge_goes_out(e) && marks[edge_value_out(w->d, e)]))
            return true;
    return false;
}

static void mark(const struct memory_categories_finding *w, size_t node, bool *marks, unsigned which, bool value)
{
    for (const struct flow_edge *e = edges(w, node); e < edges(w, node + 1); e++) {
        if ((which & IN) && edge_comes_in(e))
            marks[edge_value_in(w->d, e)] = value;
        if ((which & OUT) && edge_goes_out(e))
            marks[edge_value_out(w->d, e)] = value;
    }
}

static void set_value(struct memory_categories *c, uint32_t value, enum memory_category category)
{
    if (c->of_value[value] == MEMORY_UNKNOWN) /* the first category counts */
        c->of_value[value] = (uint8_t)category;
}

/* ---- what was recorded ---------------------------------------------------------------------------------------- */

static bool is_one_of(const char *name, const char *a, const char *b)
{
    return strcmp(name, a) == 0 || strcmp(name, b) == 0;
}

/* Accumulation of gradients: its first operator detaches a new gradient or adds to an old one, so that its first tensor
 * is a gradient. */
static void find_accumulated(struct memory_categories_finding *w)
{
    const struct framework_ops *o = &w->t->f->ops;
    for (uint32_t at = 0; at + 1 < w->t->n; at++) {
        const struct event v = event_of(w->t->f, w->t->event[at]);
        const struct event first = event_of(w->t->f, w->t->event[at + 1]);
        if (v.kind == EVENT_OP && o->scope[v.row] == OP_SCOPE_BACKWARD && w->t->end[at] > at + 1 &&
            first.kind == EVENT_OP && w->s->begins_with_tensor[first.row] &&
            is_one_of(names_text(w->names, o->name[v.row]), "torch::autograd::AccumulateGrad",
                      "struct torch::autograd::AccumulateGrad") &&
            is_one_of(names_text(w->names, o->name[first.row]), "aten::detach", "aten::add_"))
            w->c->of_storage[use_storage(w->s->use.at[w->s->first_use[first.row]])] = MEMORY_GRADIENT;
    }
}

static void find_recorded(struct memory_categories_finding *w, enum role role, enum memory_category category)
{
    for (size_t i = 0; i < w->s->recorded.n; i++)
        if (w->s->recorded.at[i].role == role)
            w->c->of_storage[w->s->recorded.at[i].storage] = (uint8_t)category;
}

static void find_temporary(struct memory_categories_finding *w)
{
    for (size_t node = 0; node < w->d->n_nodes; node++)
        for (const struct flow_edge *e = edges(w, node); e < edges(w, node + 1); e++)
            if (edge_is_inside(e))
                w->c->is_temporary[e->storage] = true;
}

/* ---- what follows --------------------------------------------------------------------------------------------- */

/* Finds all storages that depend on gradients or parameters, in any version: if such a storage is an input of a node,
 * all outputs of the node depend on it. Each node is visited once. */
static bool follow_gradients(struct memory_categories_finding *w)
{
    const size_t n = w->s->storage.n, n_edges = w->d->first_edge[w->d->n_nodes];
    bool *follows = w->follows_gradient = arena_take(w->scratch, n, sizeof *follows);
    uint32_t *first = arena_take(w->scratch, n + 2, sizeof *first); /* by storage: of the nodes that it comes into */
    uint32_t *node_of = arena_take(w->scratch, n_edges, sizeof *node_of),
             *queue = arena_take(w->scratch, n, sizeof *queue);
    bool *is_passed = arena_take(w->scratch, w->d->n_nodes, sizeof *is_passed);
    if (arena_failed(w->scratch))
        return false;
    size_t n_queued = 0;
    for (size_t node = 0; node < w->d->n_nodes; node++)
        for (const struct flow_edge *e = edges(w, node); e < edges(w, node + 1); e++) {
            if (!edge_comes_in(e))
                continue;
            first[e->storage + 2]++;
            if (!follows[e->storage] && (SET(category_in(w, e)) & OF_MODEL)) {
                follows[e->storage] = true;
                queue[n_queued++] = e->storage;
            }
        }
    for (size_t i = 2; i < n + 2; i++)
        first[i] += first[i - 1];
    for (size_t node = 0; node < w->d->n_nodes; node++)
        for (const struct flow_edge *e = edges(w, node); e < edges(w, node + 1); e++)
            if (edge_comes_in(e))
                node_of[first[e->storage + 1]++] = (uint32_t)node;

    for (size_t i = 0; i < n_queued; i++)
        for (uint32_t k = first[queue[i]]; k < first[queue[i] + 1]; k++) {
            const uint32_t node = node_of[k];
            if (is_passed[node])
                continue;
            is_passed[node] = true;
            for (const struct flow_edge *e = edges(w, node); e < edges(w, node + 1); e++)
                if (edge_goes_out(e) && !follows[e->storage]) {
                    follows[e->storage] = true;
                    queue[n_queued++] = e->storage;
                }
        }
    arena_drop(w->scratch, node_of);
    return true;
}

/* Inputs: values that are used together with gradients or parameters, were not created by the backward pass, and do not
 * depend on gradients or parameters. */
static bool find_inputs(struct memory_categories_finding *w)
{
    bool *takes_part = arena_take(w->scratch, w->d->n_values, sizeof *takes_part);
    if (!takes_part)
        return false;
    for (size_t node = w->d->n_nodes; node-- > 0;)
        if ((categories_around(w, node) & OF_MODEL) || any_marked(w, node, takes_part, BOTH))
            mark(w, node, takes_part, BOTH, true);
    for (size_t node = 0; node < w->d->n_nodes; node++)
        if (is_backward(w, node))
            mark(w, node, takes_part, OUT, false);
    for (uint32_t storage = 0; storage < w->s->storage.n; storage++)
        for (uint32_t v = w->d->first_value[storage]; v < w->d->first_value[storage + 1]; v++)
            if (takes_part[v] && !w->follows_gradient[storage])
                set_value(w->c, v, MEMORY_INPUT);
    arena_drop(w->scratch, takes_part);
    return true;
}

/* Parameters: the forward pass combines them with inputs, gradients are computed from them, and they depend on
 * gradients. */
static bool find_parameters(struct memory_categories_finding *w)
{
    const struct data_flow *d = w->d;
    bool *is_forward = arena_take(w->scratch, d->n_values, sizeof *is_forward);
    bool *is_candidate = arena_take(w->scratch, d->n_values, sizeof *is_candidate);
    bool *makes_gradient = arena_take(w->scratch, d->n_values, sizeof *makes_gradient);
    if (arena_failed(w->scratch))
        return false;
    for (uint32_t storage = 0; storage < w->s->storage.n; storage++)
        for (uint32_t v = d->first_value[storage]; v < d->first_value[storage + 1]; v++)
            is_forward[v] = memory_category_of(w->c, storage, v) == MEMORY_INPUT;

    for (size_t node = 0; node < d->n_nodes; node++) {
        if (is_backward(w, node) || (categories_around(w, node) & SET(MEMORY_GRADIENT)) ||
            !any_marked(w, node, is_forward, IN))
            continue;
        mark(w, node, is_forward, OUT, true);
        for (const struct flow_edge *e = edges(w, node); e < edges(w, node + 1); e++)
            if (edge_comes_in(e) && !is_forward[edge_value_in(d, e)])
                is_candidate[edge_value_in(d, e)] = true;
    }
    for (size_t node = d->n_nodes; node-- > 0;) {
        bool leads_there = any_marked(w, node, makes_gradient, OUT);
        for (const struct flow_edge *e = edges(w, node); e < edges(w, node + 1); e++)
            leads_there |= edge_goes_out(e) && category_out(w, e) == MEMORY_GRADIENT;
        if (leads_there)
            mark(w, node, makes_gradient, IN, true);
    }
    for (uint32_t storage = 0; storage < w->s->storage.n; storage++)
        for (uint32_t v = d->first_value[storage]; v < d->first_value[storage + 1]; v++)
            if (is_candidate[v] && makes_gradient[v] && w->follows_gradient[storage])
                w->c->of_storage[storage] = MEMORY_PARAMETER;
    arena_drop(w->scratch, is_forward);
    arena_drop(w->scratch, is_candidate);
    arena_drop(w->scratch, makes_gradient);
    return true;
}

/* Activations: outputs of forward nodes that have inputs or activations as inputs and nothing of unknown category. */
static void find_activations(struct memory_categories_finding *w)
{
    enum { NEEDED = SET(MEMORY_INPUT) | SET(MEMORY_ACTIVATION) };
    enum { ALLOWED = NEEDED | SET(MEMORY_PARAMETER) | SET(MEMORY_TEMPORARY) };
    for (size_t node = 0; node < w->d->n_nodes; node++) {
        unsigned in = 0;
        for (const struct flow_edge *e = edges(w, node); e < edges(w, node + 1); e++)
            in |= edge_comes_in(e) ? SET(category_in(w, e)) : 0;
        if (!(in & NEEDED) || (in & ~(unsigned)ALLOWED) || is_backward(w, node))
            continue;
        for (const struct flow_edge *e = edges(w, node); e < edges(w, node + 1); e++)
            if (edge_goes_out(e))
                set_value(w->c, edge_value_out(w->d, e), MEMORY_ACTIVATION);
    }
}

/* Autograd details: outputs of the backward pass without another category. */
static void find_autograd_details(struct memory_categories_finding *w)
{
    enum { BEFORE = SET(MEMORY_UNKNOWN) | SET(MEMORY_AUTOGRAD_DETAIL) };
    for (size_t node = 0; node < w->d->n_nodes; node++) {
        if (!is_backward(w, node))
            continue;
        for (const struct flow_edge *e = edges(w, node); e < edges(w, node + 1); e++)
            if (edge_goes_out(e) && ((e->what & EDGE_MAKES) || (SET(category_in(w, e)) & BEFORE)))
                set_value(w->c, edge_value_out(w->d, e), MEMORY_AUTOGRAD_DETAIL);
    }
}

/* --------------------------------------------------------------------------------------------------------------- */

static bool find(struct memory_categories_finding *w, struct arena *mem)
{
    const size_t n = w->s->storage.n;
    struct memory_categories *c = w->c;
    c->of_storage = arena_take(mem, n, sizeof *c->of_storage);
    c->is_temporary = arena_take(mem, n, sizeof *c->is_temporary);
    c->of_value = arena_take(mem, w->d->n_values, sizeof *c->of_value);
    if (arena_failed(mem))
        return false;
    if (n > 0) {
        memset(c->of_storage, MEMORY_UNKNOWN, n);
        memset(c->of_value, MEMORY_UNKNOWN, w->d->n_values);
    }
    find_accumulated(w);
    find_recorded(w, ROLE_GRADIENT, MEMORY_GRADIENT);
    find_temporary(w);
    find_recorded(w, ROLE_PARAMETER, MEMORY_PARAMETER);
    if (!follow_gradients(w) || !find_inputs(w) || !find_parameters(w))
        return false;
    find_activations(w);
    find_recorded(w, ROLE_OPTIMIZER_STATE, MEMORY_OPTIMIZER_STATE);
    find_autograd_details(w);
    return true;
}

bool memory_categories_find(struct memory_categories *c, const struct event_tree *t, const struct storages *s,
                            const struct data_flow *d, const struct names *names, struct arena *mem, struct error *e)
{
    *c = (struct memory_categories){ 0 };
    struct memory_categories_finding w = { .c = c, .t = t, .s = s, .d = d, .names = names, .scratch = arena_new() };
    const bool done = w.scratch && find(&w, mem);
    arena_free(w.scratch);
    return done || error_no_memory(e, t->f->path);
}
