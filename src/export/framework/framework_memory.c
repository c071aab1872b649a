#include "export/framework/framework_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyse/framework/memory_lifetimes.h"
#include "analyse/framework/memory_series.h"
#include "base/keys.h"
#include "export/samplers/counter_tracks.h"
#include "export/msprof/memory_tables.h"

static struct cell empty(void)
{
    return cell_text("");
}

static double megabytes(int64_t bytes)
{
    return (double)bytes / 1048576;
}

/* The device's own tables have KB with three decimals, and these ones are made from what they show. */
static double graph_megabytes(uint64_t bytes)
{
    return round_exact((double)bytes / 1024, 3) / 1024;
}

/* "NPU:0" of the first devices, which nearly all rows share. */
enum { KNOWN_DEVICES = 64 };
struct npu_names {
    struct names *names;
    name_id npu[KNOWN_DEVICES];
};

static name_id npu_make(struct names *names, int64_t device)
{
    char text[32];
    return names_add(names, text, (size_t)snprintf(text, sizeof text, "NPU:%" PRId64, device));
}

static void npu_names_init(struct npu_names *n, struct names *names)
{
    n->names = names;
    for (int d = 0; d < KNOWN_DEVICES; d++)
        n->npu[d] = npu_make(names, d);
}

static struct cell npu_cell(const struct npu_names *n, int64_t device)
{
    return cell_name(device >= 0 && device < KNOWN_DEVICES ? n->npu[device] : npu_make(n->names, device));
}

/* ---- memory_record ---------------------------------------------------------------------------------------------- */

/* What one report of memory says; and the sum of two. */
struct totals {
    double allocated_mb, reserved_mb, active_mb;
    bool has_active; /* graphs do not report it */
    bool has_stream;
    int64_t stream;
};

static struct totals torch_totals(const struct torch_memory *m, uint32_t row)
{
    return (struct totals){ megabytes(m->allocated_bytes[row]),
                            megabytes(m->reserved_bytes[row]),
                            megabytes(m->active_bytes[row]),
                            .has_active = true,
                            .has_stream = true,
                            .stream = m->stream[row] };
}

static struct totals graph_totals(const struct op_memory *m, uint32_t row)
{
    return (struct totals){ .allocated_mb = graph_megabytes(m->allocated[row]),
                            .reserved_mb = graph_megabytes(m->reserved[row]) };
}

/* Stream 0 is none: the other one's counts, if it has any. */
static struct totals totals_sum(struct totals now, struct totals last)
{
    const bool keeps = now.has_stream && now.stream != 0;
    return (struct totals){ now.allocated_mb + last.allocated_mb,   now.reserved_mb + last.reserved_mb,
                            now.active_mb + last.active_mb,         .has_active = now.has_active || last.has_active,
                            .has_stream = keeps || last.has_stream, .stream = keeps ? now.stream : last.stream };
}

struct record_view {
    const struct collection *collection;
    struct table app;  /* npu_mem of the device's own export */
    uint32_t *app_row; /* those of its rows that are about the application */
    size_t n_app;
    struct memory_series series;
    uint32_t *shown; /* behind the application's rows: place in the series * 2, + 1 for its sum */
    struct npu_names npu;
};

enum { APP_DEVICE, APP_EVENT, APP_MEMORY = 4, APP_TIME }; /* columns of npu_mem */

static double cell_number(struct cell c)
{
    return c.kind == CELL_UINT ? (double)c.u : c.kind == CELL_INT ? (double)c.i : c.f;
}

static struct cell app_cell(const struct record_view *v, size_t row, size_t column)
{
    const uint32_t from = v->app_row[row];
    switch (column) {
    case 0: return table_cell(&v->app, from, APP_EVENT);
    case 1: return table_cell(&v->app, from, APP_TIME);
    case 3: return cell_real(cell_number(table_cell(&v->app, from, APP_MEMORY)) / 1024);
    case 6: return npu_cell(&v->npu, (int64_t)table_cell(&v->app, from, APP_DEVICE).u);
    default: return empty();
    }
}

static struct totals record_totals(const struct record_view *v, size_t at, bool is_sum)
{
    const struct torch_memory *m = &v->collection->framework.memory;
    const struct op_memory *g = &v->collection->profile.host.records.op_memory;
    const uint32_t row = v->series.row[at], other = v->series.other[at];
    const bool is_graph = v->series.source[at] == MEMORY_OF_GRAPHS;
    const struct totals now = is_graph ? graph_totals(g, row) : torch_totals(m, row);
    if (!is_sum || other == NO_ROW)
        return now;
    return totals_sum(now, is_graph ? torch_totals(m, other) : graph_totals(g, other));
}

static struct cell record_cell(const void *rows, size_t row, size_t column)
{
    static const char *const component[] = {
        [MEMORY_OF_TORCH] = "PTA", [MEMORY_OF_WORKSPACE] = "WORKSPACE", [MEMORY_OF_GRAPHS] = "GE"
    };
    const struct record_view *v = rows;
    const struct collection *s = v->collection;
    if (row < v->n_app)
        return app_cell(v, row, column);
    const size_t at = v->shown[row - v->n_app] / 2;
    const bool is_sum = v->shown[row - v->n_app] % 2, is_graph = v->series.source[at] == MEMORY_OF_GRAPHS;
    const uint32_t from = v->series.row[at];
    if (column == 0)
        return cell_text(is_sum ? "PTA+GE" : component[v->series.source[at]]);
    if (column == 1)
        return cell_time(is_graph ? graph_memory_ns(&s->profile, from) : s->framework.memory.time_ns[from]);
    if (column == 6)
        return npu_cell(&v->npu, is_graph ? s->profile.host.records.op_memory.device[from] : memory_device(s, from));
    const struct totals t = record_totals(v, at, is_sum);
    switch (column) {
    case 2: return cell_real(t.allocated_mb);
    case 3: return cell_real(t.reserved_mb);
    case 4: return t.has_active ? cell_real(t.active_mb) : is_sum ? cell_int(0) : empty();
    default: return t.has_stream ? cell_int(t.stream) : empty();
    }
}

static bool find_app(struct record_view *v, const struct collection_export *x, struct error *e)
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
        { "Component", NULL },          { "Timestamp(us)", NULL },    { "Total Allocated(MB)", NULL },
        { "Total Reserved(MB)", NULL }, { "Total Active(MB)", NULL }, { "Stream Ptr", NULL },
        { "Device Type", NULL },
    };
    const struct collection *s = x->collection;
    struct record_view *v = arena_take(x->mem, 1, sizeof *v);
    size_t n = 0;
    if (!v)
        return error_set(e, FAULT_LIMIT, "memory_record: no memory for its rows");
    v->collection = s;
    npu_names_init(&v->npu, s->profile.names);
    if (!find_app(v, x, e) || !memory_series_make(&v->series, s, true, x->mem) ||
        !memory_series_show(&v->series, &v->shown, &n, x->mem))
        return error_set(e, FAULT_LIMIT, "memory_record: no memory for its rows");
    *out = (struct table){ .name = "memory_record",
                           .column = column,
                           .n_columns = sizeof column / sizeof *column,
                           .n_rows = v->n_app + n,
                           .rows = v,
                           .get = record_cell,
                           .names = s->profile.names };
    return true;
}

/* ---- operator_memory -------------------------------------------------------------------------------------------- */

struct life_view {
    const struct collection *collection;
    struct table graph; /* operator_memory of the device's own export */
    name_id *name;      /* of its rows: "cann::" in front */
    struct npu_names npu;
};

static struct cell time_or_empty(const struct torch_memory *m, uint32_t row, int64_t from_ns)
{
    return row == NO_ROW ? empty() : cell_time(m->time_ns[row] - from_ns);
}

static struct cell megabytes_or_empty(const int64_t *bytes, uint32_t row)
{
    return row == NO_ROW ? empty() : cell_real(megabytes(bytes[row]));
}

static struct cell torch_life_cell(const struct life_view *v, size_t life, size_t column)
{
    const struct collection *s = v->collection;
    const struct torch_memory *m = &s->framework.memory;
    const struct memory_lives *l = &s->lives;
    const uint32_t taken = l->taken[life], end = memory_life_end(l, life);
    switch (column) {
    case 0: return cell_name(l->name[life]);
    case 1: return cell_real((double)m->size_bytes[taken] / 1024);
    case 2: return cell_time(m->time_ns[taken]);
    case 3: return time_or_empty(m, l->freed[life], 0);
    case 4: return time_or_empty(m, l->returned[life], 0);
    case 5: return time_or_empty(m, l->freed[life], m->time_ns[taken]);
    case 6: return time_or_empty(m, l->returned[life], m->time_ns[taken]);
    case 7: return megabytes_or_empty(m->allocated_bytes, taken);
    case 8: return megabytes_or_empty(m->reserved_bytes, taken);
    case 9: return megabytes_or_empty(m->active_bytes, taken);
    case 10: return megabytes_or_empty(m->allocated_bytes, end);
    case 11: return megabytes_or_empty(m->reserved_bytes, end);
    case 12: return megabytes_or_empty(m->active_bytes, end);
    case 13: return cell_int(m->stream[taken]);
    default: return npu_cell(&v->npu, memory_device(s, taken));
    }
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

static struct cell graph_life_cell(const struct life_view *v, size_t row, size_t column)
{
    static const uint8_t from[LIFE_COLUMNS] = {
        [1] = GRAPH_SIZE,     [2] = GRAPH_TIME,           [5] = GRAPH_DURATION,      [7] = GRAPH_ALLOCATED,
        [8] = GRAPH_RESERVED, [10] = GRAPH_END_ALLOCATED, [11] = GRAPH_END_RESERVED, [14] = GRAPH_DEVICE
    };
    if (column == 0)
        return cell_name(v->name[row]);
    if (column == 3)
        return cell_time(table_cell(&v->graph, row, GRAPH_TIME).i + table_cell(&v->graph, row, GRAPH_DURATION).i);
    if (from[column] == 0)
        return empty();
    const struct cell c = table_cell(&v->graph, row, from[column]);
    return column >= 7 && column <= 11 ? cell_real(cell_number(c) / 1024) : c;
}

static struct cell life_cell(const void *rows, size_t row, size_t column)
{
    const struct life_view *v = rows;
    const size_t n = v->collection->lives.n;
    return row < n ? torch_life_cell(v, row, column) : graph_life_cell(v, row - n, column);
}

/* Each name once: they come again and again. */
static bool name_graph_lives(struct life_view *v, struct names *names, struct arena *mem)
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

static bool find_graph_lives(struct life_view *v, const struct collection_export *x, struct error *e)
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
    static const struct column column[LIFE_COLUMNS] = {
        { "Name", NULL },
        { "Size(KB)", NULL },
        { "Allocation Time(us)", NULL },
        { "Release Time(us)", NULL },
        { "Active Release Time(us)", NULL },
        { "Duration(us)", NULL },
        { "Active Duration(us)", NULL },
        { "Allocation Total Allocated(MB)", NULL },
        { "Allocation Total Reserved(MB)", NULL },
        { "Allocation Total Active(MB)", NULL },
        { "Release Total Allocated(MB)", NULL },
        { "Release Total Reserved(MB)", NULL },
        { "Release Total Active(MB)", NULL },
        { "Stream Ptr", NULL },
        { "Device Type", NULL },
    };
    const struct collection *s = x->collection;
    struct life_view *v = arena_take(x->mem, 1, sizeof *v);
    if (!v)
        return error_set(e, FAULT_LIMIT, "operator_memory: no memory for its rows");
    v->collection = s;
    npu_names_init(&v->npu, s->profile.names);
    if (!find_graph_lives(v, x, e))
        return error_set(e, FAULT_LIMIT, "operator_memory: no memory for its rows");
    *out = (struct table){ .name = "operator_memory",
                           .column = column,
                           .n_columns = LIFE_COLUMNS,
                           .n_rows = s->lives.n + v->graph.n_rows,
                           .rows = v,
                           .get = life_cell,
                           .names = s->profile.names };
    return true;
}

/* ---- npu_module_mem --------------------------------------------------------------------------------------------- */

enum { MODULE_RESERVED = 3 }; /* column of the device's own table */

/* Of the device's own table, in MB; the seed has no Device_id. */
struct module_view {
    struct table from;
    size_t first; /* column of the above */
};

static struct cell module_cell(const void *rows, size_t row, size_t column)
{
    const struct module_view *v = rows;
    const struct cell c = table_cell(&v->from, row, v->first + column);
    return v->first + column == MODULE_RESERVED ? cell_real(cell_number(c) / 1024) : c;
}

bool framework_module_memory(const struct collection_export *x, struct table *out, struct error *e)
{
    static const struct column column[] = {
        { "Device_id", NULL },          { "Component", NULL }, { "Timestamp(us)", NULL },
        { "Total Reserved(MB)", NULL }, { "Device", NULL },
    };
    struct module_view *v = arena_take(x->mem, 1, sizeof *v);
    if (!v)
        return error_set(e, FAULT_LIMIT, "npu_module_mem: no memory for its rows");
    v->first = x->dialect == DIALECT_SEED;
    if (x->collection->has_device && !module_mem_report(&x->device, &v->from, e))
        return false;
    *out = (struct table){ .name = "npu_module_mem",
                           .column = column + v->first,
                           .n_columns = sizeof column / sizeof *column - v->first,
                           .n_rows = v->from.n_rows,
                           .rows = v,
                           .get = module_cell,
                           .names = x->collection->profile.names };
    return true;
}
