/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/sort.h"
#include "base/text/utf8.h"
#include "export/msprof/prof_outputs.h"
#include "export/samplers/sampler_outputs.h"

static name_id npu_name(struct names *names, int64_t device)
{
    char text[32];
    return names_add(names, text, (size_t)snprintf(text, sizeof text, "NPU:%" PRId64, device));
}

/* ---- memory_record ---------------------------------------------------------------------------------------------- */

/* MB in units of 10^-13. In this table a KB is 1024 bytes and an MB is 1000 KB; bytes and thousandths of KB are whole
 * numbers of this unit, so that sums are exact. */
typedef __int128 exact_mb;

static exact_mb mb_of_bytes(uint64_t bytes)
{
    return (exact_mb)bytes * 9765625;
}

/* Of a cell of the device's tables, which has KB with up to three decimals. */
static exact_mb mb_of_cell(struct cell kb)
{
    if (kb.kind == CELL_UINT)
        return (exact_mb)kb.u * 10000000000;
    return (exact_mb)(kb.f < 9e15 ? (int64_t)(round_exact(kb.f, 3) * 1000 + 0.5) : 0) * 10000000;
}

/* The double nearest to a number of MB, in whole numbers: a long double has 64 bits on x86 and 113 on aarch64, and
 * rounding to 64 bits first gives another last digit now and then. */
static double mb_nearest(exact_mb mb)
{
    enum { ENOUGH_BITS = 55 }; /* the 53 of a double, one to round by, and one for everything behind */
    const uint64_t one_mb = 10000000000000;
    unsigned __int128 scaled = (unsigned __int128)mb;
    int shift = 0;
    for (; scaled > 0 && scaled / one_mb >> (ENOUGH_BITS - 1) == 0; shift++)
        scaled <<= 1;
    const uint64_t bits = (uint64_t)(scaled / one_mb) | (scaled % one_mb != 0);
    return ldexp((double)bits, -shift);
}

/* A number of up to 15 digits is written exactly; a longer one as its nearest double. */
static struct cell mb_shown(exact_mb mb)
{
    uint8_t digits = 13;
    uint64_t rest = mb >= 0 && mb < INT64_MAX ? (uint64_t)mb : INT64_MAX;
    for (; digits > 1 && rest % 10 == 0; digits--)
        rest /= 10;
    return rest < 1000000000000000 ? cell_decimal((int64_t)rest, digits) : cell_real(mb_nearest(mb));
}

/* ns as microseconds, without zeros at the end of the decimals. */
static struct cell us_shortened(int64_t ns)
{
    uint8_t digits = 3;
    for (; digits > 0 && ns % 10 == 0; digits--)
        ns /= 10;
    return cell_decimal(ns, digits);
}

enum component { COMPONENT_MS, COMPONENT_GRAPHS, COMPONENT_APP };
enum column_of { RECORD_ALLOCATED, RECORD_RESERVED, RECORD_ACTIVE };

/* Columns of the device's own tables. */
enum { GRAPH_TIME = 2, GRAPH_ALLOCATED, GRAPH_RESERVED, GRAPH_DEVICE };
enum { APP_EVENT = 1, APP_MEMORY = 4, APP_TIME };

struct ms_memory_one_record {
    enum component of;
    bool is_sum;
    uint32_t row, other; /* other: the last record of the other component, for the sum; NO_ROW: none so far */
};

struct ms_memory_record_view {
    const struct ms_memory_totals *totals;
    struct table graphs, app; /* memory_record and npu_mem of the device's own export */
    LIST(struct ms_memory_one_record) record;
    name_id npu; /* of the rank */
};

static exact_mb amount(const struct ms_memory_record_view *v, enum component of, uint32_t row, enum column_of column)
{
    const struct ms_memory_totals *t = v->totals;
    if (row == NO_ROW || (of != COMPONENT_MS && column == RECORD_ACTIVE))
        return 0;
    if (of == COMPONENT_APP)
        return column == RECORD_RESERVED ? mb_of_cell(table_cell(&v->app, row, APP_MEMORY)) : 0;
    if (of == COMPONENT_GRAPHS)
        return mb_of_cell(table_cell(&v->graphs, row, column == RECORD_ALLOCATED ? GRAPH_ALLOCATED : GRAPH_RESERVED));
    return mb_of_bytes(column == RECORD_ALLOCATED  ? t->allocated_bytes[row]
                       : column == RECORD_RESERVED ? t->reserved_bytes[row]
                                                   : t->active_bytes[row]);
}

static struct cell record_amount(const struct ms_memory_record_view *v, size_t i, enum column_of column)
{
    const struct ms_memory_one_record *r = &v->record.at[i];
    const enum component other = r->of == COMPONENT_MS ? COMPONENT_GRAPHS : COMPONENT_MS;
    return mb_shown(amount(v, r->of, r->row, column) + (r->is_sum ? amount(v, other, r->other, column) : 0));
}

static struct cell record_component(const void *rows, size_t i)
{
    static const char *const name[] = {
        [COMPONENT_MS] = "MindSpore", [COMPONENT_GRAPHS] = "GE", [COMPONENT_APP] = "APP"
    };
    const struct ms_memory_record_view *v = rows;
    return cell_text(v->record.at[i].is_sum ? "MindSpore+GE" : name[v->record.at[i].of]);
}

/* As in the reference, times of MindSpore have no zeros at the end, those of the device do, and single rows of graphs
 * have a tab. */
static struct cell record_time(const void *rows, size_t i)
{
    const struct ms_memory_record_view *v = rows;
    const struct ms_memory_one_record *r = &v->record.at[i];
    if (r->of == COMPONENT_MS)
        return us_shortened(v->totals->time_ns[r->row]);
    const struct cell at =
        r->of == COMPONENT_APP ? table_cell(&v->app, r->row, APP_TIME) : table_cell(&v->graphs, r->row, GRAPH_TIME);
    return r->of == COMPONENT_APP || r->is_sum ? cell_time_bare(at.i) : cell_time(at.i);
}

static struct cell record_device(const void *rows, size_t i)
{
    const struct ms_memory_record_view *v = rows;
    const struct ms_memory_one_record *r = &v->record.at[i];
    return r->of == COMPONENT_GRAPHS && !r->is_sum ? table_cell(&v->graphs, r->row, GRAPH_DEVICE) : cell_name(v->npu);
}

CELL_GETTER(record_allocated, struct ms_memory_record_view, record_amount(r, i, RECORD_ALLOCATED))
CELL_GETTER(record_reserved, struct ms_memory_record_view, record_amount(r, i, RECORD_RESERVED))
CELL_GETTER(record_active, struct ms_memory_record_view, record_amount(r, i, RECORD_ACTIVE))

static int64_t time_of(const struct ms_memory_record_view *v, enum component of, uint32_t row)
{
    return of == COMPONENT_MS ? v->totals->time_ns[row] : table_cell(&v->graphs, row, GRAPH_TIME).i;
}

static bool add_record(struct ms_memory_record_view *v, struct ms_memory_one_record r, struct arena *mem)
{
    struct ms_memory_one_record *new = list_add(&v->record, mem);
    if (new)
        *new = r;
    return new != NULL;
}

/* Lists the records of graphs and of MindSpore by time, of equal times those of graphs first; each is followed by its
 * sum with the last record of the other component. */
static bool merge(struct ms_memory_record_view *v, const struct collection_export *x)
{
    const size_t n_graphs = v->graphs.n_rows, n = n_graphs + (x->collection->settings.has_cpu ? v->totals->n : 0);
    uint32_t *order = arena_take(x->mem, n, sizeof *order), latest[2] = { NO_ROW, NO_ROW };
    uint64_t *key = arena_take(x->mem, n, sizeof *key);
    if (!order || !key)
        return false;
    for (uint32_t i = 0; i < n; i++)
        key[i] = (uint64_t)time_of(v, i < n_graphs ? COMPONENT_GRAPHS : COMPONENT_MS,
                                   i < n_graphs ? i : i - (uint32_t)n_graphs) ^
                 UINT64_C(1) << 63;
    order_fill(order, n);
    if (!order_by_u64(order, n, key))
        return false;
    for (size_t i = 0; i < n; i++) {
        const enum component of = order[i] < n_graphs ? COMPONENT_GRAPHS : COMPONENT_MS;
        const uint32_t row = of == COMPONENT_GRAPHS ? order[i] : order[i] - (uint32_t)n_graphs;
        latest[of] = row;
        if (!collection_shows(x, time_of(v, of, row)))
            continue;
        if (!add_record(v, (struct ms_memory_one_record){ of, false, row, NO_ROW }, x->mem) ||
            !add_record(v,
                        (struct ms_memory_one_record){ of, true, row,
                                                       latest[of == COMPONENT_MS ? COMPONENT_GRAPHS : COMPONENT_MS] },
                        x->mem))
            return false;
    }
    return true;
}

static bool add_app(struct ms_memory_record_view *v, const struct collection_export *x)
{
    const struct names *names = x->collection->profile.names;
    for (uint32_t i = 0; i < v->app.n_rows; i++) {
        const struct cell event = table_cell(&v->app, i, APP_EVENT);
        const char *text = event.kind == CELL_NAME   ? names_text(names, event.name)
                           : event.kind == CELL_TEXT ? event.text
                                                     : "";
        if (strcmp(text, "APP") == 0 && collection_shows_device(x, table_cell(&v->app, i, APP_TIME).i) &&
            !add_record(v, (struct ms_memory_one_record){ COMPONENT_APP, false, i, NO_ROW }, x->mem))
            return false;
    }
    return true;
}

bool ms_memory_record(const struct collection_export *x, struct table *out, struct error *e)
{
    static const struct column column[] = {
        { "Component", record_component },           { "Timestamp(us)", record_time },
        { "Total Allocated(MB)", record_allocated }, { "Total Reserved(MB)", record_reserved },
        { "Total Active(MB)", record_active },       { "Device Type", record_device },
    };
    const struct collection *s = x->collection;
    struct ms_memory_record_view *v = arena_take(x->mem, 1, sizeof *v);
    if (!v)
        return error_no_memory(e, "memory_record");
    v->totals = &s->framework.ms.totals;
    v->npu = npu_name(s->profile.names, s->settings.rank);
    if (!memory_record_report(&x->device, &v->graphs, e) || !npu_mem_report(&x->device, &v->app, e))
        return false;
    if (!merge(v, x) || !add_app(v, x))
        return error_no_memory(e, "memory_record");
    *out = (struct table){
        .name = "memory_record", TABLE_COLUMNS(column), .n_rows = v->record.n, .rows = v, .names = s->profile.names
    };
    return true;
}

/* ---- operator_memory -------------------------------------------------------------------------------------------- */

struct ms_memory_life_view {
    const struct collection *s;
    name_id npu[INT8_MAX + 1]; /* by device */
};

static const struct framework_memory *memory_of(const struct ms_memory_life_view *v)
{
    return &v->s->framework.memory;
}

/* The double nearest to a number of thousandths. A long double of any size rounds to it: in the binary digits of a
 * thousandth no more than six zeros or ones follow each other, so that none is mistaken for a half. */
static double thousandth(int64_t n)
{
    return (double)((long double)n / 1000);
}

static struct cell time_cell(const struct ms_memory_life_view *v, uint32_t row, int64_t from_ns)
{
    return row == NO_ROW ? cell_na() : cell_real(thousandth(memory_of(v)->time_ns[row] - from_ns));
}

static struct cell mb_cell(const int64_t *bytes, uint32_t row)
{
    return row == NO_ROW ? cell_na() : cell_real((double)bytes[row] / 1048576);
}

#define TAKEN r->s->lives.taken[i]
#define FREED r->s->lives.freed[i]
CELL_GETTER(life_name, struct ms_memory_life_view, cell_name(r->s->lives.name[i]))
CELL_GETTER(life_size, struct ms_memory_life_view, cell_real((double)memory_of(r)->size_bytes[TAKEN] / 1024))
CELL_GETTER(life_begin, struct ms_memory_life_view, time_cell(r, TAKEN, 0))
CELL_GETTER(life_end, struct ms_memory_life_view, time_cell(r, FREED, 0))
CELL_GETTER(life_duration, struct ms_memory_life_view, time_cell(r, FREED, memory_of(r)->time_ns[TAKEN]))
CELL_GETTER(life_allocated, struct ms_memory_life_view, mb_cell(memory_of(r)->allocated_bytes, TAKEN))
CELL_GETTER(life_reserved, struct ms_memory_life_view, mb_cell(memory_of(r)->reserved_bytes, TAKEN))
CELL_GETTER(life_end_allocated, struct ms_memory_life_view, mb_cell(memory_of(r)->allocated_bytes, FREED))
CELL_GETTER(life_end_reserved, struct ms_memory_life_view, mb_cell(memory_of(r)->reserved_bytes, FREED))
CELL_GETTER(life_stream, struct ms_memory_life_view, cell_uint((uint64_t)memory_of(r)->stream[TAKEN]))
CELL_GETTER(life_npu, struct ms_memory_life_view, cell_name(r->npu[memory_of(r)->device[TAKEN]]))
CELL_GETTER(unknown, struct ms_memory_life_view, cell_na())

/* MindSpore has no blocks that wait for a stream: active memory is the same as allocated memory. */
static const struct column life_columns[] = {
    { "Name", life_name },
    { "Size(KB)", life_size },
    { "Allocation Time(us)", life_begin },
    { "Release Time(us)", life_end },
    { "Active Release Time(us)", unknown },
    { "Duration(us)", life_duration },
    { "Active Duration(us)", unknown },
    { "Allocation Total Allocated(MB)", life_allocated },
    { "Allocation Total Reserved(MB)", life_reserved },
    { "Allocation Total Active(MB)", life_allocated },
    { "Release Total Allocated(MB)", life_end_allocated },
    { "Release Total Reserved(MB)", life_end_reserved },
    { "Release Total Active(MB)", life_end_allocated },
    { "Stream Ptr", life_stream },
    { "Device Type", life_npu },
};

static bool write_lives(const struct collection_export *x, struct out *o, uint64_t *n_rows)
{
    const struct collection *s = x->collection;
    struct ms_memory_life_view *v = arena_take(x->mem, 1, sizeof *v);
    uint32_t *shown = arena_take(x->mem, s->lives.n, sizeof *shown);
    struct table t = { TABLE_COLUMNS(life_columns), .rows = v,        .shown = shown,
                       .names = s->profile.names,   .has_crlf = true, .is_safe = x->device.options->csv_is_safe };
    if (!v || !shown)
        return false;
    v->s = s;
    for (int d = 0; d <= INT8_MAX; d++)
        v->npu[d] = npu_name(s->profile.names, d);
    for (uint32_t i = 0; i < s->lives.n; i++)
        if (collection_shows(x, s->framework.memory.time_ns[s->lives.taken[i]]))
            shown[t.n_rows++] = i;
    *n_rows = t.n_rows;
    table_csv_header(&t, o);
    table_csv_rows(&t, o, 0, t.n_rows);
    return true;
}

/* Bytes that are not UTF-8 become U+FFFD, as in all outputs. */
static void copy_text(struct out *o, const uint8_t *text, size_t n)
{
    size_t from = 0;
    for (size_t i = 0, len; i < n; i += len) {
        len = text[i] < 0x80 ? 1 : utf8_len(text + i, n - i);
        if (len > 0)
            continue;
        out_bytes(o, text + from, i - from);
        out_lit(o, UTF8_UNKNOWN);
        from = i + (len = 1);
    }
    out_bytes(o, text + from, n - from);
}

static uint64_t lines_of(const struct framework_file *f)
{
    uint64_t n = 0;
    for (size_t i = 0; i < f->size; i++)
        n += f->data[i] == '\n';
    return n;
}

bool ms_operator_memory_write(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e)
{
    const struct framework_file *old = &x->collection->framework.file[FRAMEWORK_MEMORY_TABLE];
    struct out o;
    if (!out_open(&o, path, e))
        return false;
    bool done = true;
    if (x->collection->framework.memory.n > 0)
        done = write_lives(x, &o, n_rows);
    else if (old->size > 0 && lines_of(old) > 1) {
        *n_rows = lines_of(old) - 1;
        copy_text(&o, old->data, old->size);
    }
    if (done && *n_rows > 0)
        return out_close(&o, e);
    out_discard(&o);
    return done || error_no_memory(e, path);
}
