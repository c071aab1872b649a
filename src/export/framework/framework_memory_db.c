/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

#include "analyse/framework/collection_analyse.h"
#include "analyse/framework/memory_series.h"
#include "base/text/framework_names.h"
#include "base/text/stamp.h"

struct db_records {
    const struct collection *collection;
    struct memory_series series;
    uint32_t *shown;
    name_id component[MEMORY_SOURCES], sum, gpu;
};

/* A row with the records of the framework and of graphs that it shows, or NO_ROW. */
struct db_record {
    size_t at; /* index in the series */
    bool is_sum, is_graph;
    uint32_t from, framework, graph;
};

static struct db_record record_at(const struct db_records *v, size_t row)
{
    const size_t at = v->shown[row] / 2;
    const bool is_sum = v->shown[row] % 2, is_graph = v->series.source[at] == MEMORY_OF_GRAPHS;
    const uint32_t from = v->series.row[at], other = is_sum ? v->series.other[at] : NO_ROW;
    return (struct db_record){ at, is_sum, is_graph, from, is_graph ? other : from, is_graph ? from : other };
}

static const struct framework_memory *framework_of(const struct db_records *v)
{
    return &v->collection->framework.memory;
}

static const struct op_memory *graphs_of(const struct db_records *v)
{
    return &v->collection->profile.host.records.op_memory;
}

static struct cell record_component(const void *rows, size_t i)
{
    const struct db_records *v = rows;
    const struct db_record r = record_at(v, i);
    return cell_name(v->series.is_of_gpu ? v->gpu : r.is_sum ? v->sum : v->component[v->series.source[r.at]]);
}

static struct cell record_time(const void *rows, size_t i)
{
    const struct db_records *v = rows;
    const struct db_record r = record_at(v, i);
    return cell_int(r.is_graph ? graph_memory_ns(&v->collection->profile, r.from) : framework_of(v)->time_ns[r.from]);
}

static struct cell sum_cell(struct db_record r, const int64_t *framework, const uint64_t *graph)
{
    return cell_int(wrap_add(r.framework == NO_ROW ? 0 : framework[r.framework],
                             r.graph == NO_ROW || !graph ? 0 : (int64_t)graph[r.graph]));
}

CELL_GETTER(record_allocated, struct db_records,
            sum_cell(record_at(r, i), framework_of(r)->allocated_bytes, graphs_of(r)->allocated))
CELL_GETTER(record_reserved, struct db_records,
            sum_cell(record_at(r, i), framework_of(r)->reserved_bytes, graphs_of(r)->reserved))
CELL_GETTER(record_active, struct db_records,
            r->series.is_of_gpu ? cell_na() : sum_cell(record_at(r, i), framework_of(r)->active_bytes, NULL))

/* The stream of the framework's record. In a sum stream 0 means none, and graphs have no streams. */
static struct cell record_stream(const void *rows, size_t i)
{
    const struct db_records *v = rows;
    const struct db_record r = record_at(v, i);
    if (v->series.is_of_gpu || r.framework == NO_ROW ||
        (!r.is_graph && framework_of(v)->stream[r.framework] == 0 && r.graph != NO_ROW))
        return cell_na();
    return cell_int(framework_of(v)->stream[r.framework]);
}

static struct cell record_device(const void *rows, size_t i)
{
    const struct db_records *v = rows;
    const struct db_record r = record_at(v, i);
    return cell_int(r.is_graph ? (int64_t)graphs_of(v)->device[r.from] : memory_device(v->collection, r.from));
}

static bool records_db(const struct collection_export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        { "component", "INTEGER", record_component },      { "timestamp", "INTEGER", record_time },
        { "totalAllocated", "INTEGER", record_allocated }, { "totalReserved", "INTEGER", record_reserved },
        { "totalActive", "INTEGER", record_active },       { "streamPtr", "INTEGER", record_stream },
        { "deviceId", "INTEGER", record_device },
    };
    struct names *names = x->collection->profile.names;
    struct db_records v = { .collection = x->collection,
                            .component = { [MEMORY_OF_FRAMEWORK] = names_addz(names, "PTA"),
                                           [MEMORY_OF_WORKSPACE] = names_addz(names, "WORKSPACE"),
                                           [MEMORY_OF_GRAPHS] = names_addz(names, "GE") },
                            .gpu = names_addz(names, framework_names[x->collection->framework_id].name),
                            .sum = names_addz(names, "PTA+GE") };
    size_t n = 0;
    if (!memory_series_make(&v.series, x->collection, false, x->mem) ||
        !memory_series_show(&v.series, &v.shown, &n, x->mem))
        return error_no_memory(e, "MEMORY_RECORD");
    const struct db_table t = { .name = "MEMORY_RECORD", TABLE_COLUMNS(column), .n_rows = n, .rows = &v };
    return db_table(db, &t, e);
}

/* The rows of OP_MEMORY are of two kinds: lifetimes of the framework and of graphs. */
enum { OF_FRAMEWORK, OF_GRAPHS };

static struct cell int_or_na(const int64_t *column, uint32_t row, int64_t less)
{
    return row == NO_ROW ? cell_na() : cell_int(column[row] - less);
}

static uint32_t life_end(const struct collection *s, size_t life)
{
    return memory_life_end(&s->lives, life);
}

/* On GPUs the allocator reports neither streams nor active memory. */
static bool is_on_gpu(const struct collection *s, size_t life)
{
    return s->framework.memory.device_type[s->lives.taken[life]] == MEMORY_ON_CUDA;
}

/* A column of the record of the allocation. */
#define OF_TAKEN(column) (r->framework.memory.column[r->lives.taken[i]])
CELL_GETTER(framework_name, struct collection, cell_string(r->lives.name[i]))
CELL_GETTER(framework_size, struct collection, cell_int(OF_TAKEN(size_bytes)))
CELL_GETTER(framework_begin, struct collection, cell_int(OF_TAKEN(time_ns)))
CELL_GETTER(framework_freed, struct collection, int_or_na(r->framework.memory.time_ns, r->lives.freed[i], 0))
CELL_GETTER(framework_returned, struct collection, int_or_na(r->framework.memory.time_ns, r->lives.returned[i], 0))
CELL_GETTER(framework_duration, struct collection,
            int_or_na(r->framework.memory.time_ns, r->lives.freed[i], OF_TAKEN(time_ns)))
CELL_GETTER(framework_active_duration, struct collection,
            int_or_na(r->framework.memory.time_ns, r->lives.returned[i], OF_TAKEN(time_ns)))
CELL_GETTER(framework_allocated, struct collection, cell_int(OF_TAKEN(allocated_bytes)))
CELL_GETTER(framework_reserved, struct collection, cell_int(OF_TAKEN(reserved_bytes)))
CELL_GETTER(framework_active, struct collection, is_on_gpu(r, i) ? cell_na() : cell_int(OF_TAKEN(active_bytes)))
CELL_GETTER(framework_end_allocated, struct collection,
            int_or_na(r->framework.memory.allocated_bytes, life_end(r, i), 0))
CELL_GETTER(framework_end_reserved, struct collection, int_or_na(r->framework.memory.reserved_bytes, life_end(r, i), 0))
CELL_GETTER(framework_end_active, struct collection,
            is_on_gpu(r, i) ? cell_na() : int_or_na(r->framework.memory.active_bytes, life_end(r, i), 0))
CELL_GETTER(framework_stream, struct collection, is_on_gpu(r, i) ? cell_na() : cell_int(OF_TAKEN(stream)))
CELL_GETTER(framework_device, struct collection, cell_int(memory_device(r, r->lives.taken[i])))

static const struct op_memory *graph_of(const struct collection *s)
{
    return &s->profile.host.records.op_memory;
}

static uint32_t graph_begin_row(const struct collection *s, size_t life)
{
    return graph_of(s)->lives.allocation[life];
}

static int64_t graph_begin_ns(const struct collection *s, size_t life)
{
    return graph_memory_ns(&s->profile, graph_begin_row(s, life));
}

static struct cell graph_end_cell(const struct collection *s, size_t life, int64_t less)
{
    const uint32_t end = graph_of(s)->lives.release[life];
    return end == NO_ROW ? cell_na() : cell_int(graph_memory_ns(&s->profile, end) - less);
}

static struct cell graph_end_bytes(const struct collection *s, size_t life, const uint64_t *bytes)
{
    const uint32_t end = graph_of(s)->lives.release[life];
    return end == NO_ROW ? cell_na() : cell_uint(bytes[end]);
}

CELL_GETTER(graph_name, struct collection,
            cell_name(dictionary_hash(&r->profile.dictionary, graph_of(r)->name[graph_begin_row(r, i)])))
CELL_GETTER(graph_size, struct collection, cell_int(graph_of(r)->size[graph_begin_row(r, i)]))
CELL_GETTER(graph_begin, struct collection, cell_int(graph_begin_ns(r, i)))
CELL_GETTER(graph_end, struct collection, graph_end_cell(r, i, 0))
CELL_GETTER(graph_duration, struct collection, graph_end_cell(r, i, graph_begin_ns(r, i)))
CELL_GETTER(graph_allocated, struct collection, cell_uint(graph_of(r)->allocated[graph_begin_row(r, i)]))
CELL_GETTER(graph_reserved, struct collection, cell_uint(graph_of(r)->reserved[graph_begin_row(r, i)]))
CELL_GETTER(graph_end_allocated, struct collection, graph_end_bytes(r, i, graph_of(r)->allocated))
CELL_GETTER(graph_end_reserved, struct collection, graph_end_bytes(r, i, graph_of(r)->reserved))
CELL_GETTER(graph_device, struct collection, cell_uint(graph_of(r)->device[graph_begin_row(r, i)]))

static const struct db_kind_column life_columns[] = {
    { "name", "INTEGER", { framework_name, graph_name } },
    { "size", "INTEGER", { framework_size, graph_size } },
    { "allocationTime", "INTEGER", { framework_begin, graph_begin } },
    { "releaseTime", "INTEGER", { framework_freed, graph_end } },
    { "activeReleaseTime", "INTEGER", { framework_returned } },
    { "duration", "INTEGER", { framework_duration, graph_duration } },
    { "activeDuration", "INTEGER", { framework_active_duration } },
    { "allocationTotalAllocated", "INTEGER", { framework_allocated, graph_allocated } },
    { "allocationTotalReserved", "INTEGER", { framework_reserved, graph_reserved } },
    { "allocationTotalActive", "INTEGER", { framework_active } },
    { "releaseTotalAllocated", "INTEGER", { framework_end_allocated, graph_end_allocated } },
    { "releaseTotalReserved", "INTEGER", { framework_end_reserved, graph_end_reserved } },
    { "releaseTotalActive", "INTEGER", { framework_end_active } },
    { "streamPtr", "INTEGER", { framework_stream } },
    { "deviceId", "INTEGER", { framework_device, graph_device } },
};

static bool lives_db(const struct collection_export *x, struct db *db, struct error *e)
{
    const struct collection *s = x->collection;
    const struct op_memory *m = graph_of(s);
    uint32_t *shown =
        arena_take(x->mem, m->lives.n, sizeof *shown); /* of graphs: those that began during the collection */
    if (!shown)
        return error_no_memory(e, "OP_MEMORY");
    size_t n = 0;
    for (uint32_t i = 0; i < m->lives.n; i++)
        if (graph_begin_ns(s, i) >= s->profile.host.source.begin_ns)
            shown[n++] = i;
    const struct db_table framework = { .name = "OP_MEMORY", .n_rows = s->lives.n, .rows = s },
                          graphs = { .name = "OP_MEMORY", .n_rows = n, .rows = s, .shown = shown };
    return db_table_kind(db, framework, KIND_COLUMNS(life_columns), OF_FRAMEWORK, e) &&
           db_table_kind(db, graphs, KIND_COLUMNS(life_columns), OF_GRAPHS, e);
}

bool framework_memory_db(const struct collection_export *x, struct db *db, struct error *e)
{
    return records_db(x, db, e) && lives_db(x, db, e);
}
