/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/memory/sort.h"

enum { LIFE_WITHOUT_END = UINT32_MAX - 1 }; /* in raw records: the memory is never released; tables show UINT32_MAX */

static const struct op_memory *records_of(const struct profile *p)
{
    return &p->host.records.op_memory;
}

static struct cell kilobytes(double bytes)
{
    return cell_real(round_exact(bytes / 1024, 3));
}

static struct cell device_cell(const struct profile *p, uint32_t row)
{
    return p->n_devices == 0 ? cell_text("host") : cell_uint(records_of(p)->device[row]);
}

static struct cell time_cell(const struct profile *p, uint32_t row)
{
    return cell_time(source_host_ns(&p->host.source, records_of(p)->time[row]));
}

/* The rows of a table, and the names of devices, which are made once. */
enum { KNOWN_DEVICES = 64 };
struct memory_view {
    const struct profile *profile;
    uint32_t *order;            /* the rows, sorted by device */
    name_id npu[KNOWN_DEVICES]; /* "NPU:0" of the first devices */
};

static name_id npu_name(const struct profile *p, uint32_t device)
{
    char text[24];
    snprintf(text, sizeof text, "NPU:%" PRIu32, device);
    return names_addz(p->names, text);
}

/* Of a table of n rows. record[i] is the record of row i, which has its device; NULL: row i is record i. In x->mem. */
static const struct memory_view *view_make(const struct export *x, const uint32_t *record, size_t n, struct error *e)
{
    struct memory_view *v = arena_take(x->mem, 1, sizeof *v);
    uint32_t *device = arena_take(x->mem, n, sizeof *device), *order = arena_take(x->mem, n, sizeof *order);
    if (v && device && order) {
        for (size_t i = 0; i < n; i++)
            device[i] = records_of(x->profile)->device[record ? record[i] : i];
        order_fill(order, n);
    }
    if (!v || !device || !order || !order_by_u32(order, n, device)) {
        error_no_memory(e, "the memory of operators");
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
    const uint32_t device = records_of(v->profile)->device[row];
    return cell_name(device < KNOWN_DEVICES ? v->npu[device] : npu_name(v->profile, device));
}

static const struct op_memory *memory_of(const struct memory_view *v)
{
    return records_of(v->profile);
}

CELL_GETTER(record_device, struct memory_view, device_cell(r->profile, (uint32_t)i))
CELL_GETTER(record_component, struct memory_view, cell_text("GE"))
CELL_GETTER(record_time, struct memory_view, time_cell(r->profile, (uint32_t)i))
CELL_GETTER(record_allocated, struct memory_view, kilobytes((double)memory_of(r)->allocated[i]))
CELL_GETTER(record_reserved, struct memory_view, kilobytes((double)memory_of(r)->reserved[i]))
CELL_GETTER(record_npu, struct memory_view, npu_cell(r, (uint32_t)i))

bool memory_record_report(const struct export *x, struct table *out, struct error *e)
{
    static const struct column column[] = {
        { "Device_id", record_device },
        { "Component", record_component },
        { "Timestamp(us)", record_time },
        { "Total Allocated(KB)", record_allocated },
        { "Total Reserved(KB)", record_reserved },
        { "Device", record_npu },
    };
    const struct op_memory *m = records_of(x->profile);
    const struct memory_view *v = view_make(x, NULL, m->n, e);
    if (!v)
        return false;
    *out = (struct table){ .name = "memory_record",
                           TABLE_COLUMNS(column),
                           .n_rows = m->n,
                           .rows = v,
                           .shown = v->order,
                           .names = x->profile->names };
    return true;
}

/* A number of ticks as µs, to the nearest ns. The double of the reference's division decides how a half is rounded. */
static struct cell lasted_cell(struct ticks tick, int64_t n)
{
    const double hz = 1e9 * (double)tick.den / (double)tick.num, us = round_exact((double)n / hz * 1e6, 3);
    return cell_us_short(fabs(us) < 1e15 ? llround(us * 1000) : ticks_to_ns(tick, n));
}

/* The records of the allocation and of the release of a lifetime. The latter is NO_ROW if the memory was not
 * released. */
static uint32_t life_begin(const struct memory_view *v, size_t life)
{
    return memory_of(v)->lives.allocation[life];
}

static uint32_t life_end(const struct memory_view *v, size_t life)
{
    return memory_of(v)->lives.release[life];
}

static struct cell life_name_cell(const struct memory_view *v, size_t life)
{
    name_id name;
    return dictionary_find(&v->profile->dictionary, memory_of(v)->name[life_begin(v, life)], &name) ? cell_name(name)
                                                                                                    : cell_text("");
}

static struct cell life_duration_cell(const struct memory_view *v, size_t life)
{
    const uint64_t *time = memory_of(v)->time;
    const uint32_t end = life_end(v, life);
    return lasted_cell(v->profile->host.source.host_clock.tick,
                       end == NO_ROW ? 0 : (int64_t)(time[end] - time[life_begin(v, life)]));
}

static struct cell kilobytes_at(const uint64_t *bytes, uint32_t row)
{
    return kilobytes(row == NO_ROW ? 0 : (double)bytes[row]);
}

CELL_GETTER(life_device, struct memory_view, device_cell(r->profile, life_begin(r, i)))
CELL_GETTER(life_name, struct memory_view, life_name_cell(r, i))
CELL_GETTER(life_size, struct memory_view, kilobytes((double)memory_of(r)->size[life_begin(r, i)]))
CELL_GETTER(life_time, struct memory_view, time_cell(r->profile, life_begin(r, i)))
CELL_GETTER(life_duration, struct memory_view, life_duration_cell(r, i))
CELL_GETTER(life_allocated, struct memory_view, kilobytes_at(memory_of(r)->allocated, life_begin(r, i)))
CELL_GETTER(life_reserved, struct memory_view, kilobytes_at(memory_of(r)->reserved, life_begin(r, i)))
CELL_GETTER(life_end_allocated, struct memory_view, kilobytes_at(memory_of(r)->allocated, life_end(r, i)))
CELL_GETTER(life_end_reserved, struct memory_view, kilobytes_at(memory_of(r)->reserved, life_end(r, i)))
CELL_GETTER(life_npu, struct memory_view, npu_cell(r, life_begin(r, i)))

bool operator_memory_report(const struct export *x, struct table *out, struct error *e)
{
    static const struct column column[] = {
        { "Device_id", life_device },
        { "Name", life_name },
        { "Size(KB)", life_size },
        { "Allocation Time(us)", life_time },
        { "Duration(us)", life_duration },
        { "Allocation Total Allocated(KB)", life_allocated },
        { "Allocation Total Reserved(KB)", life_reserved },
        { "Release Total Allocated(KB)", life_end_allocated },
        { "Release Total Reserved(KB)", life_end_reserved },
        { "Device", life_npu },
    };
    const struct op_memory *m = records_of(x->profile);
    const struct memory_view *v = view_make(x, m->lives.allocation, m->lives.n, e);
    if (!v)
        return false;
    *out = (struct table){ .name = "operator_memory",
                           TABLE_COLUMNS(column),
                           .n_rows = m->lives.n,
                           .rows = v,
                           .shown = v->order,
                           .names = x->profile->names };
    return true;
}

static struct cell static_name_cell(const struct profile *p, uint64_t name)
{
    return name == 0 ? cell_text("TOTAL") : cell_name(dictionary_hash(&p->dictionary, name));
}

static struct cell static_size_cell(int64_t bytes)
{
    return bytes % 1024 == 0 ? cell_int(bytes / 1024) : cell_real((double)bytes / 1024);
}

static const struct static_memory *static_of(const struct profile *p)
{
    return &p->host.records.static_memory;
}

CELL_GETTER(static_device, struct profile, cell_text("host"))
CELL_GETTER(static_name, struct profile, static_name_cell(r, static_of(r)->name[i]))
CELL_GETTER(static_model, struct profile, cell_name(dictionary_hash(&r->dictionary, static_of(r)->dynamic_name[i])))
CELL_GETTER(static_graph, struct profile, cell_uint(static_of(r)->graph[i]))
CELL_GETTER(static_begin, struct profile, cell_uint(static_of(r)->begin[i]))
CELL_GETTER(static_end, struct profile,
            cell_uint(static_of(r)->end[i] == LIFE_WITHOUT_END ? UINT32_MAX : static_of(r)->end[i]))
CELL_GETTER(static_size, struct profile, static_size_cell(static_of(r)->size[i]))

bool static_memory_report(const struct export *x, struct table *out, struct error *e)
{
    static const struct column column[] = {
        { "Device_id", static_device }, { "Op Name", static_name },           { "Model Name", static_model },
        { "Graph ID", static_graph },   { "Node Index Start", static_begin }, { "Node Index End", static_end },
        { "Size(KB)", static_size },
    };
    (void)e;
    *out = (struct table){ .name = "static_op_mem",
                           TABLE_COLUMNS(column),
                           .n_rows = x->profile->host.records.static_memory.n,
                           .rows = x->profile,
                           .names = x->profile->names };
    return true;
}

static struct cell bytes_cell(int64_t size)
{
    return cell_uint(size < 0 ? 0 - (uint64_t)size : (uint64_t)size);
}

CELL_GETTER(db_name, struct profile, cell_name(dictionary_hash(&r->dictionary, records_of(r)->name[i])))
CELL_GETTER(db_addr, struct profile, cell_uint(records_of(r)->addr[i]))
CELL_GETTER(db_type, struct profile, cell_text(records_of(r)->size[i] < 0 ? "release" : "allocate"))
CELL_GETTER(db_size, struct profile, bytes_cell(records_of(r)->size[i]))
CELL_GETTER(db_time, struct profile, cell_int(source_host_ns(&r->host.source, records_of(r)->time[i])))
CELL_GETTER(db_tid, struct profile, cell_uint((uint64_t)r->host.source.pid << 32 | records_of(r)->thread[i]))
CELL_GETTER(db_allocated, struct profile, cell_uint(records_of(r)->allocated[i]))
CELL_GETTER(db_reserved, struct profile, cell_uint(records_of(r)->reserved[i]))
CELL_GETTER(db_component, struct profile, cell_text("GE"))
CELL_GETTER(db_device, struct profile, cell_uint(records_of(r)->device[i]))

/* Only what happened during the collection. */
bool memory_db(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        { "operatorName", "INTEGER", db_name },
        { "addr", "INTEGER", db_addr },
        { "type", "INTEGER", db_type },
        { "size", "INTEGER", db_size },
        { "timestampNs", "INTEGER", db_time },
        { "globalTid", "INTEGER", db_tid },
        { "totalAllocate", "NUMERIC", db_allocated },
        { "totalReserve", "NUMERIC", db_reserved },
        { "component", "INTEGER", db_component },
        { "deviceId", "INTEGER", db_device },
    };
    const struct profile *p = x->profile;
    const struct op_memory *m = records_of(p);
    uint32_t *row = arena_take(x->mem, m->n, sizeof *row);
    if (!row)
        return error_no_memory(e, "NPU_OP_MEM");
    size_t n = 0;
    for (uint32_t i = 0; i < m->n; i++)
        if (source_host_ns(&p->host.source, m->time[i]) >= p->host.source.begin_ns)
            row[n++] = i;
    const struct db_table t = { .name = "NPU_OP_MEM", TABLE_COLUMNS(column), .n_rows = n, .rows = p, .shown = row };
    return db_table(db, &t, e);
}
