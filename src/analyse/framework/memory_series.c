/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/memory_series.h"

#include "base/memory/keys.h"
#include "base/memory/sort.h"

static const uint64_t SIGN = UINT64_C(1) << 63;

/* The rows of one kind by time, and of each row its device. */
struct memory_series_rows {
    size_t n;
    uint32_t *row;
    int64_t *time_ns; /* of all rows of the table */
};

static bool sort_by_time(struct memory_series_rows *r, size_t n_all, struct arena *mem)
{
    uint64_t *key = arena_take(mem, n_all, sizeof *key);
    for (size_t i = 0; key && i < r->n; i++)
        key[r->row[i]] = (uint64_t)r->time_ns[r->row[i]] ^ SIGN;
    const bool done = key && order_by_u64(r->row, r->n, key);
    arena_drop(mem, key);
    return done;
}

static bool framework_rows(struct memory_series_rows *r, const struct framework_memory *m, struct arena *mem)
{
    *r = (struct memory_series_rows){ .row = arena_take(mem, m->n, sizeof *r->row), .time_ns = m->time_ns };
    for (uint32_t i = 0; r->row && i < m->n; i++)
        if (memory_is_on_device(m->device_type[i]))
            r->row[r->n++] = i;
    return r->row && sort_by_time(r, m->n, mem);
}

/* Equal times stay as the device's own table has them: device by device. */
static bool graph_rows(struct memory_series_rows *r, const struct profile *p, bool with_early, struct arena *mem)
{
    const struct op_memory *m = &p->host.records.op_memory;
    *r = (struct memory_series_rows){ .row = arena_take(mem, m->n, sizeof *r->row),
                                      .time_ns = arena_take(mem, m->n, sizeof *r->time_ns) };
    if (!r->row || !r->time_ns)
        return false;
    for (uint32_t i = 0; i < m->n; i++) {
        r->time_ns[i] = graph_memory_ns(p, i);
        if (with_early || r->time_ns[i] >= p->host.source.begin_ns)
            r->row[r->n++] = i;
    }
    return order_by_u32(r->row, r->n, m->device) && sort_by_time(r, m->n, mem);
}

/* The latest rows of each device. */
struct latest {
    struct keys devices;
    LIST(uint32_t) framework;
    LIST(uint32_t) graph;
    struct arena *mem;
};

static bool latest_of(struct latest *l, int64_t device, uint32_t **framework, uint32_t **graph)
{
    const uint32_t place = keys_add(&l->devices, (uint64_t)device, l->mem);
    if (place == KEYS_NO_MEMORY)
        return false;
    if (place == l->framework.n) {
        uint32_t *a = list_add(&l->framework, l->mem), *b = list_add(&l->graph, l->mem);
        if (!a || !b)
            return false;
        *a = *b = NO_ROW;
    }
    *framework = &l->framework.at[place];
    *graph = &l->graph.at[place];
    return true;
}

bool memory_series_make(struct memory_series *out, const struct collection *s, bool with_early, struct arena *mem)
{
    const struct framework_memory *m = &s->framework.memory;
    const struct op_memory *g = &s->profile.host.records.op_memory;
    struct memory_series_rows framework, graph;
    struct latest latest = { .mem = mem };
    if (!framework_rows(&framework, m, mem) || !graph_rows(&graph, &s->profile, with_early, mem))
        return false;
    const size_t n = framework.n + graph.n;
    *out = (struct memory_series){ .source = arena_take(mem, n, sizeof *out->source),
                                   .row = arena_take(mem, n, sizeof *out->row),
                                   .other = arena_take(mem, n, sizeof *out->other) };
    if (arena_failed(mem))
        return false;
    for (size_t t = 0, k = 0; out->n < n; out->n++) {
        const bool is_graph =
            t == framework.n || (k < graph.n && graph.time_ns[graph.row[k]] < framework.time_ns[framework.row[t]]);
        const uint32_t row = is_graph ? graph.row[k++] : framework.row[t++];
        uint32_t *last_framework, *last_graph;
        if (!latest_of(&latest, is_graph ? (int64_t)g->device[row] : memory_device(s, row), &last_framework,
                       &last_graph))
            return false;
        out->row[out->n] = row;
        out->source[out->n] = (uint8_t)(is_graph ? MEMORY_OF_GRAPHS : memory_source_of(m, row));
        out->is_of_gpu |= !is_graph && m->device_type[row] == MEMORY_ON_CUDA;
        if (out->source[out->n] == MEMORY_OF_WORKSPACE) {
            out->other[out->n] = NO_ROW;
            continue;
        }
        out->other[out->n] = is_graph ? *last_framework : *last_graph;
        *(is_graph ? last_graph : last_framework) = row;
    }
    return true;
}

bool memory_series_show(const struct memory_series *v, uint32_t **shown, size_t *n, struct arena *mem)
{
    *shown = arena_take(mem, 2 * v->n, sizeof **shown);
    *n = 0;
    for (uint32_t i = 0; *shown && i < v->n; i++) {
        (*shown)[(*n)++] = 2 * i;
        if (v->source[i] != MEMORY_OF_WORKSPACE && !v->is_of_gpu)
            (*shown)[(*n)++] = 2 * i + 1;
    }
    return *shown != NULL;
}
