/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/device/sim_device.h"

#include <string.h>

#include "raw/counter.h"
#include "raw/device_records.h"
#include "raw/sampler.h"

/* Fills eight counters, of which the first n are used: each has counted in a part of the cycles. */
static void events_make(struct dice *d, uint64_t cycles, unsigned n, uint64_t *event)
{
    for (unsigned i = 0; i < PMU_COUNTERS; i++)
        event[i] = i < n ? cycles * dice_below(d, 620) / 1000 : 0;
    event[7] = event[6] * dice_below(d, 80) / 1000; /* the last pair are the requests to a cache and its misses */
}

/* The cycles of all cores of a task, which are busy for most of its time. */
static uint64_t cycles_of(struct sim_device *d, const struct device_task *t, uint32_t cores)
{
    const struct sim_process *p = d->of;
    const uint64_t per_core = (t->end - t->begin) * p->chip->core_mhz / p->o->counter_mhz;
    return per_core * cores * dice_between(&d->counters, 780, 985) / 1000 + 1;
}

static void task_events_make(struct sim_device *d, uint64_t cycles, bool is_cube, uint64_t *event)
{
    const struct core_events *m = d->of->metrics;
    events_make(&d->counters, cycles, events_count(is_cube ? m->cube_events : m->vector_events), event);
}

static uint8_t *pmu_put(struct sim_device *d, const struct layout *l, uint16_t stream, const struct device_task *t,
                        uint32_t bits, uint64_t cycles, bool is_cube)
{
    struct counted c = { stream, t->id, (enum task_kind)t->kind, is_cube, bits, t->begin, t->end, cycles, { 0 } };
    uint8_t *rec = slices_take(&d->out[DEVICE_PMU], l->size);
    task_events_make(d, cycles, is_cube, c.event);
    record_counted(rec, l, d->n_pmu++, &c);
    return rec;
}

/* A mixed operator has one record for its context, with the counters of its own kind of core, and one for each block on
 * the other kind. */
static void mix_write(struct sim_device *d, uint16_t stream, const struct device_task *t)
{
    const struct chip *chip = d->of->chip;
    const bool is_cube = sim_kind_is_of_cubes((enum task_kind)t->kind);
    const uint32_t other_cores = is_cube ? chip->n_vector : chip->n_cube;
    uint32_t others = (uint32_t)t->blocks * sim_task_kinds[t->kind].other_ratio;
    if (others > other_cores)
        others = other_cores;
    for (uint32_t i = 0; i < others; i++) {
        const uint32_t core = i << 1 | is_cube; /* bit 0: a vector core */
        const uint16_t block = (uint16_t)i;
        uint8_t *rec = pmu_put(d, &pmu_block_layout, stream, t, BITS_MIX | core, cycles_of(d, t, 1), !is_cube);
        memcpy(rec + PMU_BLOCK_ID, &block, sizeof block);
    }
    pmu_put(d, &pmu_task_layout, stream, t, BITS_MIX, cycles_of(d, t, t->blocks), is_cube);
}

/* A record of chips that count ten events. */
static void ten_put(struct sim_device *d, const struct layout *l, uint32_t id, uint64_t cycles, uint32_t bits,
                    bool is_vector, uint32_t core, struct sim_span when)
{
    const struct core_events *m = d->of->metrics;
    const unsigned n = events_count(is_vector ? m->vector_events : m->cube_events);
    uint64_t event[PMU_TEN_COUNTERS] = { 0 };
    for (unsigned i = 0; i < PMU_TEN_COUNTERS && i < n; i++)
        event[i] = cycles * dice_below(&d->counters, 620) / 1000;
    event[7] = event[6] * dice_below(&d->counters, 80) / 1000; /* misses of a cache, after the requests to it */
    uint8_t *rec = slices_record(&d->out[DEVICE_PMU], l);
    layout_put(l, PMU_TEN_HEAD, rec, layout_get(l, PMU_TEN_HEAD, rec) | (d->n_pmu++ & 15) << 6);
    record_fill(l, rec, { PMU_TEN_ID, id }, { PMU_TEN_CYCLES, cycles }, { PMU_TEN_BITS, bits },
                { PMU_TEN_KIND, is_vector ? PMU_TEN_IS_VECTOR : 0 }, { PMU_TEN_CORE, core },
                { PMU_TEN_BEGIN, when.begin }, { PMU_TEN_END, when.end });
    memcpy(rec + PMU_TEN_FIRST, event, sizeof event);
}

/* The first and the last block of a task, then the task, for each kind of core that it runs on. */
static void ten_write(struct sim_device *d, uint32_t id, const struct device_task *t)
{
    const bool is_mix = sim_task_kinds[t->kind].context != 0;
    const uint64_t quarter = (t->end - t->begin) / 4;
    if (d->of->o->level0 || d->of->o->sample_based || !d->of->o->samplers)
        return;
    for (unsigned part = 0; part < (is_mix ? 2u : 1u); part++) {
        const bool is_vector = (part == 0) != sim_kind_is_of_cubes((enum task_kind)t->kind);
        const uint32_t first = is_vector ? d->of->chip->last_cube_core + 1u : 0,
                       bits = (part == 0 ? PMU_TEN_IS_MASTER : 0u) | (is_mix ? PMU_TEN_IS_MIX : 0u);
        const uint64_t cycles = cycles_of(d, t, t->blocks ? t->blocks : 1);
        ten_put(d, &pmu_ten_block_layout, id, cycles / 2, bits, is_vector, first,
                (struct sim_span){ t->begin, t->end - quarter });
        ten_put(d, &pmu_ten_block_layout, id, cycles / 2, bits, is_vector, first + 1,
                (struct sim_span){ t->begin + quarter, t->end });
        ten_put(d, &pmu_ten_task_layout, id, cycles, bits, is_vector, first, (struct sim_span){ t->begin, t->end });
    }
}

static void pmu_write(struct sim_device *d, uint16_t stream, const struct device_task *t)
{
    if (d->of->o->level0 || d->of->o->sample_based)
        return;
    if (sim_task_kinds[t->kind].context != 0) {
        mix_write(d, stream, t);
        return;
    }
    const bool is_cube = sim_kind_is_of_cubes((enum task_kind)t->kind);
    const uint32_t cores = is_cube ? d->of->chip->n_cube : d->of->chip->n_vector;
    const uint32_t bits = is_cube ? 0 : BITS_VECTOR;
    const uint64_t cycles = cycles_of(d, t, t->blocks < cores ? t->blocks : cores);
    if (chip_is_hwts(d->of)) {
        uint64_t event[PMU_COUNTERS];
        task_events_make(d, cycles, is_cube, event);
        hwts_pmu_write(d, stream, t, cycles, event);
    } else {
        pmu_put(d, &pmu_task_layout, stream, t, bits, cycles, is_cube);
    }
}

static uint8_t log_type(const struct sim_device *d, const struct device_task *t)
{
    const struct sim_task_kind *kind = &sim_task_kinds[t->kind];
    return chip_is_hwts(d->of) ? kind->hwts : kind->log;
}

/* The events are those of sample.json: all requests, their two halves, hits in each half, victims. */
static void l2_write(struct sim_device *d, uint16_t stream, const struct device_task *t)
{
    const uint64_t requests = dice_between(&d->counters, 8000, 90000), half = requests / 2;
    const uint64_t hits = half * dice_between(&d->counters, 100, 950) / 1000;
    const uint64_t event[COUNTER_EVENTS] = {
        requests, half, requests - half, hits, hits + 1, (requests - 2 * hits) / 3
    };
    record_l2(slices_take(&d->out[DEVICE_L2], l2_cache_layout.size),
              &(struct task_counted){ stream, t->id, log_type(d, t), event });
}

/* The id in records of the device. */
static uint32_t task_number(const struct sim_device *d, uint16_t stream, const struct device_task *t)
{
    return d->of->chip->has_wide_ids ? wide_id(stream, t->id) : t->id;
}

static void smmu_write(struct sim_device *d, uint16_t stream, const struct device_task *t)
{
    const struct layout *l = smmu_layout_of(d->of->chip);
    const bool is_fault = dice_one_in(&d->counters, 2);
    const uint64_t requests = dice_between(&d->counters, 500, 1000);
    const uint64_t event[2][COUNTER_EVENTS] = {
        { requests, requests * 2 / 5, requests * 2 / 5, requests / 10, 20 },
        { dice_below(&d->counters, 5) },
    };
    record_smmu(slices_take(&d->out[DEVICE_SMMU], l->size), l,
                &(struct task_counted){ stream, task_number(d, stream, t), log_type(d, t), event[is_fault] },
                is_fault ? SMMU_DATA_FAULTS : SMMU_DATA_TRANSLATION);
}

static void aicpu_write(struct sim_device *d, uint16_t stream, const struct device_task *t)
{
    struct aicpu_run r = { .stream = stream, .task = t->id, .begin = t->begin, .end = t->end, .tick0 = d->tick0 };
    r.mhz = d->of->o->counter_mhz;
    r.copy_us = dice_between(&d->counters, 1, 20);
    r.dispatch_us = dice_between(&d->counters, 5, 20);
    record_aicpu(slices_take(&d->out[DEVICE_AICPU], aicpu_node_layout.size), &r);
}

void counters_write(struct sim_device *d, uint16_t stream, const struct device_task *t)
{
    if (t->kind <= TASK_MIX_VECTOR && !(d->of->chip->group & (ON_950 | ON_310)))
        pmu_write(d, stream, t);
    if (t->kind <= TASK_MIX_VECTOR && d->of->chip->counts_ten)
        ten_write(d, wide_id(stream, t->id), t);
    if (t->kind == TASK_AICPU)
        aicpu_write(d, stream, t);
    if (!d->of->o->samplers)
        return;
    if ((t->kind == TASK_CUBE || t->kind == TASK_VECTOR) && !(d->of->chip->group & (ON_950 | ON_310)))
        l2_write(d, stream, t);
    if ((d->of->chip->group & (ON_A2 | ON_950)) && t->kind <= TASK_MIX_VECTOR && dice_one_in(&d->counters, 16))
        smmu_write(d, stream, t);
}

/* Samples all cores every millisecond, at least a dozen times. */
void counters_sample(struct sim_device *d, uint64_t end)
{
    const struct layout *l = &core_sample_layout;
    const struct sim_process *p = d->of;
    const uint64_t span_ns = (end - p->cnt) * NS_PER_HOST_TICK, every_ns = span_ns < 13000000 ? span_ns / 13 : 1000000;
    const bool has_vector_file = p->chip->group == ON_MDC, samples_vector = p->chip->group == ON_A2 || has_vector_file;
    /* One number between the two kinds is not used. */
    const uint32_t cores = p->chip->n_cube + 1 + (samples_vector ? p->chip->n_vector : 0);
    const unsigned n_cube = events_count(p->metrics->cube_events), n_vector = events_count(p->metrics->vector_events);
    for (uint64_t at_ns = 2 * every_ns; at_ns + every_ns < span_ns; at_ns += every_ns) {
        for (uint32_t core = 0; core < cores; core++) {
            const bool is_cube = core < p->chip->n_cube;
            if (core == p->chip->n_cube)
                continue;
            uint64_t event[PMU_COUNTERS];
            const uint64_t cycles = every_ns * p->chip->core_mhz / 1000 * dice_below(&d->counters, 1000) / 1000;
            events_make(&d->counters, cycles, is_cube ? n_cube : n_vector, event);
            uint8_t *rec = slices_record(&d->out[is_cube || !has_vector_file ? DEVICE_PMU : DEVICE_VECTOR_PMU], l);
            layout_put(l, CORE_MODE, rec, 1);
            for (unsigned i = 0; i < CORE_EVENTS; i++)
                layout_put(l, CORE_EVENT + i, rec, event[i]);
            record_fill(l, rec, { CORE_CYCLES, cycles }, { CORE_TIME, d->device_mono_ns + at_ns + 40ull * core },
                        { CORE_COUNT, is_cube ? n_cube : n_vector }, { CORE_ID, core });
        }
    }
}
