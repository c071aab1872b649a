/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/memory_timeline/memory_timeline.h"

#include "analyse/framework/collection_analyse.h"
#include "base/memory/columns.h"
#include "base/memory/sort.h"
#include "base/text/stamp.h"
#include "raw/framework_values.h"

/* One row before the rows are in order. */
struct memory_step {
    int64_t time_ns;
    uint64_t bytes;
    uint8_t action, from, to;
};

struct memory_timeline_finding {
    const struct event_tree *t;
    const struct storages *s;
    const struct data_flow *d;
    const struct memory_categories *c;
    uint32_t device;
    int64_t *made_ns, *freed_ns; /* by storage: time of the last record */
    bool *is_made;               /* by storage: made_ns counts */
    LIST(struct memory_step) step;
    struct arena *scratch;
};

static void memory_timeline_add(struct memory_timeline_finding *w, int64_t time_ns, enum memory_action action,
                                uint64_t bytes, unsigned from, unsigned to)
{
    struct memory_step *s = list_add(&w->step, w->scratch);
    if (s)
        *s = (struct memory_step){ time_ns, bytes, (uint8_t)action, (uint8_t)from, (uint8_t)to };
}

static void add_unknown(struct memory_timeline_finding *w, int64_t time_ns, enum memory_action action, uint64_t bytes)
{
    memory_timeline_add(w, time_ns, action, bytes, MEMORY_UNKNOWN, MEMORY_UNKNOWN);
}

/* ---- events of allocators ------------------------------------------------------------------------------------- */

/* Steps of memory in which no tensor was seen. is_live: by the place of an address. */
static void follow_unknown(struct memory_timeline_finding *w, const struct storage *s, int64_t time_ns, int64_t bytes,
                           bool *is_live)
{
    if (bytes > 0) {
        add_unknown(w, time_ns, is_live[s->place] ? MEMORY_CHANGED : MEMORY_MADE, (uint64_t)bytes);
        is_live[s->place] = true;
        return;
    }
    add_unknown(w, time_ns, MEMORY_FREED, -(uint64_t)bytes);
    if (!is_live[s->place])
        add_unknown(w, BEFORE_ALL, MEMORY_WAS_THERE, -(uint64_t)bytes);
    is_live[s->place] = false;
}

static bool follow_allocators(struct memory_timeline_finding *w)
{
    const struct framework_memory *m = &w->t->f->memory;
    bool *is_live = arena_take(w->scratch, w->s->device.at[w->device].addresses.key.n, sizeof *is_live);
    if (!is_live)
        return false;
    for (size_t i = 0; i < w->t->n; i++) {
        const struct event v = event_of(w->t->f, w->t->event[w->t->order[i]]);
        const uint32_t at = v.kind == EVENT_MEMORY ? w->s->of_memory[v.row] : NO_STORAGE;
        if (at == NO_STORAGE || w->s->storage.at[at].device != w->device)
            continue;
        if (!w->s->storage.at[at].has_tensor) {
            follow_unknown(w, &w->s->storage.at[at], m->time_ns[v.row], m->size_bytes[v.row], is_live);
        } else if (m->size_bytes[v.row] > 0) {
            w->made_ns[at] = m->time_ns[v.row];
            w->is_made[at] = true;
        } else {
            w->freed_ns[at] = m->time_ns[v.row];
        }
    }
    return true;
}

/* ---- what tensors lay in -------------------------------------------------------------------------------------- */

/* Adds storages that are used and whose allocation was not recorded: they existed before. */
static void add_old(struct memory_timeline_finding *w)
{
    for (uint32_t i = 0; i < w->s->storage.n; i++) {
        const bool is_shown = w->d->is_used[i] || w->c->of_storage[i] != MEMORY_UNKNOWN;
        if (w->s->storage.at[i].device == w->device && is_shown && !w->is_made[i])
            memory_timeline_add(w, BEFORE_ALL, MEMORY_WAS_THERE, w->s->storage.at[i].bytes, MEMORY_UNKNOWN,
                                memory_category_of(w->c, i, w->d->first_value[i]));
    }
}

static void add_edge(struct memory_timeline_finding *w, const struct flow_edge *e, int64_t begin_ns)
{
    const uint64_t bytes = w->s->storage.at[e->storage].bytes;
    const uint32_t first = w->d->first_value[e->storage], last = w->d->first_value[e->storage + 1] - 1;
    if (!edge_comes_in(e)) {
        memory_timeline_add(w, w->made_ns[e->storage], MEMORY_MADE, bytes, MEMORY_UNKNOWN,
                            memory_category_of(w->c, e->storage, first));
    } else if (e->what & EDGE_WRITES) {
        memory_timeline_add(w, begin_ns, MEMORY_CHANGED, bytes,
                            memory_category_of(w->c, e->storage, first + e->version),
                            memory_category_of(w->c, e->storage, first + e->version + 1));
    }
    if (e->what & EDGE_FREES)
        memory_timeline_add(w, w->freed_ns[e->storage], MEMORY_FREED, bytes, memory_category_of(w->c, e->storage, last),
                            MEMORY_UNKNOWN);
}

static void add_edges(struct memory_timeline_finding *w)
{
    for (size_t node = 0; node < w->d->n_nodes; node++) {
        const int64_t begin_ns = event_begin_ns(w->t->f, w->t->event[w->d->at[node]]);
        for (uint32_t i = w->d->first_edge[node]; i < w->d->first_edge[node + 1]; i++)
            if (w->s->storage.at[w->d->edge[i].storage].device == w->device)
                add_edge(w, &w->d->edge[i], begin_ns);
    }
}

/* ---- in order ------------------------------------------------------------------------------------------------- */

static bool put_in_order(const struct memory_timeline_finding *w, struct memory_timeline *m, struct arena *mem)
{
    const size_t n = w->step.n;
    uint32_t *order = arena_take(w->scratch, n, sizeof *order);
    uint64_t *time = arena_take(w->scratch, n, sizeof *time);
    uint16_t *action = arena_take(w->scratch, n, sizeof *action);
    arena_columns(mem, n, m->time_ns, m->bytes, m->action, m->from, m->to);
    if (arena_failed(w->scratch) || arena_failed(mem) || n >= UINT32_MAX)
        return false;
    for (size_t i = 0; i < n; i++) {
        time[i] = (uint64_t)w->step.at[i].time_ns ^ (uint64_t)1 << 63;
        action[i] = w->step.at[i].action;
    }
    order_fill(order, n);
    if (!order_by_u16(order, n, action) || !order_by_u64(order, n, time))
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct memory_step *s = &w->step.at[order[i]];
        m->time_ns[i] = s->time_ns;
        m->bytes[i] = s->bytes;
        m->action[i] = s->action;
        m->from[i] = s->from;
        m->to[i] = s->to;
    }
    m->n = n;
    return true;
}

static bool find_steps(struct memory_timeline_finding *w, struct memory_timeline *m, struct arena *mem)
{
    const size_t n = w->s->storage.n;
    w->made_ns = arena_take(w->scratch, n, sizeof *w->made_ns);
    w->freed_ns = arena_take(w->scratch, n, sizeof *w->freed_ns);
    w->is_made = arena_take(w->scratch, n, sizeof *w->is_made);
    if (arena_failed(w->scratch) || !follow_allocators(w))
        return false;
    add_old(w);
    add_edges(w);
    return put_in_order(w, m, mem);
}

static void sum_before(struct memory_timeline *m)
{
    for (size_t i = 0; i < m->n && m->action[i] == MEMORY_WAS_THERE; i++)
        m->before_bytes += m->bytes[i];
}

static bool find(struct memory_timeline *m, const struct collection *collection, struct losses *lost, struct arena *mem,
                 struct arena *scratch, struct error *e)
{
    const struct names *names = collection->profile.names;
    struct event_tree tree;
    struct storages storages;
    struct data_flow flow;
    struct memory_categories categories;
    if (!event_tree_build(&tree, &collection->framework, names, scratch, e) ||
        !storages_find(&storages, &tree, names, lost, scratch, e) ||
        !data_flow_build(&flow, &tree, &storages, scratch, e) ||
        !memory_categories_find(&categories, &tree, &storages, &flow, names, scratch, e))
        return false;
    const uint32_t device = storages_device(&storages, m->device.type, m->device.number);
    if (device == NO_STORAGE)
        return true;
    struct memory_timeline_finding w = {
        .t = &tree,
        .s = &storages,
        .d = &flow,
        .c = &categories,
        .device = device,
        .scratch = scratch,
    };
    if (!memory_peaks_find(&m->peaks, collection, &m->device, e) || !find_steps(&w, m, mem))
        return error_no_memory(e, collection->path);
    sum_before(m);
    return true;
}

bool memory_timeline_find(struct memory_timeline *m, const struct collection *s, struct memory_device device,
                          struct losses *lost, struct arena *mem, struct error *e)
{
    *m = (struct memory_timeline){ .device = device,
                                   .is_simulated = device.type == MEMORY_ON_NPU && collection_is_simulated(s) };
    struct arena *scratch = arena_new();
    const bool done = scratch && find(m, s, lost, mem, scratch, e);
    arena_free(scratch);
    return done || error_no_memory(e, s->path);
}

size_t memory_devices(const struct collection *s, struct memory_device *out, size_t most)
{
    const struct framework_memory *m = &s->framework.memory;
    enum { DEVICES = 1 << 16 }; /* a byte for the type, one for the number */
    uint8_t is_seen[DEVICES / 8] = { 0 };
    for (size_t i = 0; i < m->n; i++)
        if (m->kind[i] != MEMORY_BLOCK_FREE) {
            const unsigned device = (unsigned)(uint8_t)m->device_type[i] << 8 | (uint8_t)m->device[i];
            is_seen[device / 8] |= (uint8_t)(1u << device % 8);
        }
    size_t n = 0;
    for (size_t i = 0; i < DEVICES && n < most; i++)
        if (is_seen[i / 8] >> i % 8 & 1)
            out[n++] = (struct memory_device){ (int8_t)(i >> 8), (int8_t)i };
    return n;
}

struct memory_device memory_usual_device(const struct collection *s)
{
    const struct framework_memory *m = &s->framework.memory;
    struct memory_device found = { MEMORY_ON_CPU, -1 };
    for (size_t i = 0; i < m->n; i++)
        if (memory_is_on_device(m->device_type[i]) && m->kind[i] != MEMORY_BLOCK_FREE &&
            (found.type == MEMORY_ON_CPU || m->device[i] < found.number))
            found = (struct memory_device){ m->device_type[i], m->device[i] };
    return found;
}

/* ---- points --------------------------------------------------------------------------------------------------- */

/* The reference divides as a double and truncates. A double of today's times has a resolution of 0.25 us, so that .9 us
 * is rounded up. */
static int64_t whole_us(int64_t ns)
{
    return (int64_t)((double)(ns / 1000) + (double)(ns % 1000) / 1000);
}

struct memory_points memory_points_of(const struct memory_timeline *m)
{
    struct memory_points p = { .m = m, .begin_us = BEFORE_ALL };
    size_t first = 0;
    while (first < m->n && m->time_ns[first] == BEFORE_ALL)
        first++;
    if (first < m->n)
        p.begin_us = whole_us(m->time_ns[first]);
    return p;
}

static void add_step(struct memory_point *p, const struct memory_timeline *m, size_t i)
{
    const int64_t bytes = (int64_t)m->bytes[i];
    if (m->action[i] == MEMORY_CHANGED || m->action[i] == MEMORY_FREED)
        p->bytes[m->from[i]] = wrap_sub(p->bytes[m->from[i]], bytes);
    if (m->action[i] != MEMORY_FREED)
        p->bytes[m->to[i]] = wrap_add(p->bytes[m->to[i]], bytes);
}

static int64_t step_us(const struct memory_timeline *m, size_t i)
{
    return m->time_ns[i] == BEFORE_ALL ? BEFORE_ALL : whole_us(m->time_ns[i]);
}

bool memory_points_next(struct memory_points *p)
{
    if (p->at == p->m->n)
        return false;
    const int64_t us = step_us(p->m, p->at);
    while (p->at < p->m->n && step_us(p->m, p->at) == us)
        add_step(&p->now, p->m, p->at++);
    p->now.time_us = us == BEFORE_ALL ? p->begin_us : us;
    return true;
}
