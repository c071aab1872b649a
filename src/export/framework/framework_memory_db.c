#include "export/framework/framework_memory.h"

#include "analyse/framework/memory_lifetimes.h"
#include "analyse/framework/memory_series.h"
#include "export/framework/framework_db.h"

struct db_records {
    const struct collection *collection;
    struct memory_series series;
    uint32_t *shown;
    name_id component[3], sum;
};

static struct cell db_record_cell(const void *rows, size_t row, size_t column)
{
    const struct db_records *v = rows;
    const struct collection *s = v->collection;
    const struct torch_memory *m = &s->framework.memory;
    const struct op_memory *g = &s->profile.host.records.op_memory;
    const size_t at = v->shown[row] / 2;
    const bool is_sum = v->shown[row] % 2, is_graph = v->series.source[at] == MEMORY_OF_GRAPHS;
    const uint32_t from = v->series.row[at], other = is_sum ? v->series.other[at] : NO_ROW;
    const uint32_t torch = is_graph ? other : from, graph = is_graph ? from : other;
    switch (column) {
    case 0: return cell_name(is_sum ? v->sum : v->component[v->series.source[at]]);
    case 1: return cell_int(is_graph ? graph_memory_ns(&s->profile, from) : m->time_ns[from]);
    case 2:
        return cell_int((torch == NO_ROW ? 0 : m->allocated_bytes[torch]) +
                        (graph == NO_ROW ? 0 : (int64_t)g->allocated[graph]));
    case 3:
        return cell_int((torch == NO_ROW ? 0 : m->reserved_bytes[torch]) +
                        (graph == NO_ROW ? 0 : (int64_t)g->reserved[graph]));
    case 4: return cell_int(torch == NO_ROW ? 0 : m->active_bytes[torch]);
    case 5: /* stream 0 is none: the other one's counts, and graphs have none */
        return torch == NO_ROW || (!is_graph && m->stream[torch] == 0 && graph != NO_ROW) ? cell_na()
                                                                                          : cell_int(m->stream[torch]);
    default: return cell_int(is_graph ? (int64_t)g->device[from] : memory_device(s, from));
    }
}

static bool records_db(const struct collection_export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        { "component", "INTEGER", NULL },     { "timestamp", "INTEGER", NULL },   { "totalAllocated", "INTEGER", NULL },
        { "totalReserved", "INTEGER", NULL }, { "totalActive", "INTEGER", NULL }, { "streamPtr", "INTEGER", NULL },
        { "deviceId", "INTEGER", NULL },
    };
    struct names *names = x->collection->profile.names;
    struct db_records v = { .collection = x->collection,
                            .component = { [MEMORY_OF_TORCH] = names_addz(names, "PTA"),
                                           [MEMORY_OF_WORKSPACE] = names_addz(names, "WORKSPACE"),
                                           [MEMORY_OF_GRAPHS] = names_addz(names, "GE") },
                            .sum = names_addz(names, "PTA+GE") };
    size_t n = 0;
    if (!memory_series_make(&v.series, x->collection, false, x->mem) ||
        !memory_series_show(&v.series, &v.shown, &n, x->mem))
        return error_set(e, FAULT_LIMIT, "MEMORY_RECORD: no memory for its rows");
    return db_table(db,
                    &(struct db_table){ .name = "MEMORY_RECORD",
                                        .column = column,
                                        .n_columns = sizeof column / sizeof *column,
                                        .n_rows = n,
                                        .rows = &v,
                                        .get = db_record_cell },
                    e);
}

struct db_lives {
    const struct collection *collection;
    uint32_t *graph; /* lives of op_memory that began during the collection */
    size_t n_graph;
};

static struct cell int_or_na(const int64_t *column, uint32_t row, int64_t less)
{
    return row == NO_ROW ? cell_na() : cell_int(column[row] - less);
}

static struct cell db_torch_life_cell(const struct collection *s, size_t life, size_t column)
{
    const struct torch_memory *m = &s->framework.memory;
    const struct memory_lives *l = &s->lives;
    const uint32_t taken = l->taken[life], end = memory_life_end(l, life);
    switch (column) {
    case 0: return cell_string(l->name[life]);
    case 1: return cell_int(m->size_bytes[taken]);
    case 2: return cell_int(m->time_ns[taken]);
    case 3: return int_or_na(m->time_ns, l->freed[life], 0);
    case 4: return int_or_na(m->time_ns, l->returned[life], 0);
    case 5: return int_or_na(m->time_ns, l->freed[life], m->time_ns[taken]);
    case 6: return int_or_na(m->time_ns, l->returned[life], m->time_ns[taken]);
    case 7: return cell_int(m->allocated_bytes[taken]);
    case 8: return cell_int(m->reserved_bytes[taken]);
    case 9: return cell_int(m->active_bytes[taken]);
    case 10: return int_or_na(m->allocated_bytes, end, 0);
    case 11: return int_or_na(m->reserved_bytes, end, 0);
    case 12: return int_or_na(m->active_bytes, end, 0);
    case 13: return cell_int(m->stream[taken]);
    default: return cell_int(memory_device(s, taken));
    }
}

static struct cell db_graph_life_cell(const struct profile *p, uint32_t life, size_t column)
{
    const struct op_memory *m = &p->host.records.op_memory;
    const uint32_t from = m->lives.allocation[life], end = m->lives.release[life];
    const bool has_end = end != NO_ROW;
    switch (column) {
    case 0: return cell_name(dictionary_hash(&p->dictionary, m->name[from]));
    case 1: return cell_int(m->size[from]);
    case 2: return cell_int(graph_memory_ns(p, from));
    case 3: return has_end ? cell_int(graph_memory_ns(p, end)) : cell_na();
    case 5: return has_end ? cell_int(graph_memory_ns(p, end) - graph_memory_ns(p, from)) : cell_na();
    case 7: return cell_uint(m->allocated[from]);
    case 8: return cell_uint(m->reserved[from]);
    case 10: return has_end ? cell_uint(m->allocated[end]) : cell_na();
    case 11: return has_end ? cell_uint(m->reserved[end]) : cell_na();
    case 14: return cell_uint(m->device[from]);
    default: return cell_na();
    }
}

static struct cell db_life_cell(const void *rows, size_t row, size_t column)
{
    const struct db_lives *v = rows;
    const size_t n = v->collection->lives.n;
    return row < n ? db_torch_life_cell(v->collection, row, column)
                   : db_graph_life_cell(&v->collection->profile, v->graph[row - n], column);
}

static bool lives_db(const struct collection_export *x, struct db *db, struct error *e)
{
    static const struct db_column column[LIFE_COLUMNS] = {
        { "name", "INTEGER", NULL },
        { "size", "INTEGER", NULL },
        { "allocationTime", "INTEGER", NULL },
        { "releaseTime", "INTEGER", NULL },
        { "activeReleaseTime", "INTEGER", NULL },
        { "duration", "INTEGER", NULL },
        { "activeDuration", "INTEGER", NULL },
        { "allocationTotalAllocated", "INTEGER", NULL },
        { "allocationTotalReserved", "INTEGER", NULL },
        { "allocationTotalActive", "INTEGER", NULL },
        { "releaseTotalAllocated", "INTEGER", NULL },
        { "releaseTotalReserved", "INTEGER", NULL },
        { "releaseTotalActive", "INTEGER", NULL },
        { "streamPtr", "INTEGER", NULL },
        { "deviceId", "INTEGER", NULL },
    };
    const struct profile *p = &x->collection->profile;
    const struct op_memory *m = &p->host.records.op_memory;
    struct db_lives v = { .collection = x->collection, .graph = arena_take(x->mem, m->lives.n, sizeof *v.graph) };
    if (!v.graph)
        return error_set(e, FAULT_LIMIT, "OP_MEMORY: no memory for its rows");
    for (uint32_t i = 0; i < m->lives.n; i++)
        if (graph_memory_ns(p, m->lives.allocation[i]) >= p->host.source.begin_ns)
            v.graph[v.n_graph++] = i;
    return db_table(db,
                    &(struct db_table){ .name = "OP_MEMORY",
                                        .column = column,
                                        .n_columns = LIFE_COLUMNS,
                                        .n_rows = x->collection->lives.n + v.n_graph,
                                        .rows = &v,
                                        .get = db_life_cell },
                    e);
}

bool framework_memory_db(const struct collection_export *x, struct db *db, struct error *e)
{
    return records_db(x, db, e) && lives_db(x, db, e);
}
