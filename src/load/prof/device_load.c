/* SPDX-License-Identifier: Apache-2.0 */
#include "load/prof/device_load.h"

#include <string.h>

#include "load/prof/ccu_load.h"
#include "load/prof/records.h"
#include "load/prof/unit_trace_load.h"
#include "raw/device_records.h"

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
           pmu_load(d, e) && ccu_load(d, e) && unit_trace_load(d, e);
}
