/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/counters/device_counters.h"

#include <string.h>

#include "base/memory/sort.h"
#include "raw/counter.h"

enum { STREAMS = UINT16_MAX + 1, ANY_KIND = 0xFF };

/* Runs of tasks on the device, by time; or tasks as the host launched them, by batch. */
struct counted_tasks_runs {
    size_t n;
    uint64_t *id[2]; /* with and without the kind of task */
    uint32_t *op;
    uint32_t *order[2]; /* by id, then time */
};

/* The records of one kind, in file order. */
struct counted_tasks_counted {
    const struct layout *layout;
    unsigned type, stream, task; /* fields of it */
    size_t n;
    const uint8_t **record;
    uint32_t **op; /* where the result goes */
    struct candidates {
        const uint32_t *at; /* runs, by time */
        uint32_t n, *n_records, *n_seen;
        uint32_t earliest, latest; /* NO_ROW: none fits */
        bool is_settled;
    } * of;
};

static uint64_t counted_tasks_id_of(uint8_t kind, uint64_t stream, uint64_t task)
{
    return stream << 48 | task << 8 | kind;
}

static void runs_add(struct counted_tasks_runs *r, uint8_t kind, uint16_t stream, uint32_t task, uint32_t op)
{
    r->id[0][r->n] = counted_tasks_id_of(kind, stream, task);
    r->id[1][r->n] = counted_tasks_id_of(ANY_KIND, stream, task);
    r->op[r->n++] = op;
}

/* The operator of each row. If a task has contexts, one of them has the operator. */
static void ops_of(const struct tasks *t, uint32_t *op)
{
    uint32_t known = NO_ROW;
    for (size_t i = 0; i < t->n; i++) { /* contexts precede their task in by_id */
        const uint32_t row = t->by_id[i];
        if (i == 0 || t->key[row] != t->key[t->by_id[i - 1]])
            known = NO_ROW;
        known = t->op[row] == NO_ROW ? known : t->op[row];
        op[row] = known;
    }
}

/* Adds the runs from before the collection: there are records of them. */
static bool add_early(struct counted_tasks_runs *r, const struct device_log *log, struct arena *mem)
{
    uint64_t *begin = arena_take(mem, log->n_early, sizeof *begin);
    uint32_t *order = arena_take(mem, log->n_early, sizeof *order);
    if (!begin || !order)
        return false;
    for (size_t i = 0; i < log->n_early; i++)
        begin[i] = log->begin[log->early[i].row];
    order_fill(order, log->n_early);
    if (!order_by_u64(order, log->n_early, begin))
        return false;
    for (size_t i = 0; i < log->n_early; i++) {
        const struct early_task *e = &log->early[order[i]];
        if (log->context[e->row] == NO_CONTEXT)
            runs_add(r, log->type[e->row], log->stream[e->row], log->task[e->row], e->op);
    }
    return true;
}

static bool runs_init(struct counted_tasks_runs *r, size_t most, struct arena *mem)
{
    *r = (struct counted_tasks_runs){ .op = arena_take(mem, most, sizeof *r->op) };
    for (int k = 0; k < 2; k++) {
        r->id[k] = arena_take(mem, most, sizeof *r->id[k]);
        r->order[k] = arena_take(mem, most, sizeof *r->order[k]);
    }
    return !arena_failed(mem);
}

static bool runs_sort(struct counted_tasks_runs *r)
{
    for (int k = 0; k < 2; k++) {
        order_fill(r->order[k], r->n);
        if (!order_by_u64(r->order[k], r->n, r->id[k]))
            return false;
    }
    return true;
}

static bool counted_tasks_gather(struct counted_tasks_runs *r, const struct device *d, struct arena *mem)
{
    const struct tasks *t = &d->tasks;
    uint32_t *op = arena_take(mem, t->n, sizeof *op);
    if (!op || !runs_init(r, t->n + d->log.n_early, mem) || !add_early(r, &d->log, mem))
        return false;
    ops_of(t, op);
    for (size_t i = 0; i < t->n; i++)
        if (t->context[i] == NO_CONTEXT)
            runs_add(r, t->device_type[i], t->stream[i], t->task[i], op[i]);
    return runs_sort(r);
}

/* What the host launched as operators on a device. */
static bool gather_launches(struct counted_tasks_runs *r, const struct profile *p, const struct device *d,
                            struct arena *mem)
{
    const struct host_tasks *t = &p->host.tasks;
    const size_t first = SEARCH_FIRST_NOT(i, 0, t->n, t->device[i] < d->source.device),
                 end = SEARCH_FIRST_NOT(i, first, t->n, t->device[i] <= d->source.device);
    if (!runs_init(r, end - first, mem))
        return false;
    for (size_t i = first; i < end; i++)
        if (t->op[i] != NO_ROW)
            runs_add(r, ANY_KIND, t->stream[i], t->task[i], t->op[i]);
    return runs_sort(r);
}

/* Finds the runs with the id of each record: those of its kind, or all of them if the device did not record kinds. */
static bool find_candidates(struct counted_tasks_counted *c, const struct counted_tasks_runs *r, struct arena *mem)
{
    uint32_t *n_records[2], *n_seen[2];
    for (int k = 0; k < 2; k++) {
        n_records[k] = arena_take(mem, r->n, sizeof *n_records[k]);
        n_seen[k] = arena_take(mem, r->n, sizeof *n_seen[k]);
    }
    c->of = arena_take(mem, c->n, sizeof *c->of);
    if (arena_failed(mem))
        return false;
    for (size_t i = 0; i < c->n; i++) {
        const uint64_t stream = layout_get(c->layout, c->stream, c->record[i]),
                       task = layout_get(c->layout, c->task, c->record[i]);
        const uint8_t kind[2] = { (uint8_t)layout_get(c->layout, c->type, c->record[i]), ANY_KIND };
        for (int k = 0; k < 2 && c->of[i].n == 0; k++) {
            const uint64_t id = counted_tasks_id_of(kind[k], stream, task);
            const size_t first = order_first_u64(r->order[k], r->n, r->id[k], id),
                         end = order_first_u64(r->order[k], r->n, r->id[k], id + 1);
            if (end == first)
                continue;
            c->of[i] = (struct candidates){ .at = &r->order[k][first],
                                            .n = (uint32_t)(end - first),
                                            .n_records = &n_records[k][first],
                                            .n_seen = &n_seen[k][first] };
            ++*c->of[i].n_records;
        }
    }
    return true;
}

/* The first of some ascending numbers that is not below a bound. */
static uint32_t first_from(const uint32_t *at, uint32_t n, uint32_t bound)
{
    return (uint32_t)SEARCH_FIRST_NOT(i, 0, n, at[i] < bound);
}

/* If there are as many records as runs of an id, they are matched in order. For every other record, finds the earliest
 * and the latest run that the order of records on its stream allows. `bound`: for each stream, the run of the previous
 * record. */
static void find_runs(struct counted_tasks_counted *c, uint32_t *bound)
{
    memset(bound, 0, STREAMS * sizeof *bound);
    for (size_t i = 0; i < c->n; i++) {
        struct candidates *of = &c->of[i];
        uint32_t *next = &bound[layout_get(c->layout, c->stream, c->record[i])];
        of->is_settled = of->n > 0 && *of->n_records == of->n;
        const uint32_t at = of->is_settled ? (*of->n_seen)++ : first_from(of->at, of->n, *next);
        of->earliest = at < of->n ? of->at[at] : NO_ROW;
        if (at < of->n)
            *next = of->earliest + 1;
    }
    memset(bound, 0xFF, STREAMS * sizeof *bound);
    for (size_t i = c->n; i-- > 0;) {
        struct candidates *of = &c->of[i];
        uint32_t *end = &bound[layout_get(c->layout, c->stream, c->record[i])];
        const uint32_t n = of->is_settled ? 0 : first_from(of->at, of->n, *end);
        of->latest = of->is_settled ? of->earliest : n > 0 ? of->at[n - 1] : NO_ROW;
        if (of->latest != NO_ROW)
            *end = of->latest;
    }
}

static name_id counted_tasks_name_of(const struct profile *p, const struct counted_tasks_runs *r, uint32_t run)
{
    const uint32_t op = run == NO_ROW ? NO_ROW : r->op[run];
    return op == NO_ROW ? NAME_NA : p->host.ops.name[op];
}

/* Records of tasks that are not in the log get the operator that the host launched last with their id. */
static bool assign_unlogged(struct counted_tasks_counted *c, const struct profile *p, const struct device *d,
                            struct arena *mem)
{
    struct counted_tasks_runs launched = { 0 };
    for (size_t i = 0; i < c->n; i++) {
        if (c->of[i].n > 0)
            continue;
        if (!launched.op && !gather_launches(&launched, p, d, mem))
            return false;
        const uint64_t id = counted_tasks_id_of(ANY_KIND, layout_get(c->layout, c->stream, c->record[i]),
                                                layout_get(c->layout, c->task, c->record[i]));
        const size_t end = order_first_u64(launched.order[1], launched.n, launched.id[1], id + 1);
        if (end > 0 && launched.id[1][launched.order[1][end - 1]] == id)
            *c->op[i] = launched.op[launched.order[1][end - 1]];
    }
    return true;
}

static bool assign(struct counted_tasks_counted *c, const struct profile *p, const struct device *d,
                   const struct counted_tasks_runs *r, struct arena *mem)
{
    uint32_t *bound = arena_take(mem, STREAMS, sizeof *bound);
    if (!bound || !find_candidates(c, r, mem))
        return false;
    find_runs(c, bound);
    for (size_t i = 0; i < c->n; i++) {
        const struct candidates *of = &c->of[i];
        if (of->n == 0)
            continue;
        const bool is_sure = of->earliest != NO_ROW && of->latest != NO_ROW &&
                             counted_tasks_name_of(p, r, of->earliest) == counted_tasks_name_of(p, r, of->latest);
        *c->op[i] = r->op[is_sure ? of->latest : of->at[of->n - 1]];
    }
    return assign_unlogged(c, p, d, mem);
}

/* The records of one data type of address translation, or with ALL_TYPES all. */
enum { ALL_TYPES = -1 };
static bool choose(struct counted_tasks_counted *c, const struct pmu_records *from, int data_type, uint32_t *op,
                   struct arena *mem)
{
    c->n = 0;
    c->record = arena_take(mem, from->n, sizeof *c->record);
    c->op = arena_take(mem, from->n, sizeof *c->op);
    for (size_t i = 0; c->record && c->op && i < from->n; i++) {
        if (data_type != ALL_TYPES && (int)layout_get(c->layout, SMMU_DATA_TYPE, from->at[i]) != data_type)
            continue;
        c->op[c->n] = &op[i];
        c->record[c->n++] = from->at[i];
    }
    return c->record && c->op;
}

static uint32_t *no_ops(struct device *d, size_t n)
{
    uint32_t *op = arena_take(d->source.mem, n, sizeof *op);
    if (op && n > 0)
        memset(op, 0xFF, n * sizeof *op);
    return op;
}

bool counted_tasks_analyse(struct profile *p, struct device *d, struct error *e)
{
    struct pmu *pmu = &d->pmu;
    const struct layout *soc = smmu_layout_of(d->source.chip);
    pmu->l2_op = no_ops(d, pmu->l2.n);
    pmu->smmu_op = no_ops(d, pmu->smmu.n);
    const struct {
        const struct pmu_records *from;
        uint32_t *op;
        struct counted_tasks_counted c;
        int data_type;
    } part[] = {
        { &pmu->l2, pmu->l2_op, { .layout = &l2_cache_layout, L2_TASK_TYPE, L2_STREAM, L2_TASK }, ALL_TYPES },
        { &pmu->smmu, pmu->smmu_op, { .layout = soc, SMMU_TASK_TYPE, SMMU_STREAM, SMMU_TASK }, SMMU_DATA_L2 },
        { &pmu->smmu, pmu->smmu_op, { .layout = soc, SMMU_TASK_TYPE, SMMU_STREAM, SMMU_TASK }, SMMU_DATA_TRANSLATION },
        { &pmu->smmu, pmu->smmu_op, { .layout = soc, SMMU_TASK_TYPE, SMMU_STREAM, SMMU_TASK }, SMMU_DATA_FAULTS },
    };
    if (pmu->l2.n + pmu->smmu.n == 0)
        return true;
    struct arena *mem = arena_new();
    struct counted_tasks_runs runs;
    bool done = mem && pmu->l2_op && pmu->smmu_op && counted_tasks_gather(&runs, d, mem);
    for (size_t i = 0; i < sizeof part / sizeof *part && done; i++) {
        struct counted_tasks_counted c = part[i].c;
        done = choose(&c, part[i].from, part[i].data_type, part[i].op, mem) && assign(&c, p, d, &runs, mem);
    }
    arena_free(mem);
    return done || error_no_memory(e, d->source.path);
}
