/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/counters/device_counters.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/device/tasks/device_tasks.h"
#include "base/files/bytes.h"
#include "base/memory/columns.h"
#include "base/memory/sort.h"
#include "raw/device_records.h"
#include "raw/enums.h"
#include "raw/sampler.h"

enum { FFTS_PLUS = 4, SUB_AIC = 0, SUB_MIX_AIC = 6, SUB_MIX_AIV = 7 };
enum { TASK_FFTS_SHIFT = 13, BLOCK_CORE_MASK = 1 }; /* of PMU_FFTS_BITS: the type of both, the core of a block */

/* All records before they are joined with tasks: those of tasks, then those of blocks. */
struct cores_records {
    size_t n, n_tasks;
    const uint8_t **record;
    uint16_t *stream, *batch;
    uint32_t *task, *context;
    uint64_t *end, *key;
    uint32_t *order;
    const uint64_t *task_key; /* of the tasks */
    const uint32_t *by_id;    /* the tasks by (task_key, context, begin) */
};

static uint16_t bits_of(const uint8_t *record)
{
    return (uint16_t)layout_get(&pmu_task_layout, PMU_FFTS_BITS, record);
}

static enum pmu_kind pmu_join_kind_of(const uint8_t *record)
{
    const unsigned ffts = bits_of(record) >> TASK_FFTS_SHIFT;
    const unsigned sub = (unsigned)layout_get(&pmu_task_layout, PMU_SUB_TYPE, record);
    if (ffts == FFTS_PLUS && sub == SUB_MIX_AIC)
        return PMU_MIX_AIC;
    if (ffts == FFTS_PLUS && sub == SUB_MIX_AIV)
        return PMU_MIX_AIV;
    return ffts == 0 || (ffts == FFTS_PLUS && sub == SUB_AIC) ? PMU_AIC : PMU_AIV;
}

static bool pmu_join_gather(struct cores_records *r, const struct profile *p, struct pmu *pmu, struct arena *mem)
{
    r->n_tasks = pmu->of_tasks.n;
    r->n = pmu->of_tasks.n + pmu->of_blocks.n;
    arena_columns(mem, r->n, r->record, r->stream, r->batch, r->task, r->context, r->end, r->key, r->order);
    if (arena_failed(mem))
        return false;
    for (size_t i = 0; i < r->n; i++) {
        const uint8_t *rec = i < r->n_tasks ? pmu->of_tasks.at[i] : pmu->of_blocks.at[i - r->n_tasks];
        const struct stream_task id = stream_task_unpack((uint16_t)layout_get(&pmu_task_layout, PMU_STREAM, rec),
                                                         (uint16_t)layout_get(&pmu_task_layout, PMU_TASK, rec),
                                                         SQE_AI_CORE, p->host.records.streams_expanded);
        const bool is_part = bits_of(rec) >> TASK_FFTS_SHIFT == FFTS_PLUS;
        r->record[i] = rec;
        r->stream[i] = id.stream;
        r->task[i] = id.task;
        r->context[i] = is_part ? (uint32_t)layout_get(&pmu_task_layout, PMU_CONTEXT, rec) : NO_CONTEXT;
        r->end[i] = layout_get(&pmu_task_layout, PMU_END, rec);
    }
    arena_drop(mem, pmu->of_tasks.at), pmu->of_tasks.at = NULL;
    arena_drop(mem, pmu->of_blocks.at), pmu->of_blocks.at = NULL;
    return true;
}

/* Batches are numbered over both kinds of records together, by their ends. Without unique ids there are no batches, and
 * only times distinguish the uses of an id. */
static bool number_batches(struct cores_records *r, const struct profile *p, struct device *d)
{
    order_fill(r->order, r->n);
    if (!order_by_u64(r->order, r->n, r->end) || !order_by_u16(r->order, r->n, r->stream))
        return false;
    if (p->has_unique_ids)
        device_batches(d, r->order, r->n, r->stream, r->end, r->task, r->batch);
    for (size_t i = 0; i < r->n; i++)
        r->key[i] = task_key(r->stream[i], r->batch[i], r->task[i]);
    arena_drop(d->source.mem, r->stream);
    arena_drop(d->source.mem, r->batch);
    arena_drop(d->source.mem, r->task);
    return true;
}

static bool order_by_id(uint32_t *order, size_t n, const uint64_t *key, const uint32_t *context)
{
    return order_by_u32(order, n, context) && order_by_u64(order, n, key);
}

/* Tasks by the same keys as the records. */
static bool index_tasks(struct cores_records *r, const struct profile *p, const struct tasks *t, struct arena *mem)
{
    r->task_key = t->key;
    r->by_id = t->by_id;
    if (p->has_unique_ids)
        return true;
    uint64_t *key = arena_take(mem, t->n, sizeof *key);
    uint32_t *order = arena_take(mem, t->n, sizeof *order);
    if (!key || !order)
        return false;
    for (size_t i = 0; i < t->n; i++)
        key[i] = task_key(t->stream[i], 0, t->task[i]);
    order_fill(order, t->n);
    r->task_key = key;
    r->by_id = order;
    return order_by_id(order, t->n, key, t->context);
}

static bool sort_records(struct cores_records *r)
{
    uint32_t *blocks = r->order + r->n_tasks;
    const size_t n_blocks = r->n - r->n_tasks;
    order_fill(r->order, r->n);
    return order_by_u64(r->order, r->n_tasks, r->end) && order_by_id(r->order, r->n_tasks, r->key, r->context) &&
           order_by_u64(blocks, n_blocks, r->end) && order_by_id(blocks, n_blocks, r->key, r->context);
}

/* By id, then by time: -1 when the record comes before the task, 1 when after, 0 when it ended while the task ran. */
static int pmu_join_compare(const struct cores_records *r, uint32_t record, const struct tasks *tasks, uint32_t task)
{
    if (r->key[record] != r->task_key[task])
        return r->key[record] < r->task_key[task] ? -1 : 1;
    if (r->context[record] != tasks->context[task])
        return r->context[record] < tasks->context[task] ? -1 : 1;
    return r->end[record] < tasks->begin_tick[task] ? -1 : r->end[record] > tasks->end_tick[task];
}

/* record_of[task]: the record of the whole task. Both lists are sorted, so that one pass is enough. */
static size_t match_tasks(const struct cores_records *r, const struct tasks *tasks, uint32_t *record_of)
{
    size_t n = 0;
    for (size_t i = 0, k = 0; i < r->n_tasks && k < tasks->n;) {
        const uint32_t record = r->order[i], task = r->by_id[k];
        const int side = pmu_join_compare(r, record, tasks, task);
        if (side == 0) {
            record_of[task] = record;
            n++;
        }
        i += side <= 0;
        k += side >= 0;
    }
    return n;
}

static bool is_mix(enum pmu_kind kind)
{
    return kind == PMU_MIX_AIC || kind == PMU_MIX_AIV;
}

/* Only mix kernels run on cores of both kinds: the blocks of any other kernel are those of its main cores. */
static bool is_of_other_core(const uint8_t *block, enum pmu_kind kind)
{
    const bool is_vector = bits_of(block) & BLOCK_CORE_MASK;
    return is_mix(kind) && pmu_join_kind_of(block) == kind && is_vector == (kind == PMU_MIX_AIC);
}

static void add_block(uint64_t *sum, const uint8_t *block)
{
    sum[0] += layout_get(&pmu_block_layout, PMU_CYCLES, block);
    for (size_t i = 0; i < METRIC_COUNTERS; i++)
        sum[1 + i] += le64(block + PMU_FIRST + sizeof(uint64_t) * i);
}

/* Adds up what the other cores of mix kernels counted, as many blocks as the operator has for them. */
static void sum_blocks(struct pmu *pmu, const struct cores_records *r, const struct tasks *tasks)
{
    size_t n_sums = 0, k = 0, n_blocks = 0; /* n_blocks: of task k so far */
    for (size_t i = r->n_tasks; i < r->n && k < tasks->n;) {
        const uint32_t record = r->order[i], task = r->by_id[k], row = tasks->pmu[task];
        const int side = pmu_join_compare(r, record, tasks, task);
        i += side <= 0;
        if (side > 0) {
            k++;
            n_blocks = 0;
        }
        if (side != 0 || row == NO_ROW || !is_of_other_core(r->record[record], pmu->kind[row]))
            continue;
        if (pmu->other[row] == NO_ROW && pmu->mix_blocks[row] > 0)
            pmu->other[row] = (uint32_t)n_sums++;
        if (n_blocks++ < pmu->mix_blocks[row])
            add_block(pmu->sums[pmu->other[row]], r->record[record]);
    }
}

/* A frequency of zero is a measuring error: then none of the changes is used. */
static bool are_usable(const struct samples *changes)
{
    for (size_t i = 0; i < changes->n; i++)
        if (samples_uint(changes, LPM_ENTRY_VALUE, i) == 0)
            return false;
    return changes->n > 0;
}

/* MHz of the cores at that moment: of the last change before it, or 0. */
static uint32_t mhz_at(const struct samples *changes, uint64_t tick)
{
    const size_t later = SEARCH_FIRST_NOT(i, 0, changes->n, samples_uint(changes, LPM_ENTRY_TIME, i) <= tick);
    return later > 0 ? (uint32_t)samples_uint(changes, LPM_ENTRY_VALUE, later - 1) : 0;
}

bool pmu_rows_take(struct device *d, size_t n)
{
    struct pmu *pmu = &d->pmu;
    struct arena *mem = d->source.mem;
    arena_columns(mem, n, pmu->task, pmu->cycles, pmu->counters, pmu->kind, pmu->mhz, pmu->blocks, pmu->mix_blocks,
                  pmu->other);
    return !arena_failed(mem);
}

size_t pmu_row_add(struct profile *p, struct device *d, size_t task)
{
    struct pmu *pmu = &d->pmu;
    const struct ops *ops = &p->host.ops;
    const uint32_t op = d->tasks.op[task];
    const size_t row = pmu->n++;
    d->tasks.pmu[task] = (uint32_t)row;
    pmu->task[row] = (uint32_t)task;
    pmu->blocks[row] = op == NO_ROW ? 0 : (uint16_t)ops->blocks[op];
    pmu->mix_blocks[row] = op == NO_ROW ? 0 : (uint16_t)ops->mix_blocks[op];
    pmu->other[row] = NO_ROW;
    return row;
}

static bool fill_rows(struct profile *p, struct device *d, const struct cores_records *r, const uint32_t *record_of,
                      size_t n)
{
    struct pmu *pmu = &d->pmu;
    if (!pmu_rows_take(d, n))
        return false;
    const struct samples *changes = &d->counters.raw[SAMPLER_FREQ];
    const bool has_changes = are_usable(changes);
    size_t n_mix = 0;
    for (size_t task = 0; task < d->tasks.n; task++) {
        if (record_of[task] == NO_ROW)
            continue;
        const uint8_t *record = r->record[record_of[task]];
        const size_t row = pmu_row_add(p, d, task);
        pmu->cycles[row] = layout_get(&pmu_task_layout, PMU_CYCLES, record);
        pmu->counters[row] = record + PMU_FIRST;
        pmu->kind[row] = pmu->has_one_core ? PMU_AIC : (uint8_t)pmu_join_kind_of(record);
        pmu->mhz[row] = has_changes ? mhz_at(changes, r->end[record_of[task]]) : 0;
        n_mix += is_mix(pmu->kind[row]);
    }
    pmu->sums = arena_take(d->source.mem, n_mix, sizeof *pmu->sums);
    return pmu->sums != NULL;
}

static bool associate(struct profile *p, struct device *d, struct arena *mem)
{
    struct cores_records *r = d->pmu.waiting;
    uint32_t *record_of = arena_take(mem, d->tasks.n, sizeof *record_of);
    if (!record_of || !index_tasks(r, p, &d->tasks, mem))
        return false;
    for (size_t i = 0; i < d->tasks.n; i++)
        record_of[i] = NO_ROW;
    const size_t n = match_tasks(r, &d->tasks, record_of);
    losses_add(&d->source.lost, LOSS_UNMATCHED, r->n_tasks - n, "ffts_profile.data", 0);
    if (!fill_rows(p, d, r, record_of, n))
        return false;
    sum_blocks(&d->pmu, r, &d->tasks);
    void *const done[] = { r->record, r->context, r->end, r->key, r->order };
    for (size_t i = 0; i < sizeof done / sizeof *done; i++)
        arena_drop(d->source.mem, done[i]);
    d->pmu.waiting = NULL;
    return true;
}

bool pmu_prepare(struct profile *p, struct device *d, struct error *e)
{
    struct pmu *pmu = &d->pmu;
    if (pmu->of_tasks.n == 0 || d->source.chip->counts_ten)
        return true;
    struct cores_records *r = pmu->waiting = arena_take(d->source.mem, 1, sizeof *r);
    return (r && pmu_join_gather(r, p, pmu, d->source.mem) && number_batches(r, p, d) && sort_records(r)) ||
           error_no_memory(e, d->source.path);
}

static bool choose_columns(struct device *d)
{
    const struct source *s = &d->source;
    struct pmu *pmu = &d->pmu;
    pmu->n_cores[CORE_AIC] = s->ai_core_num;
    pmu->n_cores[CORE_AIV] = s->aiv_num;
    pmu->nominal_mhz = s->aic_mhz; /* of both kinds of cores: the reference knows no other */
    pmu->has_one_core = s->chip->has_one_core;
    const char *const *group = s->settings.metrics, *const *events = s->settings.events;
    metric_columns_add(&pmu->columns, s->chip, CORE_AIC, group[CORE_AIC], events[CORE_AIC], s->mem);
    if (!pmu->has_one_core)
        metric_columns_add(&pmu->columns, s->chip, CORE_AIV, group[CORE_AIV], events[CORE_AIV], s->mem);
    return pmu->columns.n > 0; /* else the events are unknown */
}

bool pmu_analyse(struct profile *p, struct device *d, struct error *e)
{
    struct pmu *pmu = &d->pmu;
    for (size_t i = 0; i < d->tasks.n; i++)
        d->tasks.pmu[i] = NO_ROW;
    const size_t n = pmu->of_tasks.n + pmu->of_cores[CORE_AIC].n + pmu->of_cores[CORE_AIV].n;
    if (n == 0 || d->tasks.n == 0 || !choose_columns(d))
        return true;
    struct arena *mem = arena_new(); /* as large as the tables; given back at once */
    const struct chip *chip = d->source.chip;
    const bool done = mem && (chip->counts_ten                  ? pmu_ten_match(p, d, mem)
                              : chip->task_log == TASK_LOG_HWTS ? hwts_pmu_match(p, d, mem)
                                                                : associate(p, d, mem));
    arena_free(mem);
    return done || error_no_memory(e, d->source.path);
}
