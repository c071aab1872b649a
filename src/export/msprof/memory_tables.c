#include "export/msprof/memory_tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/sort.h"

enum { LIFE_WITHOUT_END = UINT32_MAX - 1 }; /* the last number but one stands for it in the raw records */

static struct cell kilobytes(double bytes)
{
    return cell_real(round_exact(bytes / 1024, 3));
}

static struct cell device_cell(const struct profile *p, uint32_t row)
{
    return p->n_devices == 0 ? cell_text("host") : cell_uint(p->host.records.op_memory.device[row]);
}

static struct cell time_cell(const struct profile *p, uint32_t row)
{
    return cell_time(source_host_ns(&p->host.source, p->host.records.op_memory.time[row]));
}

/* What the tables are made from, and the texts that nearly all of their rows share. */
enum { KNOWN_DEVICES = 64 };
struct memory_view {
    const struct profile *profile;
    uint32_t *order;            /* of the rows: device by device */
    name_id npu[KNOWN_DEVICES]; /* "NPU:0" */
};

static name_id npu_name(const struct profile *p, uint32_t device)
{
    char text[24];
    snprintf(text, sizeof text, "NPU:%" PRIu32, device);
    return names_addz(p->names, text);
}

/* A table of n rows; `record` has the record of each that tells its device. */
static const struct memory_view *view_make(const struct export *x, const uint32_t *record, size_t n, struct error *e)
{
    struct memory_view *v = arena_take(x->mem, 1, sizeof *v);
    uint32_t *device = arena_take(x->mem, n, sizeof *device), *order = arena_take(x->mem, n, sizeof *order);
    if (v && device && order) {
        for (size_t i = 0; i < n; i++)
            device[i] = x->profile->host.records.op_memory.device[record ? record[i] : i];
        order_fill(order, n);
    }
    if (!v || !device || !order || !order_by_u32(order, n, device)) {
        error_set(e, FAULT_LIMIT, "no memory for the memory of operators");
        return NULL;
    }
    v->profile = x->profile;
    v->order = order;
    for (uint32_t d = 0; d < KNOWN_DEVICES; d++)
        v->npu[d] = npu_name(x->profile, d);
    return v;
}

static struct cell npu_cell(const struct memory_view *v, uint32_t row)
{
    const uint32_t device = v->profile->host.records.op_memory.device[row];
    return cell_name(device < KNOWN_DEVICES ? v->npu[device] : npu_name(v->profile, device));
}

static struct cell record_cell(const void *rows, size_t row, size_t column)
{
    const struct memory_view *v = rows;
    const struct profile *p = v->profile;
    const struct op_memory *m = &p->host.records.op_memory;
    const uint32_t i = v->order[row];
    switch (column) {
    case 0: return device_cell(p, i);
    case 1: return cell_text("GE");
    case 2: return time_cell(p, i);
    case 3: return kilobytes((double)m->allocated[i]);
    case 4: return kilobytes((double)m->reserved[i]);
    default: return npu_cell(v, i);
    }
}

bool memory_record_report(const struct export *x, struct table *out, struct error *e)
{
    static const struct column column[] = {
        { "Device_id", NULL },           { "Component", NULL },          { "Timestamp(us)", NULL },
        { "Total Allocated(KB)", NULL }, { "Total Reserved(KB)", NULL }, { "Device", NULL },
    };
    const struct op_memory *m = &x->profile->host.records.op_memory;
    const struct memory_view *v = view_make(x, NULL, m->n, e);
    *out = (struct table){ .name = "memory_record",
                           .column = column,
                           .n_columns = sizeof column / sizeof *column,
                           .n_rows = m->n,
                           .rows = v,
                           .get = record_cell,
                           .names = x->profile->names };
    return v != NULL;
}

/* How long it was, to the nearest ns, of a half as the reference has it: of the double that it divides to. */
static struct cell lasted_cell(struct ticks tick, int64_t n)
{
    const double hz = 1e9 * (double)tick.den / (double)tick.num, us = round_exact((double)n / hz * 1e6, 3);
    return cell_us_short(fabs(us) < 1e15 ? llround(us * 1000) : ticks_to_ns(tick, n));
}

static struct cell life_cell(const void *rows, size_t row, size_t column)
{
    const struct memory_view *v = rows;
    const struct profile *p = v->profile;
    const struct op_memory *m = &p->host.records.op_memory;
    const struct clock *clock = &p->host.source.host_clock;
    const uint32_t life = v->order[row], i = m->lives.allocation[life], end = m->lives.release[life];
    const bool has_end = end != NO_ROW;
    name_id name;
    switch (column) {
    case 0: return device_cell(p, i);
    case 1: return dictionary_find(&p->dictionary, m->name[i], &name) ? cell_name(name) : cell_text("");
    case 2: return kilobytes((double)m->size[i]);
    case 3: return time_cell(p, i);
    case 4: return lasted_cell(clock->tick, has_end ? (int64_t)(m->time[end] - m->time[i]) : 0);
    case 5: return kilobytes((double)m->allocated[i]);
    case 6: return kilobytes((double)m->reserved[i]);
    case 7: return kilobytes(has_end ? (double)m->allocated[end] : 0);
    case 8: return kilobytes(has_end ? (double)m->reserved[end] : 0);
    default: return npu_cell(v, i);
    }
}

bool operator_memory_report(const struct export *x, struct table *out, struct error *e)
{
    static const struct column column[] = {
        { "Device_id", NULL },
        { "Name", NULL },
        { "Size(KB)", NULL },
        { "Allocation Time(us)", NULL },
        { "Duration(us)", NULL },
        { "Allocation Total Allocated(KB)", NULL },
        { "Allocation Total Reserved(KB)", NULL },
        { "Release Total Allocated(KB)", NULL },
        { "Release Total Reserved(KB)", NULL },
        { "Device", NULL },
    };
    const struct op_memory *m = &x->profile->host.records.op_memory;
    const struct memory_view *v = view_make(x, m->lives.allocation, m->lives.n, e);
    *out = (struct table){ .name = "operator_memory",
                           .column = column,
                           .n_columns = sizeof column / sizeof *column,
                           .n_rows = m->lives.n,
                           .rows = v,
                           .get = life_cell,
                           .names = x->profile->names };
    return v != NULL;
}

static struct cell static_cell(const void *rows, size_t i, size_t column)
{
    const struct profile *p = rows;
    const struct static_memory *m = &p->host.records.static_memory;
    switch (column) {
    case 0: return cell_text("host");
    case 1: return m->name[i] == 0 ? cell_text("TOTAL") : cell_name(dictionary_hash(&p->dictionary, m->name[i]));
    case 2: return cell_name(dictionary_hash(&p->dictionary, m->dynamic_name[i]));
    case 3: return cell_uint(m->graph[i]);
    case 4: return cell_uint(m->begin[i]);
    case 5: return cell_uint(m->end[i] == LIFE_WITHOUT_END ? UINT32_MAX : m->end[i]);
    default: return m->size[i] % 1024 == 0 ? cell_int(m->size[i] / 1024) : cell_real((double)m->size[i] / 1024);
    }
}

bool static_memory_report(const struct export *x, struct table *out, struct error *e)
{
    static const struct column column[] = {
        { "Device_id", NULL },        { "Op Name", NULL },        { "Model Name", NULL }, { "Graph ID", NULL },
        { "Node Index Start", NULL }, { "Node Index End", NULL }, { "Size(KB)", NULL },
    };
    (void)e;
    *out = (struct table){ .name = "static_op_mem",
                           .column = column,
                           .n_columns = sizeof column / sizeof *column,
                           .n_rows = x->profile->host.records.static_memory.n,
                           .rows = x->profile,
                           .get = static_cell,
                           .names = x->profile->names };
    return true;
}

/* Rows of the database: what happened during the collection. */
struct memory_rows {
    const struct profile *profile;
    const uint32_t *row;
};

static struct cell db_cell(const void *rows, size_t row, size_t column)
{
    const struct memory_rows *r = rows;
    const struct profile *p = r->profile;
    const struct op_memory *m = &p->host.records.op_memory;
    const uint32_t i = r->row[row];
    switch (column) {
    case 0: return cell_name(dictionary_hash(&p->dictionary, m->name[i]));
    case 1: return cell_uint(m->addr[i]);
    case 2: return cell_text(m->size[i] < 0 ? "release" : "allocate");
    case 3: return cell_uint(m->size[i] < 0 ? 0 - (uint64_t)m->size[i] : (uint64_t)m->size[i]);
    case 4: return cell_int(source_host_ns(&p->host.source, m->time[i]));
    case 5: return cell_uint((uint64_t)p->host.source.pid << 32 | m->thread[i]);
    case 6: return cell_uint(m->allocated[i]);
    case 7: return cell_uint(m->reserved[i]);
    case 8: return cell_text("GE");
    default: return cell_uint(m->device[i]);
    }
}

bool memory_db(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        { "operatorName", "INTEGER", NULL },  { "addr", "INTEGER", NULL },         { "type", "INTEGER", NULL },
        { "size", "INTEGER", NULL },          { "timestampNs", "INTEGER", NULL },  { "globalTid", "INTEGER", NULL },
        { "totalAllocate", "NUMERIC", NULL }, { "totalReserve", "NUMERIC", NULL }, { "component", "INTEGER", NULL },
        { "deviceId", "INTEGER", NULL },
    };
    const struct profile *p = x->profile;
    const struct op_memory *m = &p->host.records.op_memory;
    uint32_t *row = arena_take(x->mem, m->n, sizeof *row);
    if (!row)
        return error_set(e, FAULT_LIMIT, "NPU_OP_MEM: no memory for its rows");
    size_t n = 0;
    for (uint32_t i = 0; i < m->n; i++)
        if (source_host_ns(&p->host.source, m->time[i]) >= p->host.source.begin_ns)
            row[n++] = i;
    const struct memory_rows rows = { p, row };
    const struct db_table t = { .name = "NPU_OP_MEM",
                                .column = column,
                                .n_columns = sizeof column / sizeof *column,
                                .n_rows = n,
                                .rows = &rows,
                                .get = db_cell };
    return db_table(db, &t, e);
}
