/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/sort.h"
#include "export/event_args.h"
#include "raw/enums.h"
#include "raw/host_records.h"

/* A row of what ran: its communication first, then its tasks. */
struct dpu_row {
    unsigned unit;
    uint16_t stream;
    uint32_t task, thread;
    name_id name;
    int64_t begin_ns, end_ns;
    const uint8_t *comm; /* dpu_hccl_layout; NULL: a task */
};

struct dpu_rows {
    size_t n;
    struct dpu_row *at;
};

/* Of units alone: the record may also be of an NPU. */
static bool is_of_unit(uint16_t device)
{
    return device >> DPU_KIND_SHIFT == DPU_KIND;
}

/* The kernel that the host launched with an id. */
static name_id kernel_of(const struct profile *p, const uint32_t *order, const uint64_t *key, uint64_t wanted)
{
    const struct dpu_launches *l = &p->host.records.dpu_launches;
    const size_t at = order_first_u64(order, l->n, key, wanted);
    return at < l->n && key[order[at]] == wanted ? dictionary_hash(&p->dictionary, l->kernel[order[at]]) : NAME_NA;
}

static bool rows_make(const struct export *x, struct dpu_rows *out)
{
    const struct profile *p = x->profile;
    const struct source *s = &p->host.source;
    const struct dpu_launches *l = &p->host.records.dpu_launches;
    const struct dpu_tracks *t = &p->host.records.dpu_tracks;
    const struct ccu_records *c = &p->host.records.dpu_comms;
    uint64_t *key = arena_take(x->mem, l->n, sizeof *key);
    uint32_t *order = arena_take(x->mem, l->n, sizeof *order);
    *out = (struct dpu_rows){ .at = arena_take(x->mem, t->n + c->n, sizeof *out->at) };
    if (!key || !order || !out->at)
        return false;
    for (size_t i = 0; i < l->n; i++)
        key[i] = (uint64_t)l->device[i] << 32 | l->task[i];
    order_fill(order, l->n);
    if (!order_by_u64(order, l->n, key))
        return false;
    for (size_t i = 0; i < c->n; i++) {
        const uint8_t *rec = c->at[i];
        const uint16_t device = (uint16_t)layout_get(&dpu_hccl_layout, DPU_HCCL_DPU, rec);
        if (is_of_unit(device))
            out->at[out->n++] = (struct dpu_row){
                .unit = device & DPU_UNIT_MASK,
                .stream = (uint16_t)layout_get(&dpu_hccl_layout, DPU_HCCL_STREAM, rec),
                .task = (uint32_t)layout_get(&dpu_hccl_layout, DPU_HCCL_TASK, rec),
                .thread = (uint32_t)layout_get(&dpu_hccl_layout, HEAD_THREAD, rec),
                .name = dictionary_hash(&p->dictionary, layout_get(&dpu_hccl_layout, DPU_HCCL_ITEM, rec)),
                .begin_ns = source_host_ns(s, layout_get(&dpu_hccl_layout, DPU_HCCL_START, rec)),
                .end_ns = source_host_ns(s, layout_get(&dpu_hccl_layout, HEAD_TIME, rec)),
                .comm = rec,
            };
    }
    for (size_t i = 0; i < t->n; i++)
        if (is_of_unit(t->device[i]))
            out->at[out->n++] =
                (struct dpu_row){ .unit = t->device[i] & DPU_UNIT_MASK,
                                  .stream = t->stream[i],
                                  .task = t->task[i],
                                  .thread = t->thread[i],
                                  .name = kernel_of(p, order, key, (uint64_t)t->device[i] << 32 | t->task[i]),
                                  .begin_ns = source_host_ns(s, t->start[i]),
                                  .end_ns = source_host_ns(s, t->end[i]) };
    return true;
}

static double dur_ns(const struct dpu_row *r)
{
    return r->end_ns > r->begin_ns ? (double)(r->end_ns - r->begin_ns) : 0;
}

static struct cell dpu_name_of(const struct enum_table *table, const uint8_t *rec, unsigned field)
{
    const uint32_t value = (uint32_t)layout_get(&dpu_hccl_layout, field, rec);
    const char *text = enum_text(table, value);
    return text ? cell_text(text) : cell_uint(value);
}

static struct cell dpu_number_of(const uint8_t *rec, unsigned field)
{
    return cell_uint(layout_get(&dpu_hccl_layout, field, rec));
}

static struct cell dpu_text_of(const struct export *x, const uint8_t *rec, unsigned field)
{
    return cell_name(names_number(x->profile->names, layout_get(&dpu_hccl_layout, field, rec)));
}

static void comm_args(const struct export *x, const struct dpu_row *r, struct event_args *a)
{
    const struct profile *p = x->profile;
    const uint8_t *rec = r->comm;
    const uint64_t group = layout_get(&dpu_hccl_layout, DPU_HCCL_GROUP, rec),
                   estimate = layout_get(&dpu_hccl_layout, DPU_HCCL_ESTIMATE, rec);
    const double bytes = (double)layout_get(&dpu_hccl_layout, DPU_HCCL_SIZE, rec), ns = dur_ns(r);
    double estimate_us;
    memcpy(&estimate_us, &estimate, sizeof estimate_us);
    const char *name =
        arena_printf(x->mem, "%s(%" PRIu64 ")", names_text(p->names, dictionary_hash(&p->dictionary, group)), group);
    event_arg(a, "OP Type", dpu_name_of(&reduce_ops, rec, DPU_HCCL_OP_TYPE));
    event_arg(a, "AI CPU Device Id", dpu_number_of(rec, DPU_HCCL_NPU));
    event_arg(a, "AI CPU Task Id", dpu_number_of(rec, DPU_HCCL_AICPU_TASK));
    event_arg(a, "Group Name", cell_text(name ? name : ""));
    event_arg(a, "Plane Id", dpu_number_of(rec, DPU_HCCL_PLANE));
    event_arg(a, "Notify Id", dpu_text_of(x, rec, DPU_HCCL_NOTIFY));
    event_arg(a, "Duration Estimated(us)", cell_real(estimate_us));
    event_arg(a, "Rank Size", dpu_number_of(rec, DPU_HCCL_RANK_SIZE));
    event_arg(a, "Src Rank", dpu_number_of(rec, DPU_HCCL_LOCAL_RANK));
    event_arg(a, "Dst Rank", dpu_number_of(rec, DPU_HCCL_REMOTE_RANK));
    event_arg(a, "Transport Type", dpu_name_of(&hccl_transports, rec, DPU_HCCL_TRANSPORT));
    event_arg(a, "Size(Byte)", dpu_number_of(rec, DPU_HCCL_SIZE));
    if (a->of_db)
        event_arg(a, "Bandwidth(B/s)", cell_real(ns > 0 ? bytes / (ns / 1e9) : 0));
    else
        event_arg(a, "Bandwidth(GB/s)", cell_real(ns > 0 ? bytes * 1e-9 / (ns * 1e-9) : 0));
    event_arg(a, "Data Type", dpu_name_of(&hccl_data_types, rec, DPU_HCCL_DATA_TYPE));
    event_arg(a, "Link Type", dpu_name_of(&hccl_links, rec, DPU_HCCL_LINK));
    event_arg(a, "Rdma Type", dpu_name_of(&hccl_rdmas, rec, DPU_HCCL_RDMA));
    if (x->is_generic && !a->of_db) { /* only the older presentation shows them, its numbers as texts */
        event_arg(a, "Role", dpu_name_of(&hccl_roles, rec, DPU_HCCL_ROLE));
        event_arg(a, "Ccl Tag", dpu_text_of(x, rec, DPU_HCCL_TAG));
        event_arg(a, "Work Flow Mode", dpu_text_of(x, rec, DPU_HCCL_WORKFLOW));
        event_arg(a, "Stage", dpu_text_of(x, rec, DPU_HCCL_STAGE));
    }
}

static struct event_args args_of(const struct export *x, const struct dpu_row *r, bool of_db)
{
    struct event_args a = { .of_db = of_db };
    event_arg(&a, "Thread Id", cell_uint(r->thread));
    event_arg(&a, "Physic Stream Id", cell_uint(r->stream));
    event_arg(&a, "Task Id", cell_uint(r->task));
    if (r->comm)
        comm_args(x, r, &a);
    else
        event_arg(&a, "Task Type", cell_text("AI_CPU"));
    return a;
}

enum { DPU_SORT = 8 };

/* The names of a unit and of its streams, each once. */
static void draw_names(const struct export *x, struct trace *t, uint32_t pid, const struct dpu_rows *rows,
                       unsigned unit, bool *seen)
{
    char text[32];
    snprintf(text, sizeof text, "DPU %u", unit);
    trace_process(t, pid, x->is_generic ? "DPU" : chip_words(x->profile->chip)->stack, text, DPU_SORT);
    memset(seen, 0, UINT16_MAX + 1);
    for (size_t i = 0; i < rows->n; i++) {
        const uint16_t stream = rows->at[i].stream;
        if (rows->at[i].unit != unit || seen[stream])
            continue;
        seen[stream] = true;
        snprintf(text, sizeof text, "Stream %u", stream);
        trace_thread(t, pid, stream, text, stream);
    }
}

bool dpu_track(const struct export *x, struct trace *t, struct error *e)
{
    struct dpu_rows rows;
    enum { UNITS = 31 }; /* more do not fit into a pid */
    bool *seen = arena_take(x->mem, UINT16_MAX + 1, sizeof *seen);
    if (!profile_has_host(x->profile) || x->scope != SCOPE_ALL)
        return true;
    if (!seen || !rows_make(x, &rows))
        return error_no_memory(e, "DPU");
    for (unsigned unit = 0; unit < UNITS; unit++) {
        const uint32_t pid = trace_pid(x->profile->host.source.pid, DPU_SORT, unit);
        bool is_named = false;
        for (size_t i = 0; i < rows.n; i++) {
            const struct dpu_row *r = &rows.at[i];
            if (r->unit != unit || r->end_ns < x->profile->host.source.begin_ns ||
                !trace_wants(t, r->begin_ns, r->end_ns))
                continue;
            if (!is_named)
                draw_names(x, t, pid, &rows, unit, seen);
            is_named = true;
            const struct event_args args = args_of(x, r, false);
            trace_slice_name(t, r->name, pid, r->stream, r->begin_ns, dur_ns(r));
            event_args_draw(&args, t);
            trace_end(t);
        }
    }
    return !arena_failed(x->mem) || error_no_memory(e, "DPU");
}

/* One number for each task, after those of all others. */
static uint32_t *number_rows(const struct export *x, const struct dpu_rows *rows)
{
    const struct profile *p = x->profile;
    uint64_t *key = arena_take(x->mem, rows->n, sizeof *key);
    uint32_t *order = arena_take(x->mem, rows->n, sizeof *order), *id = arena_take(x->mem, rows->n, sizeof *id);
    uint32_t next = p->n_global_ids;
    if (!key || !order || !id)
        return NULL;
    for (size_t d = 0; d < p->n_devices; d++)
        next += (uint32_t)(p->device[d].steps.marks.n + p->device[d].log.copies.n);
    for (size_t i = 0; i < rows->n; i++)
        key[i] = (uint64_t)rows->at[i].unit << 48 | (uint64_t)rows->at[i].stream << 32 | rows->at[i].task;
    order_fill(order, rows->n);
    if (!order_by_u64(order, rows->n, key))
        return NULL;
    for (size_t i = 0; i < rows->n; i++) {
        next += i > 0 && key[order[i]] != key[order[i - 1]];
        id[order[i]] = next;
    }
    return id;
}

bool dpu_db(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        { "dpuDeviceId", "INTEGER", NULL }, { "globalTid", "NUMERIC", NULL },    { "startNs", "NUMERIC", NULL },
        { "endNs", "NUMERIC", NULL },       { "globalTaskId", "NUMERIC", NULL }, { "streamId", "NUMERIC", NULL },
        { "taskId", "NUMERIC", NULL },      { "opName", "NUMERIC", NULL },       { "args", "NUMERIC", NULL },
    };
    struct grid g = { .n_columns = sizeof column / sizeof *column, .mem = x->mem };
    struct dpu_rows rows;
    struct out text;
    if (!profile_has_host(x->profile))
        return true;
    uint32_t *id = rows_make(x, &rows) ? number_rows(x, &rows) : NULL;
    if (!id)
        return error_no_memory(e, "DPU_TASK");
    if (!out_open_memory(&text, e))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        const struct dpu_row *r = &rows.at[i];
        const struct event_args args = args_of(x, r, true);
        grid_row(&g, (struct cell[]){ cell_uint(r->unit), cell_uint(r->thread), cell_int(r->begin_ns),
                                      cell_int(r->end_ns), cell_uint(id[i]), cell_uint(r->stream), cell_uint(r->task),
                                      cell_name(r->name), event_args_cell(&args, x, &text) });
    }
    out_discard(&text);
    return grid_db(db, "DPU_TASK", column, &g, e);
}
