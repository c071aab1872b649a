/* SPDX-License-Identifier: Apache-2.0 */
/* Chips without STARS: another task log, counters without times, and a scheduler that reports some tasks elsewhere. */
#include "sim/device/sim_device.h"

#include <string.h>

#include "raw/device_records.h"
#include "raw/hwts.h"

enum { MAGIC = 0x6BD3, MAGIC_AT = 2 }; /* collectors write it; readers ignore it */

bool chip_is_hwts(const struct sim_process *p)
{
    return !(p->chip->group & (ON_STARS | ON_950));
}

static uint8_t *record_begin(struct slices *s, const struct layout *l)
{
    uint8_t *rec = slices_record(s, l);
    rec[MAGIC_AT] = MAGIC & 0xFF;
    rec[MAGIC_AT + 1] = MAGIC >> 8;
    return rec;
}

/* Records of the scheduler for a task that it executes itself: received and started, later ended. */
static void states_write(struct sim_device *d, const struct layout *l, uint16_t stream, const struct device_task *t,
                         bool is_end)
{
    const bool is_copy = l == &ts_memcpy_layout;
    const uint8_t first = is_end ? TS_STATE_ENDED : TS_STATE_RECEIVED,
                  last = is_end ? TS_STATE_ENDED : TS_STATE_STARTED;
    for (uint8_t state = first; state <= last; state++) {
        uint8_t *rec = track_record(d, l, is_copy ? TS_MEMCPY_TICK : TS_STATE_TICK, is_end ? t->end : t->begin + state);
        layout_put(l, is_copy ? TS_MEMCPY_STREAM : TS_STATE_STREAM, rec, stream);
        layout_put(l, is_copy ? TS_MEMCPY_TASK : TS_STATE_TASK, rec, t->id);
        if (!is_copy)
            layout_put(l, TS_STATE_TYPE, rec, sim_task_kinds[t->kind].track);
        layout_put(l, is_copy ? TS_MEMCPY_STATE : TS_STATE_STATE, rec, state);
    }
}

/* The track for tasks that are not in the log: copies to and from the host, kernels of the AI CPU on the 910, graphs on
 * the 310P. */
static const struct layout *sim_hwts_track_of(const struct sim_process *p, uint8_t kind)
{
    if (kind == TASK_COPY_PCIE)
        return &ts_memcpy_layout;
    const bool is_ai_cpu = kind == TASK_AICPU || kind == TASK_AICPU_QUIET;
    const bool is_logged = p->chip->group == ON_910 ? is_ai_cpu : p->chip->group == ON_310P && kind == TASK_MODEL;
    return is_logged ? &ts_state_layout : NULL;
}

static bool has_vector_files(const struct sim_process *p, uint8_t kind)
{
    return p->chip->group == ON_MDC && kind == TASK_VECTOR;
}

/* The 310 reports all tasks in its track. */
static void timeline_write(struct sim_device *d, uint16_t stream, const struct device_task *t, bool is_end)
{
    const struct layout *l = &ts_timeline_layout;
    uint8_t *rec = track_record(d, l, TS_TIMELINE_TICK, is_end ? t->end : t->begin);
    record_fill(l, rec, { TS_TIMELINE_TYPE, sim_task_kinds[t->kind].track },
                { TS_TIMELINE_STATE, is_end ? TS_TIMELINE_COMPLETE : TS_TIMELINE_RUNNING },
                { TS_TIMELINE_STREAM, stream }, { TS_TIMELINE_TASK, t->id });
}

void hwts_write(struct sim_device *d, uint16_t stream, const struct device_task *t, bool is_end)
{
    const struct layout *l = &hwts_layout;
    const struct sim_task_kind *kind = &sim_task_kinds[t->kind];
    if (d->of->chip->group == ON_310) {
        timeline_write(d, stream, t, is_end);
        return;
    }
    const struct layout *track = sim_hwts_track_of(d->of, t->kind);
    if (track) {
        states_write(d, track, stream, t, is_end);
        return;
    }
    uint8_t *rec = record_begin(&d->out[has_vector_files(d->of, t->kind) ? DEVICE_VECTOR_LOG : DEVICE_LOG], l);
    record_fill(l, rec, { HWTS_HEAD, (d->n_log++ & 15) << HWTS_COUNT_SHIFT | (is_end ? HWTS_END_BIT : 0) },
                { HWTS_TYPE, kind->hwts }, { HWTS_TASK, t->id }, { HWTS_TICK, is_end ? t->end : t->begin },
                { HWTS_STREAM, stream });
}

void hwts_pmu_write(struct sim_device *d, uint16_t stream, const struct device_task *t, uint64_t cycles,
                    const uint64_t *event)
{
    const struct layout *l = &hwts_pmu_layout;
    uint8_t *rec = record_begin(&d->out[has_vector_files(d->of, t->kind) ? DEVICE_VECTOR_PMU : DEVICE_PMU], l);
    record_fill(l, rec, { HWTS_PMU_HEAD, (d->n_pmu++ & 15) << HWTS_COUNT_SHIFT }, { HWTS_PMU_TASK, t->id },
                { HWTS_PMU_CYCLES, cycles }, { HWTS_PMU_STREAM, stream });
    memcpy(rec + HWTS_PMU_FIRST, event, PMU_COUNTERS * sizeof *event);
}
