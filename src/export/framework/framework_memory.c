/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyse/framework/collection_analyse.h"
#include "analyse/framework/memory_series.h"
#include "base/memory/keys.h"
#include "base/text/framework_names.h"
#include "export/export.h"
#include "export/msprof/prof_outputs.h"
#include "export/samplers/counter_tracks.h"
#include "export/samplers/sampler_outputs.h"

static struct cell empty(void)
{
    return cell_text("");
}

static double megabytes(int64_t bytes)
{
    return (double)bytes / 1048576;
}

/* MB of the graph engine are computed from the KB with three decimals that the device's tables show, as in the
 * reference. */
static double graph_megabytes(uint64_t bytes)
{
    return round_exact((double)bytes / 1024, 3) / 1024;
}

/* The names of devices, "NPU:0" or "GPU:0". Those of the first devices are made once. */
enum { KNOWN_DEVICES = 64 };
struct device_names {
    struct names *names;
    bool is_gpu; /* a collection has devices of one kind */
    name_id known[KNOWN_DEVICES];
};

static name_id device_make(const struct device_names *n, int64_t device)
{
    char text[32];
    const char *const word = n->is_gpu ? "GPU" : "NPU";
    return names_add(n->names, text, (size_t)snprintf(text, sizeof text, "%s:%" PRId64, word, device));
}

static void device_names_init(struct device_names *n, const struct collection *s)
{
    const struct framework_memory *m = &s->framework.memory;
    n->names = s->profile.names;
    for (size_t i = 0; i < m->n && !n->is_gpu; i++)
        n->is_gpu = m->device_type[i] == MEMORY_ON_CUDA;
    for (int d = 0; d < KNOWN_DEVICES; d++)
        n->known[d] = device_make(n, d);
}

static struct cell device_cell(const struct device_names *n, int64_t device)
{
    return cell_name(device >= 0 && device < KNOWN_DEVICES ? n->known[device] : device_make(n, device));
}

/* ---- memory_record ---------------------------------------------------------------------------------------------- */

/* The values of one memory event, and the sum of two. */
struct totals {
    double allocated_mb, reserved_mb, active_mb;
    bool has_active; /* graphs and GPUs do not report it */
    bool has_stream;
    int64_t stream;
};

static struct totals framework_totals(const struct framework_memory *m, uint32_t row)
{
    return (struct totals){ megabytes(m->allocated_bytes[row]),
                            megabytes(m->reserved_bytes[row]),
                            megabytes(m->active_bytes[row]),
                            .has_active = m->device_type[row] != MEMORY_ON_CUDA,
                            .has_stream = m->device_type[row] != MEMORY_ON_CUDA,
                            .stream = m->stream[row] };
}

static struct totals graph_totals(const struct op_memory *m, uint32_t row)
{
    return (struct totals){ .allocated_mb = graph_megabytes(m->allocated[row]),
                            .reserved_mb = graph_megabytes(m->reserved[row]) };
}

/* The sum of the framework's totals and the graph engine's. Stream 0 of the later one means none: the other's is shown
 * then. */
static struct totals totals_sum(struct totals now, struct totals last)
{
    const bool keeps = now.has_stream && now.stream != 0;
    return (struct totals){ now.allocated_mb + last.allocated_mb,   now.reserved_mb + last.reserved_mb,
                            now.active_mb + last.active_mb,         .has_active = now.has_active || last.has_active,
                            .has_stream = keeps || last.has_stream, .stream = keeps ? now.stream : last.stream };
}

struct framework_memory_record_view {
    const struct collection *collection;
    struct table app;  /* npu_mem of the device's own export */
    uint32_t *app_row; /* its rows about the application */
    size_t n_app;
    struct memory_series series;
    uint32_t *shown; /* the rows behind those: twice the index in the series, + 1 for a row with the sum */
    struct device_names devices;
};

enum { APP_DEVICE, APP_EVENT, APP_MEMORY = 4, APP_TIME }; /* columns of npu_mem */

static double cell_number(struct cell c)
{
    return c.kind == CELL_UINT ? (double)c.u : c.kind == CELL_INT ? (double)c.i : c.f;
}

static struct cell app_cell(const struct framework_memory_record_view *v, size_t row, size_t column)
{
    return table_cell(&v->app, v->app_row[row], column);
}

static struct totals record_totals(const struct framework_memory_record_view *v, size_t at, bool is_sum)
{
    const struct framework_memory *m = &v->collection->framework.memory;
    const struct op_memory *g = &v->collection->profile.host.records.op_memory;
    const uint32_t row = v->series.row[at], other = v->series.other[at];
    const bool is_graph = v->series.source[at] == MEMORY_OF_GRAPHS;
    const struct totals now = is_graph ? graph_totals(g, row) : framework_totals(m, row);
    if (!is_sum || other == NO_ROW)
        return now;
    return totals_sum(now, is_graph ? framework_totals(m, other) : graph_totals(g, other));
}

/* A row behind those of the application. */
struct framework_memory_one_record {
    size_t at; /* index in the series */
    bool is_sum, is_graph;
    uint32_t from; /* row of framework_memory, or with is_graph of op_memory */
};

static struct framework_memory_one_record record_at(const struct framework_memory_record_view *v, size_t row)
{
    const uint32_t shown = v->shown[row - v->n_app];
    const size_t at = shown / 2;
    return (struct framework_memory_one_record){ at, shown % 2, v->series.source[at] == MEMORY_OF_GRAPHS,
                                                 v->series.row[at] };
}

static struct cell record_component(const void *rows, size_t i)
{
    static const char *const component[] = {
        [MEMORY_OF_FRAMEWORK] = "PTA", [MEMORY_OF_WORKSPACE] = "WORKSPACE", [MEMORY_OF_GRAPHS] = "GE"
    };
    const struct framework_memory_record_view *v = rows;
    if (i < v->n_app)
        return app_cell(v, i, APP_EVENT);
    const struct framework_memory_one_record r = record_at(v, i);
    return cell_text(v->series.is_of_gpu ? framework_names[v->collection->framework_id].name
                     : r.is_sum          ? "PTA+GE"
                                         : component[v->series.source[r.at]]);
}

static struct cell record_time(const void *rows, size_t i)
{
    const struct framework_memory_record_view *v = rows;
    if (i < v->n_app)
        return app_cell(v, i, APP_TIME);
    const struct framework_memory_one_record r = record_at(v, i);
    return cell_time(r.is_graph ? graph_memory_ns(&v->collection->profile, r.from)
                                : v->collection->framework.memory.time_ns[r.from]);
}

static struct totals totals_at(const struct framework_memory_record_view *v, size_t i)
{
    const struct framework_memory_one_record r = record_at(v, i);
    return record_totals(v, r.at, r.is_sum);
}

static struct cell record_allocated(const void *rows, size_t i)
{
    const struct framework_memory_record_view *v = rows;
    return i < v->n_app ? empty() : cell_real(totals_at(v, i).allocated_mb);
}

static struct cell record_reserved(const void *rows, size_t i)
{
    const struct framework_memory_record_view *v = rows;
    return cell_real(i < v->n_app ? cell_number(app_cell(v, i, APP_MEMORY)) / 1024 : totals_at(v, i).reserved_mb);
}

static struct cell record_active(const void *rows, size_t i)
{
    const struct framework_memory_record_view *v = rows;
    if (i < v->n_app)
        return empty();
    const struct totals t = totals_at(v, i);
    if (v->series.is_of_gpu)
        return cell_na();
    return t.has_active ? cell_real(t.active_mb) : record_at(v, i).is_sum ? cell_int(0) : empty();
}

static struct cell record_stream(const void *rows, size_t i)
{
    const struct framework_memory_record_view *v = rows;
    if (i < v->n_app)
        return empty();
    const struct totals t = totals_at(v, i);
    if (v->series.is_of_gpu)
        return cell_na();
    return t.has_stream ? cell_int(t.stream) : empty();
}

static struct cell record_device(const void *rows, size_t i)
{
    const struct framework_memory_record_view *v = rows;
    if (i < v->n_app)
        return device_cell(&v->devices, (int64_t)app_cell(v, i, APP_DEVICE).u);
    const struct framework_memory_one_record r = record_at(v, i);
    return device_cell(&v->devices, r.is_graph ? v->collection->profile.host.records.op_memory.device[r.from]
                                               : memory_device(v->collection, r.from));
}

static bool find_app(struct framework_memory_record_view *v, const struct collection_export *x, struct error *e)
{
    if (!x->collection->has_device)
        return true;
    if (!npu_mem_report(&x->device, &v->app, e))
        return false;
    v->app_row = arena_take(x->mem, v->app.n_rows, sizeof *v->app_row);
    for (uint32_t i = 0; v->app_row && i < v->app.n_rows; i++)
        if (strcmp(table_cell(&v->app, i, APP_EVENT).text, "APP") == 0)
            v->app_row[v->n_app++] = i;
    return v->app_row != NULL;
}

bool framework_memory_record(const struct collection_export *x, struct table *out, struct error *e)
{
    static const struct column column[] = {
        { "Component", record_component },
        { "Timestamp(us)", record_time },
        { "Total Allocated(MB)", record_allocated },
        { "Total Reserved(MB)", record_reserved },
        { "Total Active(MB)", record_active },
        { "Stream Ptr", record_stream },
        { "Device Type", record_device },
    };
    const struct collection *s = x->collection;
    struct framework_memory_record_view *v = arena_take(x->mem, 1, sizeof *v);
    size_t n = 0;
    if (!v)
        return error_no_memory(e, "memory_record");
    v->collection = s;
    device_names_init(&v->devices, s);
    if (!find_app(v, x, e) || !memory_series_make(&v->series, s, true, x->mem) ||
        !memory_series_show(&v->series, &v->shown, &n, x->mem))
        return error_no_memory(e, "memory_record");
    *out = (struct table){
        .name = "memory_record", TABLE_COLUMNS(column), .n_rows = v->n_app + n, .rows = v, .names = s->profile.names
    };
    return true;
}

/* ---- operator_memory -------------------------------------------------------------------------------------------- */

struct framework_memory_life_view {
    const struct collection *collection;
    struct table graph; /* operator_memory of the device's own export */
    name_id *name;      /* of its rows, with the prefix "cann::" */
    struct device_names devices;
};

static const struct framework_memory *framework_of(const struct framework_memory_life_view *v)
{
    return &v->collection->framework.memory;
}

static bool is_of_framework(const struct framework_memory_life_view *v, size_t i)
{
    return i < v->collection->lives.n;
}

/* Rows of framework_memory: the allocation of a lifetime, its free, its return to the allocator, and whichever of those
 * ends it. All but the first may be NO_ROW. */
static uint32_t taken(const struct framework_memory_life_view *v, size_t i)
{
    return v->collection->lives.taken[i];
}

static uint32_t freed(const struct framework_memory_life_view *v, size_t i)
{
    return v->collection->lives.freed[i];
}

static uint32_t returned(const struct framework_memory_life_view *v, size_t i)
{
    return v->collection->lives.returned[i];
}

static uint32_t end(const struct framework_memory_life_view *v, size_t i)
{
    return memory_life_end(&v->collection->lives, i);
}

static struct cell time_or_empty(const struct framework_memory_life_view *v, uint32_t row, int64_t from_ns)
{
    return row == NO_ROW ? empty() : cell_time(framework_of(v)->time_ns[row] - from_ns);
}

static struct cell since_taken(const struct framework_memory_life_view *v, size_t i, uint32_t row)
{
    return time_or_empty(v, row, framework_of(v)->time_ns[taken(v, i)]);
}

static struct cell megabytes_or_empty(const int64_t *bytes, uint32_t row)
{
    return row == NO_ROW ? empty() : cell_real(megabytes(bytes[row]));
}

/* Columns of the device's own operator_memory. */
enum {
    GRAPH_NAME = 1,
    GRAPH_SIZE,
    GRAPH_TIME,
    GRAPH_DURATION,
    GRAPH_ALLOCATED,
    GRAPH_RESERVED,
    GRAPH_END_ALLOCATED,
    GRAPH_END_RESERVED,
    GRAPH_DEVICE
};

/* Lifetimes of graphs follow those of the framework. */
static size_t graph_row(const struct framework_memory_life_view *v, size_t i)
{
    return i - v->collection->lives.n;
}

static struct cell graph_cell(const struct framework_memory_life_view *v, size_t i, size_t column)
{
    return table_cell(&v->graph, graph_row(v, i), column);
}

static struct cell graph_end(const struct framework_memory_life_view *v, size_t i)
{
    return cell_time(graph_cell(v, i, GRAPH_TIME).i + graph_cell(v, i, GRAPH_DURATION).i);
}

static struct cell graph_mb(const struct framework_memory_life_view *v, size_t i, size_t column)
{
    return cell_real(cell_number(graph_cell(v, i, column)) / 1024);
}

/* Getters with one expression for a lifetime of the framework and one for a lifetime of graphs. */
#define LIFE(function, framework, graph)                                                                               \
    CELL_GETTER(function, struct framework_memory_life_view, is_of_framework(r, i) ? framework : graph)
#define LIFE_MB(function, column, row, graph)                                                                          \
    LIFE(function, megabytes_or_empty(framework_of(r)->column, row(r, i)), graph)
LIFE(life_name, cell_name(r->collection->lives.name[i]), cell_name(r->name[graph_row(r, i)]))
LIFE(life_size, cell_real((double)framework_of(r)->size_bytes[taken(r, i)] / 1024), graph_cell(r, i, GRAPH_SIZE))
LIFE(life_begin, cell_time(framework_of(r)->time_ns[taken(r, i)]), graph_cell(r, i, GRAPH_TIME))
LIFE(life_end, time_or_empty(r, freed(r, i), 0), graph_end(r, i))
LIFE(life_active_end, r->devices.is_gpu ? cell_na() : time_or_empty(r, returned(r, i), 0), empty())
LIFE(life_duration, since_taken(r, i, freed(r, i)), graph_cell(r, i, GRAPH_DURATION))
LIFE(life_active_duration, r->devices.is_gpu ? cell_na() : since_taken(r, i, returned(r, i)), empty())
LIFE_MB(life_allocated, allocated_bytes, taken, graph_mb(r, i, GRAPH_ALLOCATED))
LIFE_MB(life_reserved, reserved_bytes, taken, graph_mb(r, i, GRAPH_RESERVED))
LIFE(life_active, r->devices.is_gpu ? cell_na() : megabytes_or_empty(framework_of(r)->active_bytes, taken(r, i)),
     empty())
LIFE_MB(life_end_allocated, allocated_bytes, end, graph_mb(r, i, GRAPH_END_ALLOCATED))
LIFE_MB(life_end_reserved, reserved_bytes, end, graph_mb(r, i, GRAPH_END_RESERVED))
LIFE(life_end_active, r->devices.is_gpu ? cell_na() : megabytes_or_empty(framework_of(r)->active_bytes, end(r, i)),
     empty())
LIFE(life_stream, r->devices.is_gpu ? cell_na() : cell_int(framework_of(r)->stream[taken(r, i)]), empty())
LIFE(life_device, device_cell(&r->devices, memory_device(r->collection, taken(r, i))), graph_cell(r, i, GRAPH_DEVICE))

/* Makes each prefixed name once: names repeat. */
static bool name_graph_lives(struct framework_memory_life_view *v, struct names *names, struct arena *mem)
{
    struct keys plain = { 0 };
    LIST(name_id) prefixed = { 0 };
    for (size_t i = 0; i < v->graph.n_rows; i++) {
        const struct cell c = table_cell(&v->graph, i, GRAPH_NAME);
        const name_id name = c.kind == CELL_NAME ? c.name : NAME_EMPTY;
        const uint32_t place = keys_add(&plain, name, mem);
        if (place == prefixed.n) {
            const char *text = arena_printf(mem, "cann::%s", names_text(names, name));
            name_id *new = list_add(&prefixed, mem);
            if (!text || !new)
                return false;
            *new = names_addz(names, text);
        }
        if (place == KEYS_NO_MEMORY)
            return false;
        v->name[i] = prefixed.at[place];
    }
    return true;
}

static bool find_graph_lives(struct framework_memory_life_view *v, const struct collection_export *x, struct error *e)
{
    if (!x->collection->has_device)
        return true;
    if (!operator_memory_report(&x->device, &v->graph, e))
        return false;
    v->name = arena_take(x->mem, v->graph.n_rows, sizeof *v->name);
    return v->name && name_graph_lives(v, x->collection->profile.names, x->mem);
}

bool framework_operator_memory(const struct collection_export *x, struct table *out, struct error *e)
{
    static const struct column column[] = {
        { "Name", life_name },
        { "Size(KB)", life_size },
        { "Allocation Time(us)", life_begin },
        { "Release Time(us)", life_end },
        { "Active Release Time(us)", life_active_end },
        { "Duration(us)", life_duration },
        { "Active Duration(us)", life_active_duration },
        { "Allocation Total Allocated(MB)", life_allocated },
        { "Allocation Total Reserved(MB)", life_reserved },
        { "Allocation Total Active(MB)", life_active },
        { "Release Total Allocated(MB)", life_end_allocated },
        { "Release Total Reserved(MB)", life_end_reserved },
        { "Release Total Active(MB)", life_end_active },
        { "Stream Ptr", life_stream },
        { "Device Type", life_device },
    };
    const struct collection *s = x->collection;
    struct framework_memory_life_view *v = arena_take(x->mem, 1, sizeof *v);
    if (!v)
        return error_no_memory(e, "operator_memory");
    v->collection = s;
    device_names_init(&v->devices, s);
    if (!find_graph_lives(v, x, e))
        return error_no_memory(e, "operator_memory");
    *out = (struct table){ .name = "operator_memory",
                           TABLE_COLUMNS(column),
                           .n_rows = s->lives.n + v->graph.n_rows,
                           .rows = v,
                           .names = s->profile.names };
    return true;
}

/* ---- npu_module_mem --------------------------------------------------------------------------------------------- */

enum {
    MODULE_DEVICE,
    MODULE_COMPONENT,
    MODULE_TIME,
    MODULE_RESERVED,
    MODULE_NPU
}; /* columns of the device's own table */

CELL_GETTER(module_device, struct table, table_cell(r, i, MODULE_DEVICE))
CELL_GETTER(module_component, struct table, table_cell(r, i, MODULE_COMPONENT))
CELL_GETTER(module_time, struct table, table_cell(r, i, MODULE_TIME))
CELL_GETTER(module_reserved, struct table, cell_real(cell_number(table_cell(r, i, MODULE_RESERVED)) / 1024))
CELL_GETTER(module_npu, struct table, table_cell(r, i, MODULE_NPU))

enum { IS_CURRENT = 1 };
static const struct optional_column module_columns[] = {
    { "Device_id", NULL, IS_CURRENT, module_device },
    { "Component", NULL, 0, module_component },
    { "Timestamp(us)", NULL, 0, module_time },
    { "Total Reserved(MB)", NULL, 0, module_reserved },
    { "Device", NULL, 0, module_npu },
};

bool framework_module_memory(const struct collection_export *x, struct table *out, struct error *e)
{
    struct table *from = arena_take(x->mem, 1, sizeof *from);
    if (!from)
        return error_no_memory(e, "npu_module_mem");
    if (x->collection->has_device && !module_mem_report(&x->device, from, e))
        return false;
    *out = (struct table){
        .name = "npu_module_mem", .n_rows = from->n_rows, .rows = from, .names = x->collection->profile.names
    };
    return OPTIONAL_COLUMNS(out, module_columns, x->device.options->dialect == DIALECT_DOCUMENTED ? 0 : IS_CURRENT,
                            &x->device, e);
}
