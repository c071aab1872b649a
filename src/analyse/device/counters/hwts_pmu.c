/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/counters/device_counters.h"

#include "base/memory/sort.h"
#include "raw/hwts.h"

static uint32_t hwts_pmu_id_of(uint32_t stream, uint32_t task)
{
    enum { STREAMS = 2048 };
    return stream % STREAMS << 16 | task;
}

/* The records of one kind of core, by id; records of one id are in file order. */
struct queue {
    size_t n, next;
    uint32_t *row, *id;
};

static bool queue_fill(struct queue *q, const struct pmu_records *r, struct arena *mem)
{
    const struct layout *l = &hwts_pmu_layout;
    *q = (struct queue){ r->n, 0, arena_take(mem, r->n, sizeof *q->row), arena_take(mem, r->n, sizeof *q->id) };
    if (arena_failed(mem))
        return false;
    for (size_t i = 0; i < r->n; i++)
        q->id[i] = hwts_pmu_id_of((uint32_t)layout_get(l, HWTS_PMU_STREAM, r->at[i]),
                                  (uint32_t)layout_get(l, HWTS_PMU_TASK, r->at[i]));
    order_fill(q->row, r->n);
    return order_by_u32(q->row, r->n, q->id);
}

/* The next record of an id, or NO_ROW. Called with ascending ids. */
static uint32_t queue_take(struct queue *q, uint32_t id)
{
    while (q->next < q->n && q->id[q->row[q->next]] < id)
        q->next++;
    const bool has_one = q->next < q->n && q->id[q->row[q->next]] == id;
    return has_one ? q->row[q->next++] : NO_ROW;
}

/* Kernels that have a record, by (id, begin), including those from before the collection. */
struct consumers {
    size_t n;
    uint32_t *order, *id, *op;
    uint32_t *task; /* row of tasks; NO_ROW: it is not shown */
};

/* Task types of operators that do not run on these cores and therefore have no record. */
struct elsewhere {
    name_id type[6];
};

static bool runs_on_core(const struct ops *ops, uint32_t op, const struct elsewhere *e)
{
    for (size_t i = 0; op != NO_ROW && i < sizeof e->type / sizeof *e->type; i++)
        if (ops->task_type[op] == e->type[i])
            return false;
    return op != NO_ROW;
}

static void consumers_add(struct consumers *c, uint32_t id, uint32_t op, uint32_t task)
{
    c->id[c->n] = id;
    c->op[c->n] = op;
    c->task[c->n++] = task;
}

static bool hwts_pmu_gather(const struct profile *p, const struct device *d, struct arena *mem, struct consumers *c)
{
    static const char *const elsewhere[] = { "AI_CPU", "DSA_SQE", "DVPP", "HCCL_AI_CPU", "WRITE_BACK", "INVALID" };
    const struct ops *ops = &p->host.ops;
    const struct device_log *log = &d->log;
    const struct tasks *t = &d->tasks;
    const size_t most = t->n + log->n_early;
    uint64_t *begin = arena_take(mem, log->n_early, sizeof *begin);
    uint32_t *early = arena_take(mem, log->n_early, sizeof *early);
    *c = (struct consumers){ .order = arena_take(mem, most, sizeof *c->order),
                             .id = arena_take(mem, most, sizeof *c->id),
                             .op = arena_take(mem, most, sizeof *c->op),
                             .task = arena_take(mem, most, sizeof *c->task) };
    if (arena_failed(mem))
        return false;
    struct elsewhere e;
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        e.type[i] = names_addz(p->names, elsewhere[i]);
    for (size_t i = 0; i < log->n_early; i++)
        begin[i] = log->begin[log->early[i].row];
    order_fill(early, log->n_early);
    if (!order_by_u64(early, log->n_early, begin))
        return false;
    for (size_t i = 0; i < log->n_early; i++) {
        const struct early_task *of = &log->early[early[i]];
        if (runs_on_core(ops, of->op, &e))
            consumers_add(c, hwts_pmu_id_of(log->stream[of->row], log->task[of->row]), of->op, NO_ROW);
    }
    for (size_t i = 0; i < t->n; i++)
        if (runs_on_core(ops, t->op[i], &e))
            consumers_add(c, hwts_pmu_id_of(t->stream[i], t->task[i]), t->op[i], (uint32_t)i);
    order_fill(c->order, c->n);
    return order_by_u32(c->order, c->n, c->id);
}

/* The record of a task: its row, and the kind of core. */
struct taken {
    uint32_t row;
    uint8_t core;
};

static size_t hand_out(const struct profile *p, const struct consumers *c, struct queue *queue, struct taken *of_task)
{
    const name_id vector = names_addz(p->names, "AI_VECTOR_CORE");
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const uint32_t at = c->order[i];
        enum core core = p->host.ops.task_type[c->op[at]] == vector && queue[CORE_AIV].n > 0 ? CORE_AIV : CORE_AIC;
        uint32_t row = queue_take(&queue[core], c->id[at]);
        if (row == NO_ROW) {
            core = core == CORE_AIC ? CORE_AIV : CORE_AIC;
            row = queue_take(&queue[core], c->id[at]);
        }
        if (row == NO_ROW)
            continue;
        n++;
        if (c->task[at] != NO_ROW)
            of_task[c->task[at]] = (struct taken){ row, (uint8_t)core };
    }
    return n;
}

bool hwts_pmu_match(struct profile *p, struct device *d, struct arena *mem)
{
    const struct layout *l = &hwts_pmu_layout;
    struct pmu *pmu = &d->pmu;
    struct queue queue[CORES];
    struct consumers c;
    struct taken *of_task = arena_take(mem, d->tasks.n, sizeof *of_task);
    if (!of_task || !queue_fill(&queue[CORE_AIC], &pmu->of_cores[CORE_AIC], mem) ||
        !queue_fill(&queue[CORE_AIV], &pmu->of_cores[CORE_AIV], mem) || !hwts_pmu_gather(p, d, mem, &c))
        return false;
    for (size_t i = 0; i < d->tasks.n; i++)
        of_task[i].row = NO_ROW;
    const size_t n = hand_out(p, &c, queue, of_task);
    losses_add(&d->source.lost, LOSS_UNMATCHED, queue[CORE_AIC].n + queue[CORE_AIV].n - n, "aicore.data", 0);
    if (!pmu_rows_take(d, n))
        return false;
    for (size_t task = 0; task < d->tasks.n; task++) {
        if (of_task[task].row == NO_ROW)
            continue;
        const uint8_t *record = pmu->of_cores[of_task[task].core].at[of_task[task].row];
        const size_t row = pmu_row_add(p, d, task);
        pmu->cycles[row] = layout_get(l, HWTS_PMU_CYCLES, record);
        pmu->counters[row] = record + HWTS_PMU_FIRST;
        pmu->kind[row] = of_task[task].core == CORE_AIC ? PMU_AIC : PMU_AIV;
    }
    return true;
}
