/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/counters/device_counters.h"

#include "base/memory/sort.h"
#include "raw/device_records.h"

static const struct layout *const form = &pmu_ten_task_layout; /* that of blocks has the same fields */

/* The records of tasks or of blocks, by the id of their task, then by a time. */
struct ten_records {
    size_t n;
    const uint8_t *const *record;
    uint32_t *id, *order;
    uint64_t *begin, *end;
};

static bool ten_records_take(struct ten_records *r, const struct pmu_records *from, struct arena *mem)
{
    *r = (struct ten_records){ .n = from->n,
                               .record = from->at,
                               .id = arena_take(mem, from->n, sizeof *r->id),
                               .order = arena_take(mem, from->n, sizeof *r->order),
                               .begin = arena_take(mem, from->n, sizeof *r->begin),
                               .end = arena_take(mem, from->n, sizeof *r->end) };
    if (arena_failed(mem))
        return false;
    for (size_t i = 0; i < r->n; i++) {
        r->id[i] = (uint32_t)layout_get(form, PMU_TEN_ID, r->record[i]);
        r->begin[i] = layout_get(form, PMU_TEN_BEGIN, r->record[i]);
        r->end[i] = layout_get(form, PMU_TEN_END, r->record[i]);
    }
    order_fill(r->order, r->n);
    return true;
}

/* Rows of tasks by (id, begin): they are in the order of their begins already. NULL: no memory. */
static uint32_t *tasks_by_id(const struct tasks *t, struct arena *mem)
{
    uint32_t *order = arena_take(mem, t->n, sizeof *order);
    if (!order)
        return NULL;
    order_fill(order, t->n);
    return order_by_u32(order, t->n, t->task) ? order : NULL;
}

static bool has_bit(const uint8_t *record, unsigned bit)
{
    return layout_get(form, PMU_TEN_BITS, record) & bit;
}

/* The records of one task in the order of the file: each master of a mixed operator gets the next record that is no
 * master. Returns the number of masters; they replace the records in `order`. */
static size_t find_partners(const struct ten_records *r, uint32_t *order, size_t n, const uint8_t **partner,
                            size_t *n_used)
{
    size_t n_masters = 0, next = 0;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *record = r->record[order[i]];
        if (!has_bit(record, PMU_TEN_IS_MASTER) || !has_bit(record, PMU_TEN_IS_MIX))
            continue;
        while (next < n && has_bit(r->record[order[next]], PMU_TEN_IS_MASTER))
            next++;
        if (next == n)
            break;
        partner[order[i]] = r->record[order[next++]];
        ++*n_used;
    }
    for (size_t i = 0; i < n; i++)
        if (has_bit(r->record[order[i]], PMU_TEN_IS_MASTER))
            order[n_masters++] = order[i];
    return n_masters;
}

/* Masters by (id, end), and the partners of those that have one. */
static bool sort_masters(struct ten_records *r, const uint8_t **partner, size_t *n_used)
{
    size_t n = 0;
    if (!order_by_u32(r->order, r->n, r->id))
        return false;
    for (size_t i = 0, end; i < r->n; i = end) {
        for (end = i + 1; end < r->n && r->id[r->order[end]] == r->id[r->order[i]];)
            end++;
        const size_t n_masters = find_partners(r, r->order + i, end - i, partner, n_used);
        for (size_t k = 0; k < n_masters; k++)
            r->order[n++] = r->order[i + k];
    }
    r->n = n;
    return order_by_u64(r->order, n, r->end) && order_by_u32(r->order, n, r->id);
}

/* -1: the record comes before the run of the task, 1: after it, 0: it ended meanwhile. */
static int side_of(const struct ten_records *r, uint32_t record, const struct tasks *t, uint32_t task)
{
    if (r->id[record] != t->task[task])
        return r->id[record] < t->task[task] ? -1 : 1;
    return r->end[record] < t->begin_tick[task] ? -1 : r->end[record] > t->end_tick[task];
}

bool pmu_ten_match(struct profile *p, struct device *d, struct arena *mem)
{
    struct pmu *pmu = &d->pmu;
    const struct tasks *t = &d->tasks;
    const struct ticks tick = d->source.device_clock.tick;
    struct ten_records r;
    const uint8_t **partner = arena_take(mem, pmu->of_tasks.n, sizeof *partner);
    uint32_t *record_of = arena_take(mem, t->n, sizeof *record_of), *by_id = tasks_by_id(t, mem);
    size_t n_used = 0, n = 0;
    if (!by_id || !ten_records_take(&r, &pmu->of_tasks, mem) || !sort_masters(&r, partner, &n_used))
        return false;
    for (size_t i = 0; i < t->n; i++)
        record_of[i] = NO_ROW;
    for (size_t i = 0, k = 0; i < r.n && k < t->n;) {
        const int side = side_of(&r, r.order[i], t, by_id[k]);
        if (side == 0) {
            record_of[by_id[k]] = r.order[i];
            n++;
        }
        i += side <= 0;
        k += side >= 0;
    }
    losses_add(&d->source.lost, LOSS_UNMATCHED, pmu->of_tasks.n - n_used - n, "ffts_profile.data", 0);
    pmu->counts_ten = true;
    pmu->tick_hz = 1e9 * (double)tick.den / (double)tick.num;
    pmu->partner = arena_take(d->source.mem, n, sizeof *pmu->partner);
    if (!pmu->partner || !pmu_rows_take(d, n))
        return false;
    for (size_t task = 0; task < t->n; task++) {
        if (record_of[task] == NO_ROW)
            continue;
        const uint8_t *record = r.record[record_of[task]];
        const bool is_vector = layout_get(form, PMU_TEN_KIND, record) & PMU_TEN_IS_VECTOR;
        const size_t row = pmu_row_add(p, d, task);
        pmu->cycles[row] = layout_get(form, PMU_TEN_CYCLES, record);
        pmu->counters[row] = record + PMU_TEN_FIRST;
        pmu->kind[row] = is_vector ? PMU_AIV : PMU_AIC;
        pmu->partner[row] = partner[record_of[task]];
    }
    return true;
}

/* Takes a block for its task if it began before the first or after the last one of its kind of core. */
static void spread_add(const uint8_t *ends[BLOCK_ENDS], const uint8_t *block)
{
    const bool is_vector = layout_get(form, PMU_TEN_KIND, block) & PMU_TEN_IS_VECTOR;
    const uint8_t **first = &ends[is_vector ? BLOCK_AIV_FIRST : BLOCK_AIC_FIRST], **last = first + 1;
    if (!*first) /* blocks come in the order of their begins */
        *first = block;
    *last = block;
}

static bool spreads_fill(struct device *d, struct ten_records *r, const uint32_t *by_id)
{
    const struct tasks *t = &d->tasks;
    struct block_spreads *out = &d->pmu.spreads;
    out->task = arena_take(d->source.mem, t->n, sizeof *out->task);
    out->block = arena_take(d->source.mem, t->n, sizeof *out->block);
    if (!out->task || !out->block)
        return false;
    size_t n_used = 0;
    for (size_t i = 0, k = 0; i < r->n && k < t->n;) {
        const uint32_t task = by_id[k], block = r->order[i];
        if (r->id[block] != t->task[task] ? r->id[block] < t->task[task] : r->end[block] < t->begin_tick[task]) {
            i++;
        } else if (r->id[block] != t->task[task] || r->begin[block] > t->end_tick[task]) {
            k++;
        } else {
            if (out->n == 0 || out->task[out->n - 1] != task)
                out->task[out->n++] = task;
            spread_add(out->block[out->n - 1], r->record[block]);
            n_used++;
            i++;
        }
    }
    losses_add(&d->source.lost, LOSS_UNMATCHED, r->n - n_used, "ffts_profile.data", 0);
    return true;
}

bool block_spreads_analyse(struct profile *p, struct device *d, struct error *e)
{
    (void)p;
    if (!d->source.chip->counts_ten || d->pmu.of_blocks.n == 0)
        return true;
    struct arena *mem = arena_new();
    struct ten_records r;
    uint32_t *by_id = mem ? tasks_by_id(&d->tasks, mem) : NULL;
    const bool done = by_id && ten_records_take(&r, &d->pmu.of_blocks, mem) && order_by_u64(r.order, r.n, r.begin) &&
                      order_by_u32(r.order, r.n, r.id) && spreads_fill(d, &r, by_id);
    arena_free(mem);
    return done || error_no_memory(e, d->source.path);
}
