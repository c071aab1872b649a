#include "export/samplers/task_counters.h"

#include <stdlib.h>
#include <string.h>

#include "raw/counter.h"

/* The records of one device. */
struct counted {
    const struct device *d;
    size_t n, first; /* rows, and the first of them in the table */
    const uint8_t **record;
    uint32_t *op; /* of each row, or NO_ROW */
    struct {
        unsigned n;
        uint8_t counter[RATE_EVENTS];
    } sum[RATE_SUMS];
};

struct task_counters {
    const struct export *x;
    const struct layout *layout;
    unsigned stream, task, first_event; /* fields of the layout */
    size_t n, n_devices;
    struct counted *device;
};

static const struct counted *device_of(const struct task_counters *t, size_t *row)
{
    const struct counted *c = t->device;
    while (*row >= c->first + c->n)
        c++;
    *row -= c->first;
    return c;
}

static struct cell op_cell(const struct task_counters *t, const struct counted *c, size_t row)
{
    return c->op[row] == NO_ROW ? cell_na() : cell_name(t->x->profile->host.ops.name[c->op[row]]);
}

static struct cell rate(const struct task_counters *t, const struct counted *c, size_t row, unsigned of)
{
    uint64_t sum[RATE_SUMS] = { 0 };
    for (unsigned s = 0; s < RATE_SUMS; s++)
        for (unsigned i = 0; i < c->sum[s].n; i++)
            sum[s] += layout_get(t->layout, t->first_event + c->sum[s].counter[i], c->record[row]);
    return sum[RATE_REQUEST] ? cell_real(round_exact((double)sum[of] / (double)sum[RATE_REQUEST], 6)) : cell_real(0);
}

static struct cell id_cell(const struct task_counters *t, const struct counted *c, size_t row, size_t column)
{
    switch (column) {
    case 0: return cell_uint(c->d->source.device);
    case 1: return cell_uint(layout_get(t->layout, t->stream, c->record[row]));
    default: return cell_uint(layout_get(t->layout, t->task, c->record[row]));
    }
}

/* Hits of the L2 cache cannot be told on chips with the newer scheduler. */
static struct cell l2_cell(const void *rows, size_t row, size_t column)
{
    const struct task_counters *t = rows;
    const struct counted *c = device_of(t, &row);
    switch (column) {
    case 3: return t->x->profile->chip->is_stars ? cell_na() : rate(t, c, row, RATE_HIT);
    case 4: return rate(t, c, row, RATE_OTHER);
    case 5: return op_cell(t, c, row);
    default: return id_cell(t, c, row, column);
    }
}

static struct cell smmu_cell(const void *rows, size_t row, size_t column)
{
    const struct task_counters *t = rows;
    const struct counted *c = device_of(t, &row);
    switch (column) {
    case 3: return rate(t, c, row, RATE_HIT);
    case 4: return rate(t, c, row, RATE_OTHER);
    case 5: return op_cell(t, c, row);
    default: return id_cell(t, c, row, column);
    }
}

static struct cell fault_cell(const void *rows, size_t row, size_t column)
{
    const struct task_counters *t = rows;
    const struct counted *c = device_of(t, &row);
    switch (column) {
    case 3: return cell_uint(layout_get(t->layout, t->first_event, c->record[row]));
    case 4: return op_cell(t, c, row);
    default: return id_cell(t, c, row, column);
    }
}

/* Which counters hold the events of the rates. False when one of them was not counted. */
static bool find_events(struct counted *c, const struct rate_events *events, const char *counted)
{
    const struct event_list list = event_list_parse(counted);
    for (unsigned s = 0; s < RATE_SUMS; s++)
        for (unsigned i = 0; i < RATE_EVENTS && events->of[s][i]; i++)
            if (!event_list_find(&list, events->of[s][i], &c->sum[s].counter[c->sum[s].n++]))
                return false;
    return c->sum[RATE_REQUEST].n > 0;
}

/* Takes the records that are wanted: those of a data type, or all of them. */
enum { ALL_TYPES = -1 };
static bool add_device(struct task_counters *t, const struct device *d, const struct pmu_records *from,
                       const uint32_t *op, int data_type, const struct rate_events *events, const char *counted)
{
    struct arena *mem = t->x->mem;
    struct counted *c = &t->device[t->n_devices];
    *c = (struct counted){ .d = d, .first = t->n, .record = arena_take(mem, from->n, sizeof *c->record) };
    c->op = arena_take(mem, from->n, sizeof *c->op);
    if (!c->record || !c->op)
        return false;
    for (size_t i = 0; i < from->n; i++) {
        if (data_type != ALL_TYPES && (int)layout_get(t->layout, SMMU_DATA_TYPE, from->at[i]) != data_type)
            continue;
        c->op[c->n] = op[i];
        c->record[c->n++] = from->at[i];
    }
    if (c->n == 0 || (events && !find_events(c, events, counted)))
        return true;
    t->n += c->n;
    t->n_devices++;
    return true;
}

static struct task_counters *start(const struct export *x, const struct layout *l, unsigned stream, unsigned task,
                                   unsigned first_event)
{
    struct task_counters *t = arena_take(x->mem, 1, sizeof *t);
    if (t)
        *t = (struct task_counters){
            x, l, stream, task, first_event, 0, 0, arena_take(x->mem, x->profile->n_devices + 1, sizeof *t->device)
        };
    return t && t->device ? t : NULL;
}

static bool no_memory(const char *file, struct error *e)
{
    return error_set(e, FAULT_LIMIT, "%s: no memory", file);
}

bool l2_cache_report(const struct export *x, struct table *out, struct error *e)
{
    static const struct column column[] = {
        { "Device_id", NULL }, { "Stream Id", NULL },   { "Task Id", NULL },
        { "Hit Rate", NULL },  { "Victim Rate", NULL }, { "Op Name", NULL },
    };
    struct task_counters *t = start(x, &l2_cache_layout, L2_STREAM, L2_TASK, L2_FIRST);
    for (size_t i = 0; i < x->profile->n_devices && t; i++) {
        const struct device *d = &x->profile->device[i];
        if (!add_device(t, d, &d->pmu.l2, d->pmu.l2_op, ALL_TYPES, &d->source.chip->l2,
                        source_text(d->source.sample, "l2CacheTaskProfilingEvents")))
            return no_memory("l2_cache", e);
    }
    if (!t)
        return no_memory("l2_cache", e);
    const size_t n_columns = sizeof column / sizeof *column - (x->profile->host.ops.n == 0);
    *out = (struct table){ .name = "l2_cache",
                           .column = column,
                           .n_columns = n_columns,
                           .n_rows = t->n,
                           .rows = t,
                           .get = l2_cell,
                           .names = x->profile->names };
    return true;
}

bool soc_pmu_report(const struct export *x, struct table *out, struct error *e)
{
    static const struct column column[] = {
        { "Device_id", NULL },    { "Stream Id", NULL },     { "Task Id", NULL },
        { "TLB Hit Rate", NULL }, { "TLB Miss Rate", NULL }, { "Op Name", NULL },
    };
    static const char unit[] = "SMMU:";
    struct task_counters *t = start(x, &smmu_layout, SMMU_STREAM, SMMU_TASK, SMMU_FIRST);
    for (size_t i = 0; i < x->profile->n_devices && t; i++) {
        const struct device *d = &x->profile->device[i];
        const char *events = strcasestr(source_text(d->source.sample, "npuEvents"), unit);
        if (!add_device(t, d, &d->pmu.smmu, d->pmu.smmu_op, SMMU_DATA_TRANSLATION, &d->source.chip->smmu,
                        events ? events + sizeof unit - 1 : ""))
            return no_memory("soc_pmu", e);
    }
    if (!t)
        return no_memory("soc_pmu", e);
    const size_t n_columns = sizeof column / sizeof *column - (x->profile->host.ops.n == 0);
    *out = (struct table){ .name = "soc_pmu",
                           .column = column,
                           .n_columns = n_columns,
                           .n_rows = t->n,
                           .rows = t,
                           .get = smmu_cell,
                           .names = x->profile->names };
    return true;
}

bool page_fault_report(const struct export *x, struct table *out, struct error *e)
{
    static const struct column column[] = {
        { "Device Id", NULL },      { "Stream Id", NULL }, { "Task Id", NULL },
        { "Page Fault Num", NULL }, { "Op Name", NULL },
    };
    if (x->is_generic) /* the older presentation has none */
        return true;
    struct task_counters *t = start(x, &smmu_layout, SMMU_STREAM, SMMU_TASK, SMMU_FIRST);
    for (size_t i = 0; i < x->profile->n_devices && t; i++) {
        const struct device *d = &x->profile->device[i];
        if (!add_device(t, d, &d->pmu.smmu, d->pmu.smmu_op, SMMU_DATA_FAULTS, NULL, NULL))
            return no_memory("page_fault", e);
    }
    if (!t)
        return no_memory("page_fault", e);
    *out = (struct table){ .name = "page_fault",
                           .column = column,
                           .n_columns = sizeof column / sizeof *column,
                           .n_rows = t->n,
                           .rows = t,
                           .get = fault_cell,
                           .names = x->profile->names };
    return true;
}
