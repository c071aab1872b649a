/* SPDX-License-Identifier: Apache-2.0 */
#include "export/samplers/counter_tracks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/sort.h"
#include "export/samplers/sampler_outputs.h"
#include "export/scope.h"
#include "raw/instr.h"

/* Instruction traces on the timeline: when the units of cores were busy. */

static const char *const unit_name[INSTR_UNITS] = { "SU", "VEC", "CUBE", "MTE1", "MTE2", "MTE3", "FIXP" };

/* The newer presentation cuts times to ticks and durations to whole µs. */
static void draw_unit(const struct export *x, const struct device *d, const struct unit_track *u, size_t i,
                      struct trace *t, uint32_t pid, int64_t tid)
{
    enum { NS_PER_US = 1000 };
    const struct ticks tick = d->source.device_clock.tick;
    const double begin = floor(u->begin[i]), end = floor(u->end[i]);
    const uint64_t begin_tick = begin < 0x1p63 ? (uint64_t)begin : INT64_MAX,
                   ticks = end > begin && end - begin < 0x1p62 ? (uint64_t)(end - begin) : 0;
    const int64_t begin_ns = source_device_ns(&d->source, begin_tick);
    double dur_ns = (double)(ticks_to_ns(tick, (int64_t)ticks) / NS_PER_US * NS_PER_US);
    if (x->is_generic)
        dur_ns = u->end[i] > u->begin[i] ? (u->end[i] - u->begin[i]) * (double)tick.num / (double)tick.den : 0;
    if (!trace_wants(t, begin_ns, stamp_add(begin_ns, (int64_t)dur_ns)))
        return;
    trace_slice(t, unit_name[u->unit[i]], strlen(unit_name[u->unit[i]]), pid, tid, begin_ns, dur_ns);
    trace_args(t);
    trace_arg_text(t, "Core Type", u->core);
    trace_arg_uint(t, "Block Id", u->block[i]);
    if (x->is_generic && u->check_point[i] >= 0)
        trace_arg_uint(t, "Checkpoint Info", (uint64_t)u->check_point[i]);
    trace_end(t);
}

static bool units_are_there(const struct device *d)
{
    return d->units.n_tracks > 0;
}

static void draw_units(const struct export *x, const struct device *d, struct trace *t, uint32_t pid)
{
    for (size_t k = 0; k < d->units.n_tracks; k++) {
        const struct unit_track *u = &d->units.track[k];
        char name[64];
        snprintf(name, sizeof name, "Group%u-%.40s", u->group, u->core);
        trace_thread_name(t, pid, (int64_t)k, name);
        for (size_t i = 0; i < u->n; i++)
            draw_unit(x, d, u, i, t, pid, (int64_t)k);
    }
}

static const struct counter_process unit_process = {
    .name = "Biu Perf", .sort = 32, .needs_all = true, .is_there = units_are_there, .draw_device = draw_units
};

static const double BYTES_PER_MB = 1048576;

struct cell value_device(const struct counter_view *v, size_t row, unsigned column)
{
    (void)row, (void)column;
    return cell_uint(v->device->source.device);
}

struct cell value_time(const struct counter_view *v, size_t row, unsigned column)
{
    (void)column;
    return cell_time(v->s->at_ns[row]);
}

struct cell value_uint(const struct counter_view *v, size_t row, unsigned column)
{
    return cell_uint(samples_uint(v->s, column, row));
}

struct cell value_real(const struct counter_view *v, size_t row, unsigned column)
{
    return cell_real(samples_real(v->s, column, row));
}

struct cell value_bytes(const struct counter_view *v, size_t row, unsigned column)
{
    const double bytes = samples_real(v->s, column, row) * BYTES_PER_MB;
    return cell_uint(bytes < 0x1p63 ? (uint64_t)bytes : INT64_MAX); /* damaged counts can be of any size */
}

struct cell value_bytes_real(const struct counter_view *v, size_t row, unsigned column)
{
    return cell_real(samples_real(v->s, column, row) * BYTES_PER_MB);
}

bool samples_cores(const struct profile *p)
{
    return profile_main_source(p)->settings.samples_cores;
}

static const struct samples *source_samples(const struct family_source *from, unsigned which, const struct device *d)
{
    return from->of_rates ? &d->counters.rate[from->from[which]] : &d->counters.raw[from->from[which]];
}

bool view_open(const struct export *x, const struct family_source *from, unsigned which, const struct device *d,
               struct counter_view *out, struct error *e)
{
    const struct samples *s = source_samples(from, which, d);
    *out = (struct counter_view){ .x = x, .device = d, .s = s, .n = s->n - s->n_early, .first = s->n_early };
    if (!from->keeps)
        return true;
    uint32_t *order = arena_take(x->mem, out->n, sizeof *order);
    if (!order)
        return error_no_memory(e, d->source.path);
    size_t n = 0;
    for (size_t i = out->first; i < s->n; i++)
        if (from->keeps(s, i))
            order[n++] = (uint32_t)i;
    out->order = order;
    out->n = n;
    return true;
}

/* The samples of all devices as the rows of one table, view by view unless they are sorted. */
struct views {
    struct counter_view *at;
    size_t n, n_rows;
    const uint32_t *order; /* NULL: not sorted */
    const struct counter_value *value;
};

static bool views_open(const struct export *x, const struct family_source *from, struct views *out, struct error *e)
{
    const struct profile *p = x->profile;
    out->at = arena_take(x->mem, p->n_devices * from->n_from, sizeof *out->at);
    if (!out->at)
        return error_no_memory(e, p->path);
    for (size_t d = 0; d < p->n_devices; d++)
        for (unsigned k = 0; k < from->n_from; k++) {
            if (!view_open(x, from, k, &p->device[d], &out->at[out->n], e))
                return false;
            out->n_rows += out->at[out->n++].n;
        }
    return true;
}

static struct cell views_cell(const void *rows, size_t row, size_t column)
{
    const struct views *all = rows;
    const struct counter_view *v = all->at;
    row = all->order ? all->order[row] : row;
    while (row >= v->n) /* there are few views: one or two for each device */
        row -= (v++)->n;
    const struct counter_value *value = &all->value[column];
    return value->get(v, view_row(v, row), value->column);
}

/* Sorts the rows of all devices by key, then by time. */
static bool views_sort(struct views *rows, uint64_t (*key)(const struct samples *s, size_t row), struct arena *mem)
{
    uint32_t *order = arena_take(mem, rows->n_rows, sizeof *order);
    uint64_t *at = arena_take(mem, rows->n_rows, sizeof *at), *by = arena_take(mem, rows->n_rows, sizeof *by);
    if (!order || !at || !by)
        return false;
    size_t n = 0;
    for (const struct counter_view *v = rows->at; v < rows->at + rows->n; v++)
        for (size_t i = 0; i < v->n; i++, n++) {
            at[n] = (uint64_t)v->s->at_ns[view_row(v, i)] ^ UINT64_C(1) << 63;
            by[n] = key(v->s, view_row(v, i));
        }
    order_fill(order, n);
    rows->order = order;
    return order_by_u64(order, n, at) && order_by_u64(order, n, by);
}

bool counters_report(const struct export *x, const struct family_source *from,
                     uint64_t (*key)(const struct samples *s, size_t row), const struct counter_value *column,
                     size_t n_columns, struct table *out, struct error *e)
{
    struct views *rows = arena_take(x->mem, 1, sizeof *rows);
    struct column *names = arena_take(x->mem, n_columns, sizeof *names);
    if (!rows || !names)
        return error_no_memory(e, x->profile->path);
    if (!views_open(x, from, rows, e))
        return false;
    if (key && !views_sort(rows, key, x->mem))
        return error_no_memory(e, x->profile->path);
    rows->value = column;
    for (size_t c = 0; c < n_columns; c++)
        names[c].name = column[c].name;
    *out = (struct table){ .column = names,
                           .n_columns = n_columns,
                           .n_rows = rows->n_rows,
                           .rows = rows,
                           .get = views_cell,
                           .names = x->profile->names };
    return true;
}

static bool write_table(const struct export *x, struct db *db, const struct family_table *f, struct error *e)
{
    struct views rows = { .value = f->column };
    struct db_column *column = arena_take(x->mem, f->n_columns, sizeof *column);
    if (!column)
        return error_no_memory(e, x->profile->path);
    for (size_t c = 0; c < f->n_columns; c++)
        column[c] = (struct db_column){ f->column[c].name, f->column[c].type, NULL };
    if (!views_open(x, &f->source, &rows, e))
        return false;
    const struct db_table t = { .name = f->name,
                                .column = column,
                                .n_columns = f->n_columns,
                                .n_rows = rows.n_rows,
                                .rows = &rows,
                                .get = views_cell };
    return db_table(db, &t, e);
}

bool counters_db(const struct export *x, struct db *db, struct error *e)
{
    const struct {
        const struct family_table *table;
        size_t n;
    } part[] = { { memory_tables, n_memory_tables },
                 { link_tables, n_link_tables },
                 { soc_tables, n_soc_tables },
                 { core_tables, n_core_tables },
                 { gpu_memory_tables, n_gpu_memory_tables },
                 { gpu_tables, n_gpu_tables } };
    for (size_t k = 0; k < sizeof part / sizeof *part; k++)
        for (size_t i = 0; i < part[k].n; i++)
            if (!write_table(x, db, &part[k].table[i], e))
                return false;
    return true;
}

/* In the order in which the generic presentation numbers them. */
const struct counter_track counter_tracks[] = {
    { "hbm", &hbm_process },
    { "ddr", &ddr_process },
    { "pcie", &pcie_process },
    { "hccs", &hccs_process },
    { "nic", &nic_process },
    { "roce", &roce_process },
    { "llc", &llc_process },
    { "npu_mem", &npu_mem_process },
    { "ascend", &core_process },
    { "stars_soc", &soc_process },
    { "stars_chip_trans", &chip_trans_process },
    { "biu_perf", &unit_process },
    { "acc_pmu", &acc_process },
    { "sio", &sio_process },
    { "qos", &qos_process },
    { "ub", &ub_process },
    { "ccu", &ccu_process },
    { "gpu_memory", &gpu_memory_process },
    { "gpu_counters", &gpu_process },
};
const size_t n_counter_tracks = COUNT_OF(counter_tracks);

static const struct family_source *process_source(const struct export *x, const struct counter_process *c)
{
    return x->scope != SCOPE_ALL && c->part ? c->part : &c->source;
}

/* A process exists when something was sampled, even if no sample lies in the window. */
static bool process_is_there(const struct export *x, const struct counter_process *c, const struct device *d)
{
    if ((c->needs_all && x->scope != SCOPE_ALL) || (c->only_generic && !x->is_generic))
        return false;
    if (c->is_there)
        return c->is_there(d);
    const struct family_source *from = process_source(x, c);
    for (unsigned k = 0; k < from->n_from; k++) {
        const struct samples *s = source_samples(from, k, d);
        for (size_t row = 0; row < s->n; row++)
            if (!from->keeps || from->keeps(s, row))
                return true;
    }
    return false;
}

unsigned counter_sort(const struct export *x, const struct device *d, const char *name)
{
    enum { FIRST = 20 };
    unsigned sort = FIRST;
    for (size_t i = 0; i < x->profile->n_devices; i++) {
        const struct device *at = &x->profile->device[i];
        for (size_t k = 0; k < n_counter_tracks; k++) {
            if (at == d && strcmp(counter_tracks[k].counters->name, name) == 0)
                return sort;
            sort += process_is_there(x, counter_tracks[k].counters, at);
        }
        if (at == d)
            return sort;
        sort += at->tasks.n > 0; /* Overlap Analysis */
    }
    return sort;
}

static void put_arg(struct trace *t, const char *key, struct cell c)
{
    switch (c.kind) {
    case CELL_UINT: trace_arg_uint(t, key, c.u); break;
    case CELL_TEXT: trace_arg_text(t, key, c.text); break;
    default: trace_arg_real(t, key, c.f);
    }
}

static void draw_counter(const struct counter_process *p, const struct counter *c, const struct counter_view *v,
                         size_t row, struct trace *t, uint32_t pid)
{
    char name[64];
    if (c->name)
        snprintf(name, sizeof name, "%s", names_text(t->names, c->name(v, row).name));
    else if (c->after)
        snprintf(name, sizeof name, "%s%" PRIu64 "%s", c->before, samples_uint(v->s, p->unit, row), c->after);
    else
        snprintf(name, sizeof name, "%s", c->before);
    trace_counter(t, name, pid, 0, v->s->at_ns[row]);
    for (size_t k = 0; k < COUNTER_MOST_ARGS && c->arg[k].name; k++)
        put_arg(t, c->arg[k].name, c->arg[k].get(v, row, c->arg[k].column));
    trace_end(t);
}

static void draw_samples(const struct export *x, const struct counter_process *p, const struct counter_view *v,
                         struct trace *t, uint32_t pid)
{
    const struct counter *counter = x->is_generic && p->generic ? p->generic : p->counter;
    for (size_t i = 0; i < v->n; i++) {
        const size_t row = view_row(v, i);
        if (!trace_wants(t, v->s->at_ns[row], v->s->at_ns[row]))
            continue;
        for (size_t k = 0; k < p->n_counters; k++) {
            const struct counter *c = &counter[k];
            if (c->when == ANY_SAMPLE || samples_uint(v->s, c->when, row) == c->is)
                draw_counter(p, c, v, row, t, pid);
        }
    }
}

bool counters_draw(const struct export *x, const struct counter_process *c, struct trace *t, struct error *e)
{
    const struct family_source *from = process_source(x, c);
    for (size_t i = 0; i < x->profile->n_devices; i++) {
        const struct device *d = &x->profile->device[i];
        if (!process_is_there(x, c, d))
            continue;
        const unsigned sort = x->is_generic ? counter_sort(x, d, c->name) : c->sort;
        const uint32_t pid = trace_pid(d->source.pid, sort, d->source.device);
        scope_set_window(x, t, i);
        const char *name = x->is_generic && c->generic_name ? c->generic_name : c->name;
        trace_process_npu(t, pid, name, d->source.device, sort);
        if (c->draw_device) {
            c->draw_device(x, d, t, pid);
            continue;
        }
        for (unsigned k = 0; k < from->n_from; k++) {
            struct counter_view v;
            if (!view_open(x, from, k, d, &v, e))
                return false;
            if (c->draw)
                c->draw(x, &v, t, pid);
            else
                draw_samples(x, c, &v, t, pid);
        }
    }
    return true;
}
