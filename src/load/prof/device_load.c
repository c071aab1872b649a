/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/columns.h"
#include "load/prof/prof.h"

#include <string.h>

#include "base/files/bytes.h"
#include "load/prof/records.h"
#include "load/prof/text.h"
#include "profile/profile.h"
#include "raw/counter.h"
#include "raw/device_records.h"
#include "raw/family.h"
#include "raw/hwts.h"
#include "raw/instr.h"

/* Loads the instruction traces of the cores of a device. */

/* A trace while it is read. */
struct unit_trace_load_reading {
    struct unit_track *to;
    bool only_counts; /* the events, to make room for them */
    struct bytes in;
    double ticks_per_cycle;
    uint64_t stamp, cycles; /* the last time stamp, and what has passed since */
    uint16_t block;
    bool has_time;
    uint32_t busy;
    double since[INSTR_UNITS];
};

static double now_of(const struct unit_trace_load_reading *r)
{
    return (double)r->stamp + (double)r->cycles * r->ticks_per_cycle;
}

static void event_add(struct unit_trace_load_reading *r, unsigned unit, double begin, int16_t check_point)
{
    struct unit_track *t = r->to;
    if (r->only_counts) {
        t->n++;
        return;
    }
    t->unit[t->n] = (uint8_t)unit;
    t->block[t->n] = r->block;
    t->check_point[t->n] = check_point;
    t->begin[t->n] = begin;
    t->end[t->n++] = now_of(r);
}

static void state_set(struct unit_trace_load_reading *r, uint32_t busy)
{
    for (unsigned unit = 0; unit < INSTR_UNITS; unit++) {
        const bool is_busy = busy >> unit & 1, was_busy = r->busy >> unit & 1;
        if (is_busy && !was_busy)
            r->since[unit] = now_of(r);
        else if (!is_busy && was_busy)
            event_add(r, unit, r->since[unit], -1);
    }
    r->busy = busy;
}

/* The rest of a time stamp, whose first item was taken. False: the trace ends in it. */
static bool stamp_take(struct unit_trace_load_reading *r, const uint8_t *item)
{
    uint64_t stamp = 0;
    uint16_t block = 0;
    for (unsigned i = 0; i < INSTR_STAMPS; i++) {
        if (i > 0 && !(item = bytes_take(&r->in, instr_layout.size)))
            return false;
        stamp |= layout_get(&instr_layout, INSTR_LOW, item) << 16 * i;
        if (i < 2)
            block |= (uint16_t)((layout_get(&instr_layout, INSTR_HIGH, item) & UINT8_MAX) << 8 * i);
    }
    r->stamp = stamp;
    r->cycles = 0;
    r->block = block;
    r->has_time = true;
    return true;
}

static void trace_lost(const struct unit_trace_load_reading *r, struct source *s, const struct stream *stream,
                       enum loss why, uint64_t at)
{
    if (!r->only_counts)
        stream_lost(s, stream, why, at);
}

static void trace_read(struct unit_trace_load_reading *r, struct source *s, const struct stream *stream)
{
    for (const uint8_t *item; (item = bytes_take(&r->in, instr_layout.size));) {
        const unsigned high = (unsigned)layout_get(&instr_layout, INSTR_HIGH, item), code = high >> INSTR_CODE_SHIFT;
        if (le32(item) == INSTR_END || le32(item) == INSTR_FILLER)
            continue;
        if (code == INSTR_STAMP) {
            if (!stamp_take(r, item)) {
                trace_lost(r, s, stream, LOSS_CUT_SHORT, r->in.at);
                return;
            }
            continue;
        }
        if ((code != INSTR_STATE && code >= INSTR_UNITS) || !r->has_time) {
            trace_lost(r, s, stream, LOSS_OTHER_KIND, r->in.at - instr_layout.size);
            continue;
        }
        r->cycles += layout_get(&instr_layout, INSTR_LOW, item);
        if (code == INSTR_STATE)
            state_set(r, high & ((1u << INSTR_UNITS) - 1));
        else
            event_add(r, code, now_of(r), (int16_t)(high & INSTR_CHECK_POINT));
    }
    if (r->in.at != r->in.size)
        trace_lost(r, s, stream, LOSS_CUT_SHORT, r->in.at);
}

static bool track_load(struct source *s, const struct stream *stream, struct unit_track *t, struct error *e)
{
    const struct ticks tick = s->device_clock.tick;
    const double tick_mhz = 1e3 * (double)tick.den / (double)tick.num;
    struct unit_trace_load_reading r = { .to = t, .ticks_per_cycle = s->aic_mhz > 0 ? tick_mhz / s->aic_mhz : 0 };
    if (!stream_text(s, stream, &r.in, e))
        return false;
    struct unit_trace_load_reading counting = r;
    counting.only_counts = true;
    trace_read(&counting, s, stream);
    arena_columns(s->mem, t->n, t->unit, t->block, t->check_point, t->begin, t->end);
    if (!t->unit || !t->block || !t->check_point || !t->begin || !t->end)
        return error_no_memory(e, s->path);
    t->n = 0;
    trace_read(&r, s, stream);
    return true;
}

/* Families are sorted by name, so that cores of a group are in order; groups of more than one digit are not. */
static void tracks_sort(struct unit_trace *u)
{
    for (size_t i = 1; i < u->n_tracks; i++) { /* few cores are traced */
        const struct unit_track t = u->track[i];
        size_t at = i;
        for (; at > 0 && u->track[at - 1].group > t.group; at--)
            u->track[at] = u->track[at - 1];
        u->track[at] = t;
    }
}

static bool unit_trace_load(struct device *d, struct error *e)
{
    struct source *s = &d->source;
    struct unit_trace *u = &d->units;
    u->track = arena_take(s->mem, s->n_streams, sizeof *u->track);
    if (!u->track)
        return error_no_memory(e, s->path);
    for (size_t i = 0; i < s->n_streams; i++) {
        struct unit_track *t = &u->track[u->n_tracks];
        if (!family_is_read(s->stream[i].family, s->chip, false) ||
            !instr_family(s->stream[i].family, &t->group, &t->core))
            continue;
        if (!track_load(s, &s->stream[i], t, e))
            return false;
        u->n_tracks++;
    }
    tracks_sort(u);
    return true;
}

#define U64(r, f) ((uint64_t *)(r).column[f])
#define U32(r, f) ((uint32_t *)(r).column[f])
#define U16(r, f) ((uint16_t *)(r).column[f])
#define U8(r, f)  ((uint8_t *)(r).column[f])

static uint32_t *widened(struct source *s, const uint16_t *column, size_t n)
{
    uint32_t *wide = arena_take(s->mem, n, sizeof *wide);
    for (size_t i = 0; wide && i < n; i++)
        wide[i] = column[i];
    return wide;
}

static bool load_track(struct device *d, struct error *e)
{
    struct source *s = &d->source;
    struct device_log *log = &d->log;
    struct records r;
    const bool is_wide = s->chip->has_wide_ids;
    if (!records_load(s, s->mem, "ts_track.data", is_wide ? &ts_step_wide_layout : &ts_step_layout, true, &r, e))
        return false;
    log->stamps.n = r.n;
    log->stamps.tick = U64(r, STEP_TICK);
    log->stamps.index = U64(r, STEP_INDEX);
    log->stamps.model = U64(r, STEP_MODEL);
    log->stamps.stream = U16(r, STEP_STREAM);
    log->stamps.task = is_wide ? U32(r, STEP_TASK) : widened(s, U16(r, STEP_TASK), r.n);
    if (!log->stamps.task)
        return error_no_memory(e, s->path);
    log->stamps.tag = U16(r, STEP_TAG);
    if (!records_load(s, s->mem, "ts_track.data", &ts_flip_layout, true, &r, e))
        return false;
    log->flips.n = r.n;
    log->flips.stream = U16(r, TS_FLIP_STREAM);
    log->flips.number = U16(r, TS_FLIP_NUMBER);
    log->flips.task = U16(r, TS_FLIP_TASK);
    log->flips.tick = U64(r, TS_FLIP_TICK);
    if (!records_load(s, s->mem, "ts_track.data", &ts_blocks_layout, true, &r, e))
        return false;
    log->blocks.n = r.n;
    log->blocks.stream = U16(r, TS_BLOCKS_STREAM);
    log->blocks.task = U16(r, TS_BLOCKS_TASK);
    log->blocks.tick = U64(r, TS_BLOCKS_TICK);
    log->blocks.blocks = U32(r, TS_BLOCKS_COUNT);
    if (!records_load(s, s->mem, "ts_track.data", &ts_state_layout, true, &r, e))
        return false;
    log->states.n = r.n;
    log->states.stream = U16(r, TS_STATE_STREAM);
    log->states.task = U16(r, TS_STATE_TASK);
    log->states.type = U16(r, TS_STATE_TYPE);
    log->states.tick = U64(r, TS_STATE_TICK);
    log->states.state = U8(r, TS_STATE_STATE);
    for (size_t i = 0; i < log->states.n; i++)
        log->states.stream[i] &= 2047;
    if (!records_load(s, s->mem, "ts_track.data", &ts_memcpy_layout, true, &r, e))
        return false;
    log->copy_states.n = r.n;
    log->copy_states.stream = U16(r, TS_MEMCPY_STREAM);
    log->copy_states.task = U16(r, TS_MEMCPY_TASK);
    log->copy_states.tick = U64(r, TS_MEMCPY_TICK);
    log->copy_states.state = U8(r, TS_MEMCPY_STATE);
    for (size_t i = 0; i < log->copy_states.n; i++)
        log->copy_states.stream[i] &= 2047;
    for (size_t i = 0; i < log->stamps.n && !is_wide; i++)
        log->stamps.stream[i] &= 2047; /* the fields are eleven bits wide */
    for (size_t i = 0; i < log->flips.n; i++)
        log->flips.stream[i] &= 2047;
    return true;
}

/* Text fields of data queue records, NUL-terminated unless full. */
static name_id device_load_text_of(struct names *names, const uint8_t *p, size_t most)
{
    return names_add(names, (const char *)p, strnlen((const char *)p, most));
}

/* Models that are fed by a queue are stamped by the AI CPU, with the same tags. These stamps are appended to those of
 * the scheduler. */
static bool load_model_stamps(struct device *d, struct error *e)
{
    struct source *s = &d->source;
    struct device_log *log = &d->log;
    struct records r;
    if (!records_load(s, s->mem, "aicpu.data", &aicpu_model_layout, true, &r, e))
        return false;
    if (r.n == 0)
        return true;
    const size_t before = log->stamps.n, n = before + r.n;
    const struct {
        void **column;
        size_t size;
        const void *more; /* NULL: zeros */
        size_t more_size;
    } column[] = {
        { (void **)&log->stamps.tick, 8, r.column[AICPU_MODEL_TIME], 8 },
        { (void **)&log->stamps.index, 8, r.column[AICPU_MODEL_INDEX], 8 },
        { (void **)&log->stamps.model, 8, r.column[AICPU_MODEL_ID], 4 },
        { (void **)&log->stamps.stream, 2, NULL, 2 },
        { (void **)&log->stamps.task, 4, NULL, 4 },
        { (void **)&log->stamps.tag, 2, r.column[AICPU_MODEL_TAG], 2 },
    };
    for (size_t c = 0; c < sizeof column / sizeof *column; c++) {
        uint8_t *longer = arena_take(s->mem, n, column[c].size);
        if (!longer)
            return error_no_memory(e, s->path);
        if (before > 0)
            memcpy(longer, *column[c].column, before * column[c].size);
        for (size_t i = 0; column[c].more && i < r.n; i++) /* little endian: low bytes first */
            memcpy(longer + (before + i) * column[c].size, (const uint8_t *)column[c].more + i * column[c].more_size,
                   column[c].more_size);
        *column[c].column = longer;
    }
    log->stamps.n = n;
    return true;
}

static bool load_aicpu(struct profile *p, struct device *d, struct error *e)
{
    struct source *s = &d->source;
    struct device_log *log = &d->log;
    struct records r, legacy;
    if (!records_load(s, s->mem, "aicpu.data", &aicpu_node_layout, true, &r, e) ||
        !records_load(s, s->mem, "DATA_PREPROCESS.AICPU", &aicpu_node_legacy_layout, true, &legacy, e))
        return false;
    if (r.n == 0)
        r = legacy;
    else
        losses_add(&s->lost, LOSS_OTHER_KIND, legacy.n, "DATA_PREPROCESS.AICPU", 0);
    log->aicpu.n = r.n;
    log->aicpu.stream = U16(r, AICPU_STREAM);
    log->aicpu.task = U16(r, AICPU_TASK);
    log->aicpu.run_begin = U64(r, AICPU_RUN_BEGIN);
    log->aicpu.run_end = U64(r, AICPU_RUN_END);
    log->aicpu.compute_us = U64(r, AICPU_COMPUTE_US);
    log->aicpu.memcpy_us = U64(r, AICPU_MEMCPY_US);
    log->aicpu.memcpy_end_us = U64(r, AICPU_MEMCPY_END_US);
    log->aicpu.submit = U64(r, AICPU_SUBMIT);
    log->aicpu.after_run = U64(r, AICPU_AFTER_RUN);
    log->aicpu.dispatch_us = U32(r, AICPU_DISPATCH_US);

    size_t action = DP_ACTION, source = DP_SOURCE;
    if (!records_load(s, s->mem, "aicpu.data", &aicpu_dp_layout, true, &r, e) ||
        !records_load(s, s->mem, "DATA_PREPROCESS.DP", &aicpu_dp_legacy_layout, true, &legacy, e))
        return false;
    if (r.n == 0) {
        r = legacy;
        action = DP_LEGACY_ACTION;
        source = DP_LEGACY_SOURCE;
    } else {
        losses_add(&s->lost, LOSS_OTHER_KIND, legacy.n, "DATA_PREPROCESS.DP", 0);
    }
    log->dp.n = r.n;
    log->dp.time = U64(r, DP_TIME);
    log->dp.size = U64(r, DP_SIZE);
    log->dp.action = arena_take(s->mem, r.n, sizeof *log->dp.action);
    log->dp.source = arena_take(s->mem, r.n, sizeof *log->dp.source);
    if (!log->dp.action || !log->dp.source)
        return error_no_memory(e, s->path);
    for (size_t i = 0; i < r.n; i++) {
        log->dp.action[i] = device_load_text_of(p->names, r.rest[i] + action, DP_ACTION_BYTES);
        log->dp.source[i] = device_load_text_of(p->names, r.rest[i] + source, DP_SOURCE_BYTES);
    }

    if (!records_load(s, s->mem, "aicpu.data", &aicpu_mi_layout, true, &r, e))
        return false;
    log->mi.n = r.n;
    log->mi.node = U32(r, MI_NODE);
    log->mi.queue = U64(r, MI_QUEUE);
    log->mi.begin_us = U64(r, MI_BEGIN_US);
    log->mi.end_us = U64(r, MI_END_US);
    return true;
}

bool device_load(struct profile *p, struct device *d, struct error *e)
{
    return load_track(d, e) && load_model_stamps(d, e) && load_aicpu(p, d, e) && aicpu_comm_load(d, e) &&
           (p->without & PROFILE_COUNTED || pmu_load(d, e)) && ccu_load(d, e) &&
           (p->without & PROFILE_SAMPLED || unit_trace_load(d, e));
}

/* Keeps pointers to the records in the mapped file: columns would need as much memory as the file. */
static bool pmu_load_load(struct source *s, const char *family, const struct layout *l, struct pmu_records *out,
                          struct error *e)
{
    *out = (struct pmu_records){ 0 };
    if (!family_is_read(family, s->chip, false))
        return true;
    struct layout thin = *l;
    thin.n = 0;
    thin.keeps_rest = true;
    struct records r;
    if (!records_load(s, s->mem, family, &thin, true, &r, e))
        return false;
    *out = (struct pmu_records){ r.n, r.rest };
    return true;
}

bool pmu_load(struct device *d, struct error *e)
{
    struct source *s = &d->source;
    struct pmu *pmu = &d->pmu;
    if (!pmu_load_load(s, "l2_cache.data", &l2_cache_layout, &pmu->l2, e) ||
        !pmu_load_load(s, "socpmu.data", smmu_layout_of(s->chip), &pmu->smmu, e))
        return false;
    if (!s->settings.counts_tasks)
        return true; /* the file then holds samples of cores */
    if (s->chip->task_log == TASK_LOG_HWTS)
        return pmu_load_load(s, "aicore.data", &hwts_pmu_layout, &pmu->of_cores[CORE_AIC], e) &&
               pmu_load_load(s, "aiVectorCore.data", &hwts_pmu_layout, &pmu->of_cores[CORE_AIV], e);
    const bool is_ten = s->chip->counts_ten;
    return pmu_load_load(s, "ffts_profile.data", is_ten ? &pmu_ten_task_layout : &pmu_task_layout, &pmu->of_tasks, e) &&
           pmu_load_load(s, "ffts_profile.data", is_ten ? &pmu_ten_block_layout : &pmu_block_layout, &pmu->of_blocks,
                         e);
}
