/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/device/sim_device.h"

#include <stdlib.h>

/* clang-format off */
static const struct {
    const char *family, *hwts_family; /* hwts_family: the name on chips without STARS if it differs */
    enum cut cut;
} files[DEVICE_FILES] = {
    [DEVICE_LOG]   = { "stars_soc.data", "hwts.data", CUT_BETWEEN }, /* cut at multiples of its records by collectors */
    [DEVICE_PMU]   = { "ffts_profile.data", "aicore.data", CUT_ANYWHERE },
    [DEVICE_TRACK] = { "ts_track.data", NULL, CUT_ANYWHERE },
    [DEVICE_AICPU] = { "aicpu.data", NULL, CUT_ANYWHERE },
    [DEVICE_L2]    = { "l2_cache.data", NULL, CUT_BETWEEN }, /* the reference reads the slices of these two one by
                                                                one */
    [DEVICE_SMMU]  = { "socpmu.data", NULL, CUT_BETWEEN },
    [DEVICE_VECTOR_LOG] = { "hwts.aiv_data", NULL, CUT_BETWEEN },
    [DEVICE_VECTOR_PMU] = { "aiVectorCore.data", NULL, CUT_ANYWHERE },
};

static const uint16_t stream_ids[STREAMS] = {
    [STREAM_MAIN] = 2, [STREAM_SIDE] = 5, [STREAM_COPY] = 3, [STREAM_GRAPH] = 11, [STREAM_CAPTURED] = 30,
    [STREAM_COMM] = 20, [STREAM_COMM + 1] = 21, [STREAM_COMM + 2] = 22, [STREAM_CONTROL] = 23,
    [STREAM_KFC] = 40, [STREAM_KFC + 1] = 41, [STREAM_KFC + 2] = 42, [STREAM_KFC + 3] = 43,
    [STREAM_MC2] = 50, [STREAM_MC2 + 1] = 51, [STREAM_MC2 + 2] = 52, [STREAM_MC2 + 3] = 53,
};
enum { FIRST_OF_JOB = 60 };
/* clang-format on */

/* Ticks between two tasks of a stream. A flip is stamped in this gap: after the counters of the old task were read, and
 * before the new one starts. */
enum { GAP_LEAST = 8, GAP_MOST = 60, FLIP_BEFORE = 3 };

uint64_t device_us(const struct sim_device *d, uint64_t us)
{
    return us * d->of->o->counter_mhz;
}

uint64_t device_tick(const struct sim_device *d, uint64_t host_tick)
{
    const uint64_t mono_ns = d->of->mono_ns + (host_tick - d->of->cnt) * NS_PER_HOST_TICK;
    return d->tick0 + (mono_ns - d->mono_ns) * d->of->o->counter_mhz / 1000;
}

uint64_t device_host_tick(const struct sim_device *d, uint64_t tick)
{
    const uint64_t mono_ns = d->mono_ns + (tick - d->tick0) * 1000 / d->of->o->counter_mhz;
    return d->of->cnt + (mono_ns - d->of->mono_ns) / NS_PER_HOST_TICK + 2;
}

void device_open(struct sim_process *p, uint32_t index)
{
    enum { READ_AFTER_NS = 980000, APART_NS = 200000 }; /* devices are read one after the other */
    struct sim_device *d = &p->device[index];
    const uint32_t rank = p->index * p->o->devices + index;
    *d = (struct sim_device){ .of = p, .id = (int)(p->job ? rank % p->job->host_ranks : rank), .rank = rank };
    d->dice = dice_for(p->o->seed, 1 + 4ull * rank);
    d->counters = dice_for(p->o->seed, 2 + 4ull * rank);
    d->samples = dice_for(p->o->seed, 3 + 4ull * rank);
    d->host_cnt_diff = 1000 + dice_below(&d->dice, 2000);
    const uint64_t read_ns = READ_AFTER_NS + (uint64_t)APART_NS * index;
    d->host_cnt = p->cnt + read_ns / NS_PER_HOST_TICK;
    d->mono_ns = p->mono_ns + read_ns + d->host_cnt_diff * NS_PER_HOST_TICK;
    d->tick0 = 10000000000 + dice_next(&d->dice) % 1000000000;
    d->device_mono_ns = 500000000000 + dice_next(&d->dice) % 100000000000;
    d->next_address = 0x124000000000 + ((uint64_t)rank << 36);
    d->graph_model = 1 + index;
    d->captured_model = 101 + index;
    const uint32_t thread = p->pid + 4 * index;
    d->now = p->cnt + 5000 * HOST_MHZ; /* 5 ms for starting */
    d->logged = device_tick(d, d->now);
    d->main = (struct sim_thread){ thread, d->now };
    d->backward = (struct sim_thread){ thread + 1, d->now };
    d->comm = (struct sim_thread){ thread + 2, d->now };

    folder_create(&p->writer, d->id);
    for (size_t i = 0; i < DEVICE_FILES; i++) {
        const bool is_other = files[i].hwts_family && chip_is_hwts(p);
        slices_init(&d->out[i], &p->writer, d->id, is_other ? files[i].hwts_family : files[i].family, files[i].cut);
    }
    for (size_t i = 0; i < STREAMS; i++) {
        struct device_stream *s = &d->stream[i];
        s->id = i < STREAM_JOB ? stream_ids[i] : (uint16_t)(FIRST_OF_JOB + i - STREAM_JOB);
        s->queue = calloc(QUEUE_TASKS, sizeof *s->queue);
        if (!s->queue)
            error_no_memory(&p->writer.error, "the simulation");
    }
}

void device_close(struct sim_device *d)
{
    for (size_t i = 0; i < DEVICE_FILES; i++)
        slices_fini(&d->out[i]);
    for (size_t i = 0; i < STREAMS; i++)
        free(d->stream[i].queue);
}

/* Task ids of a stream have 16 bits. When they start again from 0, host and device both record a flip: the host here,
 * the device when the next task starts. */
uint16_t stream_issue(struct sim_device *d, enum sim_stream which, uint32_t thread, uint64_t host_tick)
{
    struct device_stream *s = &d->stream[which];
    if (s->is_full_turn) {
        s->batch++;
        record_track_flip(host_record(d->of, HOST_TRACK, thread, host_tick), (unsigned)d->id, s->id, s->batch);
    }
    const uint16_t task = s->next_task++;
    s->is_full_turn = task == UINT16_MAX;
    return task;
}

uint32_t track_task(const struct sim_device *d, enum sim_stream which, uint16_t task)
{
    const struct device_stream *s = &d->stream[which];
    return d->of->chip->group == ON_950 ? wide_id(s->id, task) : task;
}

uint8_t *track_record(struct sim_device *d, const struct layout *l, unsigned time_field, uint64_t tick)
{
    uint8_t *rec = slices_record(&d->out[DEVICE_TRACK], l);
    layout_put(l, time_field, rec, tick);
    return rec;
}

void device_stamp(struct sim_device *d, uint64_t tick, uint64_t index, uint32_t model, enum sim_stream s, uint16_t task,
                  uint16_t tag)
{
    const struct layout *l = d->of->chip->group == ON_950 ? &ts_step_wide_layout : &ts_step_layout;
    record_stamp(slices_take(&d->out[DEVICE_TRACK], l->size), l,
                 &(struct stamp){ tick, index, model, track_task(d, s, task), d->stream[s].id, tag });
}

static void flip_write(struct sim_device *d, const struct device_stream *s, uint64_t tick)
{
    record_flip(slices_take(&d->out[DEVICE_TRACK], ts_flip_layout.size), tick, s->id, s->batch);
}

/* Some kernels learn on the device how many blocks they need. */
static void blocks_write(struct sim_device *d, const struct device_stream *s, const struct device_task *t)
{
    const struct layout *l = &ts_blocks_layout;
    uint8_t *rec = track_record(d, l, TS_BLOCKS_TICK, t->begin + 1);
    record_fill(l, rec, { TS_BLOCKS_STREAM, s->id }, { TS_BLOCKS_TASK, t->id }, { TS_BLOCKS_COUNT, t->blocks });
}

/* Adds a task that is ready at `begin`, behind the tasks that the stream already has. */
static struct sim_span stream_add(struct sim_device *d, struct device_stream *s, uint16_t task,
                                  const struct sim_launch *l, uint64_t begin, uint64_t duration)
{
    if (begin < s->free_at + GAP_LEAST)
        begin = s->free_at + dice_between(&d->dice, GAP_LEAST, GAP_MOST);
    struct device_task *t = &s->queue[(s->head + s->n++) % QUEUE_TASKS];
    *t = (struct device_task){ begin, begin + duration, task, l->blocks, (uint8_t)l->kind };
    if (task == 0 && s->batch > 0)
        flip_write(d, s, begin - FLIP_BEFORE);
    if (d->of->o->tiling && (l->kind == TASK_CUBE || l->kind == TASK_VECTOR) && dice_one_in(&d->counters, 64))
        blocks_write(d, s, t);
    s->free_at = t->end;
    return (struct sim_span){ t->begin, t->end };
}

/* A full queue makes the host wait for the oldest task to end. */
static bool stream_has_room(struct sim_device *d, struct device_stream *s)
{
    if (s->queue && s->n == QUEUE_TASKS) {
        const uint64_t until = device_host_tick(d, s->queue[s->head].end);
        d->now = until > d->now ? until : d->now;
        device_log(d, device_tick(d, d->now));
    }
    return s->queue != NULL;
}

struct sim_span stream_run(struct sim_device *d, enum sim_stream which, uint16_t task, const struct sim_launch *l,
                           uint64_t host_tick, uint64_t duration, uint64_t not_before)
{
    struct device_stream *s = &d->stream[which];
    if (!stream_has_room(d, s))
        return (struct sim_span){ not_before, not_before + duration };
    uint64_t begin = device_tick(d, host_tick);
    if (begin < d->logged)
        begin = d->logged;
    begin += dice_between(&d->dice, 100, 300); /* the latency of a launch */
    return stream_add(d, s, task, l, begin > not_before ? begin : not_before, duration);
}

struct sim_span stream_run_on_device(struct sim_device *d, enum sim_stream which, uint16_t task,
                                     const struct sim_launch *l, uint64_t tick, uint64_t duration)
{
    struct device_stream *s = &d->stream[which];
    if (!stream_has_room(d, s))
        return (struct sim_span){ tick, tick + duration };
    return stream_add(d, s, task, l, tick > d->logged ? tick : d->logged, duration);
}

void stream_run_at(struct sim_device *d, enum sim_stream which, uint16_t task, const struct sim_launch *l,
                   uint64_t host_tick, struct sim_span when)
{
    enum { ON_ITS_WAY = 10 };
    struct device_stream *s = &d->stream[which];
    if (!stream_has_room(d, s))
        return;
    uint64_t begin = device_tick(d, host_tick) + ON_ITS_WAY;
    begin = begin > d->logged ? begin : d->logged;
    begin = begin > s->free_at + GAP_LEAST ? begin : s->free_at + GAP_LEAST;
    begin = begin > when.begin ? begin : when.begin;
    stream_add(d, s, task, l, begin, when.end > begin ? when.end - begin : 1);
}

static void short_log_write(struct sim_device *d, const struct device_stream *s, const struct device_task *t,
                            unsigned func, uint64_t tick)
{
    const struct layout *l = &stars_short_layout;
    uint8_t *rec = slices_record(&d->out[DEVICE_LOG], l);
    record_fill(l, rec,
                { STARS_SHORT_HEAD, func | (d->n_log++ & 15) << 6 | (uint32_t)sim_task_kinds[t->kind].on_950 << 10 },
                { STARS_SHORT_ID, wide_id(s->id, t->id) }, { STARS_SHORT_TICK, tick });
}

static uint64_t next_tick(const struct device_stream *s)
{
    const struct device_task *t = &s->queue[s->head];
    return stage_tick((enum sim_stage)s->stage, t->begin, t->end);
}

static void log_next(struct sim_device *d, struct device_stream *s)
{
    const struct device_task *t = &s->queue[s->head];
    const enum sim_stage stage = (enum sim_stage)s->stage;
    if (chip_is_hwts(d->of))
        hwts_write(d, s->id, t, stage == STAGE_END);
    else if (d->of->chip->group == ON_950)
        short_log_write(d, s, t, stage == STAGE_END ? STARS_ACSQ_END : STARS_ACSQ_BEGIN, next_tick(s));
    else
        record_log(slices_take(&d->out[DEVICE_LOG], stars_layout.size), d->n_log++, s->id, t->id,
                   (enum task_kind)t->kind, stage, next_tick(s));
    s->stage = (uint8_t)stage_next(stage, (enum task_kind)t->kind);
    if (s->stage < STAGES)
        return;
    counters_write(d, s->id, t);
    s->stage = STAGE_BEGIN;
    s->head = (s->head + 1) % QUEUE_TASKS;
    s->n--;
}

void device_log(struct sim_device *d, uint64_t until)
{
    for (;;) {
        struct device_stream *first = NULL;
        uint64_t least = until;
        for (size_t i = 0; i < STREAMS; i++) {
            struct device_stream *s = &d->stream[i];
            if (s->n == 0)
                continue;
            const uint64_t tick = next_tick(s);
            if (tick <= least && (!first || tick < least)) {
                first = s;
                least = tick;
            }
        }
        if (!first)
            break;
        log_next(d, first);
    }
    if (until > d->logged)
        d->logged = until;
}
