/* SPDX-License-Identifier: Apache-2.0 */
#include "export/samplers/sampler_outputs.h"

#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "raw/counter.h"

/* The records of one device. */
struct task_counters_counted {
    const struct device *d;
    const struct layout *layout;
    unsigned first_event; /* field of the layout; those below have the same numbers in both layouts */
    size_t n, first;      /* number of rows, and the number of the first one in the table */
    const uint8_t **record;
    uint32_t *op; /* the operator of each row, or NO_ROW */
    struct {
        unsigned n;
        uint8_t counter[RATE_EVENTS];
    } sum[RATE_SUMS];
};

struct task_counters {
    const struct export *x;
    size_t n, n_parts;
    struct task_counters_counted *part; /* one or two of each device */
};

/* A row of the table: its device, and its row there. */
struct counted_row {
    const struct task_counters *t;
    const struct task_counters_counted *c;
    size_t row;
};

static struct counted_row row_at(const void *rows, size_t i)
{
    const struct task_counters *t = rows;
    const struct task_counters_counted *c = t->part;
    while (i >= c->first + c->n)
        c++;
    return (struct counted_row){ t, c, i - c->first };
}

static struct cell field(struct counted_row r, unsigned of)
{
    return cell_uint(layout_get(r.c->layout, of, r.c->record[r.row]));
}

static struct cell op_cell(struct counted_row r)
{
    const uint32_t op = r.c->op[r.row];
    return op == NO_ROW ? cell_na() : cell_name(r.t->x->profile->host.ops.name[op]);
}

static struct cell rate(struct counted_row r, unsigned of)
{
    const struct task_counters_counted *c = r.c;
    uint64_t sum[RATE_SUMS] = { 0 };
    for (unsigned s = 0; s < RATE_SUMS; s++)
        for (unsigned i = 0; i < c->sum[s].n; i++)
            sum[s] += layout_get(c->layout, c->first_event + c->sum[s].counter[i], c->record[r.row]);
    if (sum[RATE_REQUEST])
        return cell_real(round_exact((double)sum[of] / (double)sum[RATE_REQUEST], 6));
    return c->d->source.chip->has_wide_ids ? cell_uint(0) : cell_real(0); /* as the reference prints it */
}

CELL_GETTER(device_id, struct task_counters, cell_uint(row_at(r, i).c->d->source.device))
CELL_GETTER(stream_id, struct task_counters, field(row_at(r, i), SMMU_STREAM))
CELL_GETTER(task_id, struct task_counters, field(row_at(r, i), SMMU_TASK))
CELL_GETTER(first_counter, struct task_counters, field(row_at(r, i), SMMU_FIRST))
CELL_GETTER(hit_rate, struct task_counters, rate(row_at(r, i), RATE_HIT))
CELL_GETTER(other_rate, struct task_counters, rate(row_at(r, i), RATE_OTHER))
CELL_GETTER(op_name, struct task_counters, op_cell(row_at(r, i)))
/* Hits of the L2 cache are unknown on chips with the newer scheduler. */
CELL_GETTER(l2_hit_rate, struct task_counters, r->x->profile->chip->is_stars ? cell_na() : hit_rate(r, i))

enum { HAS_OPS = 1 };

static const struct optional_column l2_columns[] = {
    { "Device_id", NULL, 0, device_id },  { "Stream Id", NULL, 0, stream_id },    { "Task Id", NULL, 0, task_id },
    { "Hit Rate", NULL, 0, l2_hit_rate }, { "Victim Rate", NULL, 0, other_rate }, { "Op Name", NULL, HAS_OPS, op_name },
};

static const struct optional_column smmu_columns[] = {
    { "Device_id", NULL, 0, device_id },      { "Stream Id", NULL, 0, stream_id },
    { "Task Id", NULL, 0, task_id },          { "TLB Hit Rate", NULL, 0, hit_rate },
    { "TLB Miss Rate", NULL, 0, other_rate }, { "Op Name", NULL, HAS_OPS, op_name },
};

static const struct column fault_columns[] = {
    { "Device Id", device_id },          { "Stream Id", stream_id }, { "Task Id", task_id },
    { "Page Fault Num", first_counter }, { "Op Name", op_name },
};

/* Finds the counters of the events from which the rates are computed. False: one of them was not counted. */
static bool find_events(struct task_counters_counted *c, const struct rate_events *events, const char *counted)
{
    const struct event_list list = event_list_parse(counted, COUNTER_EVENTS);
    for (unsigned s = 0; s < RATE_SUMS; s++)
        for (unsigned i = 0; i < RATE_EVENTS && events->of[s][i]; i++)
            if (!event_list_find(&list, events->of[s][i] == EVENT_ZERO ? 0 : events->of[s][i],
                                 &c->sum[s].counter[c->sum[s].n++]))
                return false;
    return c->sum[RATE_REQUEST].n > 0;
}

/* The records of an output: all of the L2 cache's stream, or those of a data type of the SoC's. */
struct counted_from {
    int data_type;                    /* ALL_TYPES: the L2 cache's stream */
    const struct rate_events *events; /* NULL: no rates */
    const char *counted;
};
enum { ALL_TYPES = -1 };

/* Adds records of a device. None if an event of the rates was not counted. False: no memory. */
static bool task_counters_add_device(struct task_counters *t, const struct device *d, struct counted_from of)
{
    struct arena *mem = t->x->mem;
    const bool is_l2 = of.data_type == ALL_TYPES;
    const struct pmu_records *from = is_l2 ? &d->pmu.l2 : &d->pmu.smmu;
    const uint32_t *op = is_l2 ? d->pmu.l2_op : d->pmu.smmu_op;
    struct task_counters_counted *c = &t->part[t->n_parts];
    *c = (struct task_counters_counted){ .d = d,
                                         .layout = is_l2 ? &l2_cache_layout : smmu_layout_of(d->source.chip),
                                         .first_event = is_l2 ? L2_FIRST : SMMU_FIRST,
                                         .first = t->n,
                                         .record = arena_take(mem, from->n, sizeof *c->record),
                                         .op = arena_take(mem, from->n, sizeof *c->op) };
    if (!c->record || !c->op)
        return false;
    for (size_t i = 0; i < from->n; i++) {
        if (!is_l2 && (int)layout_get(c->layout, SMMU_DATA_TYPE, from->at[i]) != of.data_type)
            continue;
        c->op[c->n] = op[i];
        c->record[c->n++] = from->at[i];
    }
    if (c->n == 0 || (of.events && !find_events(c, of.events, of.counted)))
        return true;
    t->n += c->n;
    t->n_parts++;
    return true;
}

static struct task_counters *task_counters_start(const struct export *x)
{
    enum { PARTS = 2 };
    struct task_counters *t = arena_take(x->mem, 1, sizeof *t);
    if (t)
        *t = (struct task_counters){ .x = x,
                                     .part = arena_take(x->mem, PARTS * x->profile->n_devices + 1, sizeof *t->part) };
    return t && t->part ? t : NULL;
}

bool l2_cache_report(const struct export *x, struct table *out, struct error *e)
{
    struct task_counters *t = task_counters_start(x);
    for (size_t i = 0; i < x->profile->n_devices && t; i++) {
        const struct device *d = &x->profile->device[i];
        const struct chip *chip = d->source.chip;
        struct counted_from of = { ALL_TYPES, &chip->l2, d->source.settings.l2_events };
        if (!task_counters_add_device(t, d, of))
            return error_no_memory(e, "l2_cache");
        of.data_type = SMMU_DATA_L2;
        if (chip->has_wide_ids && !task_counters_add_device(t, d, of))
            return error_no_memory(e, "l2_cache");
    }
    if (!t)
        return error_no_memory(e, "l2_cache");
    *out = (struct table){ .name = "l2_cache", .n_rows = t->n, .rows = t, .names = x->profile->names };
    return OPTIONAL_COLUMNS(out, l2_columns, x->profile->host.ops.n > 0 ? HAS_OPS : 0, x, e);
}

bool soc_pmu_report(const struct export *x, struct table *out, struct error *e)
{
    static const char unit[] = "SMMU:";
    struct task_counters *t = task_counters_start(x);
    for (size_t i = 0; i < x->profile->n_devices && t; i++) {
        const struct device *d = &x->profile->device[i];
        const char *events = strcasestr(d->source.settings.npu_events, unit);
        if (!task_counters_add_device(t, d,
                                      (struct counted_from){ SMMU_DATA_TRANSLATION, &d->source.chip->smmu,
                                                             events ? events + sizeof unit - 1 : "" }))
            return error_no_memory(e, "soc_pmu");
    }
    if (!t)
        return error_no_memory(e, "soc_pmu");
    *out = (struct table){ .name = "soc_pmu", .n_rows = t->n, .rows = t, .names = x->profile->names };
    return OPTIONAL_COLUMNS(out, smmu_columns, x->profile->host.ops.n > 0 ? HAS_OPS : 0, x, e);
}

bool page_fault_report(const struct export *x, struct table *out, struct error *e)
{
    if (x->is_generic) /* the older presentation has none */
        return true;
    struct task_counters *t = task_counters_start(x);
    for (size_t i = 0; i < x->profile->n_devices && t; i++)
        if (!task_counters_add_device(t, &x->profile->device[i], (struct counted_from){ SMMU_DATA_FAULTS, NULL, NULL }))
            return error_no_memory(e, "page_fault");
    if (!t)
        return error_no_memory(e, "page_fault");
    *out = (struct table){
        .name = "page_fault", TABLE_COLUMNS(fault_columns), .n_rows = t->n, .rows = t, .names = x->profile->names
    };
    return true;
}
