/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim_npu/sim_npu_parts.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/process/background.h"
#include "collect/ring/ring.h"
#include "collect/session/host_clock.h"
#include "collect/session/message.h"
#include "raw/counter.h"
#include "raw/sampler.h"

/* Ticks: from the launch to the arrival at the device; between two tasks of a stream; from a flip's stamp to its task;
 * the shortest task; from an event to those who wait for it; from the begin of a task to its mark. */
enum { ON_ITS_WAY = 100, GAP = 20, FLIP_BEFORE = 3, LEAST_TICKS = 20, SIGNAL_TICKS = 25, MARK_AFTER = 2 };

/* ---- points ---- */

struct npu_point *npu_point_get(uint32_t n_times)
{
    struct npu_point *p = npu.free_points;
    if (p)
        npu.free_points = p->next;
    else
        p = malloc(sizeof *p);
    if (p)
        *p = (struct npu_point){ .ns = NEVER, .n_left = n_times, .n_refs = 1 };
    return p;
}

struct npu_point *npu_point_keep(struct npu_point *p)
{
    if (p)
        p->n_refs++;
    return p;
}

void npu_point_drop(struct npu_point *p)
{
    if (p && --p->n_refs == 0) {
        p->next = npu.free_points;
        npu.free_points = p;
    }
}

void npu_point_happens(struct npu_point *p, uint64_t ns)
{
    if (!p)
        return;
    p->latest_ns = ns > p->latest_ns ? ns : p->latest_ns;
    if (--p->n_left == 0)
        p->ns = p->latest_ns;
}

/* ---- streams ---- */

static struct ascope_sim_stream *stream_make(struct npu_device *d)
{
    enum { FIRST_ID = 2 };
    if (d->n_streams == NPU_STREAMS_MOST)
        return NULL;
    struct ascope_sim_stream *s = calloc(1, sizeof *s);
    struct npu_task *queue = calloc(NPU_QUEUE_TASKS, sizeof *queue);
    if (!s || !queue) {
        free(s);
        free(queue);
        return NULL;
    }
    s->of = d;
    s->queue = queue;
    s->id = (uint16_t)(FIRST_ID + d->n_streams);
    d->stream[d->n_streams++] = s;
    return s;
}

struct ascope_sim_stream *npu_stream_get(struct npu_device *d)
{
    for (uint32_t i = 0; i < d->n_streams; i++)
        if (d->stream[i]->is_free) {
            d->stream[i]->is_free = false;
            return d->stream[i];
        }
    return stream_make(d);
}

static void stream_activate(struct ascope_sim_stream *s)
{
    s->active_at = s->of->n_active++;
    s->of->active[s->active_at] = s;
}

static void stream_rest(struct ascope_sim_stream *s)
{
    struct npu_device *d = s->of;
    struct ascope_sim_stream *last = d->active[--d->n_active];
    d->active[s->active_at] = last;
    last->active_at = s->active_at;
}

static void task_drop(struct npu_task *t)
{
    npu_point_drop(t->after);
    npu_point_drop(t->until);
    npu_point_drop(t->happens);
    npu_meeting_drop(t->comes);
    npu_meeting_drop(t->meets);
}

struct npu_enqueued npu_enqueue(struct ascope_sim_stream *s, struct npu_task *t, uint64_t what)
{
    while (s->n == NPU_QUEUE_TASKS)
        npu_wait();
    if (!npu.has_thread) {
        task_drop(t);
        return (struct npu_enqueued){ .stream = s->id };
    }
    struct npu_device *d = s->of;
    const uint32_t session = (uint32_t)(what >> NPU_SESSION_SHIFT);
    /* The session may have ended since the caller has read `what`: then the task is not recorded. */
    const bool is_recorded = what != 0 && atomic_load(&npu.what) == what;
    t->is_flip = s->had_last_id;
    if (s->had_last_id)
        s->batch++;
    t->id = s->next_task++;
    t->batch = s->batch;
    s->had_last_id = t->id == UINT16_MAX;
    t->arrived = npu_clock_tick(&d->clock, host_clock_raw_ns()) + ON_ITS_WAY;
    t->begin = t->end = NEVER;
    t->session = is_recorded ? session : 0;
    t->what = (uint32_t)what;
    if (!t->after) {
        t->after = s->tail;
        s->tail = NULL;
    }
    npu.n_recorded += is_recorded;
    s->queue[(s->head + s->n++) % NPU_QUEUE_TASKS] = *t;
    s->n_launched++;
    if (s->n == 1) {
        stream_activate(s);
        npu_wake();
    }
    return (struct npu_enqueued){ s->id, t->id, t->batch, t->is_flip, is_recorded };
}

/* ---- records ---- */

void npu_device_put(struct npu_device *d, enum stream_id stream, const uint8_t *rec, size_t bytes)
{
    const struct ring_slot slot = ring_put(stream, d->id, bytes);
    if (!slot.at)
        return;
    memcpy(slot.at, rec, bytes);
    ring_done(slot);
}

static bool is_on(const struct npu_task *t, enum npu_what what)
{
    return t->session != 0 && (t->what & what) != 0;
}

static void log_put(struct ascope_sim_stream *s, const struct npu_task *t, enum sim_stage stage, uint64_t tick)
{
    uint8_t rec[64];
    if (stage == STAGE_BEGIN && t->is_flip && is_on(t, NPU_TASKS)) {
        record_flip(rec, tick - FLIP_BEFORE, s->id, t->batch);
        npu_device_put(s->of, STREAM_TS_TRACK, rec, ts_flip_layout.size);
    }
    if (stage == STAGE_BEGIN && t->mark != 0) {
        record_stamp(rec, &ts_step_layout,
                     &(struct stamp){ tick + MARK_AFTER, t->mark, UINT32_MAX, t->id, s->id, STEP_TAG_MARK });
        npu_device_put(s->of, STREAM_TS_TRACK, rec, ts_step_layout.size);
    }
    if (!is_on(t, NPU_TASKS))
        return;
    record_log(rec, s->of->n_log++, s->id, t->id, t->work.kind, stage, tick);
    npu_device_put(s->of, STREAM_STARS, rec, stars_layout.size);
}

/* The cycles that the cores of a task count: they are busy for 94 % of its time. */
static uint64_t cycles_of(const struct npu_device *d, const struct npu_task *t, uint64_t cores)
{
    enum { AROUND_CONTEXT = 16 }; /* ticks of a mixed task before and after its cores run */
    const uint64_t around = sim_task_kinds[t->work.kind].context != 0 ? AROUND_CONTEXT : 0;
    return (t->end - t->begin - around) * d->core_mhz / NPU_MHZ * cores * 94 / 100 + 1;
}

static void counters_put(struct ascope_sim_stream *s, const struct npu_task *t, const struct layout *l, bool of_cubes,
                         uint32_t bits, uint64_t cores, uint16_t block)
{
    uint8_t rec[128];
    struct counted c = { .stream = s->id,
                         .task = t->id,
                         .kind = t->work.kind,
                         .is_cube = of_cubes,
                         .bits = bits,
                         .begin = t->begin,
                         .end = t->end,
                         .cycles = cycles_of(s->of, t, cores) };
    sim_count(&t->work, c.cycles, npu.event[!of_cubes], npu.n_events[!of_cubes], c.event);
    record_counted(rec, l, s->of->n_pmu++, &c);
    if (l == &pmu_block_layout)
        memcpy(rec + PMU_BLOCK_ID, &block, sizeof block);
    npu_device_put(s->of, STREAM_PMU, rec, l->size);
}

/* A mixed operator has one record for its context, with the counters of its main kind of core, and one for each block
 * on cores of the other kind. */
static void counters_all_put(struct ascope_sim_stream *s, const struct npu_task *t)
{
    const struct chip *chip = chip_simulated(0);
    const struct sim_task_kind *kind = &sim_task_kinds[t->work.kind];
    const bool of_cubes = sim_kind_is_of_cubes(t->work.kind);
    const uint32_t other_cores = of_cubes ? chip->n_vector : chip->n_cube;
    const uint32_t others = (uint32_t)t->work.blocks * kind->other_ratio;
    for (uint32_t i = 0; i < others && i < other_cores; i++)
        counters_put(s, t, &pmu_block_layout, !of_cubes, BITS_MIX | i << 1 | of_cubes, 1, (uint16_t)i);
    counters_put(s, t, &pmu_task_layout, of_cubes,
                 kind->context != 0 ? BITS_MIX
                 : of_cubes         ? 0
                                    : BITS_VECTOR,
                 t->work.blocks, 0);
}

/* Events of the L2 cache: all requests, their two halves, hits in each half, victims. A cache line has 128 bytes. */
static void l2_put(struct ascope_sim_stream *s, const struct npu_task *t)
{
    const uint64_t requests = (t->work.read_bytes + t->work.write_bytes) / 128 + 2, half = requests / 2;
    const uint64_t hits = half * 3 / 4;
    const uint64_t event[COUNTER_EVENTS] = { requests, half, requests - half, hits, hits, (requests - 2 * hits) / 3 };
    uint8_t rec[72];
    record_l2(rec, &(struct task_counted){ s->id, t->id, sim_task_kinds[t->work.kind].log, event });
    npu_device_put(s->of, STREAM_L2, rec, l2_cache_layout.size);
}

/* Events of the address translation: all requests, hits in the small and in the large table, misses of both. A page has
 * 4 KiB. */
static void smmu_put(struct ascope_sim_stream *s, const struct npu_task *t)
{
    const uint64_t pages = (t->work.read_bytes + t->work.write_bytes) / 4096 + 1;
    const uint64_t event[COUNTER_EVENTS] = { 16 * pages, 10 * pages, 4 * pages, pages, pages };
    uint8_t rec[80];
    record_smmu(rec, &smmu_layout, &(struct task_counted){ s->id, t->id, sim_task_kinds[t->work.kind].log, event },
                SMMU_DATA_TRANSLATION);
    npu_device_put(s->of, STREAM_SMMU, rec, smmu_layout.size);
}

static void aicpu_put(struct ascope_sim_stream *s, const struct npu_task *t)
{
    uint8_t rec[256];
    record_aicpu(rec, &(struct aicpu_run){ .stream = s->id,
                                           .task = t->id,
                                           .begin = t->begin,
                                           .end = t->end,
                                           .mhz = NPU_MHZ,
                                           .tick0 = s->of->clock.tick,
                                           .copy_us = 2,
                                           .dispatch_us = 6 });
    npu_device_put(s->of, STREAM_AICPU, rec, aicpu_node_layout.size);
}

static void done_put(struct ascope_sim_stream *s, const struct npu_task *t)
{
    const enum task_kind kind = t->work.kind;
    const bool is_logged = is_on(t, NPU_TASKS); /* counters of a task without a log record could not be assigned */
    if (is_logged && is_on(t, NPU_COUNTERS) && kind <= TASK_MIX_VECTOR)
        counters_all_put(s, t);
    if (is_logged && is_on(t, NPU_L2) && (kind == TASK_CUBE || kind == TASK_VECTOR)) {
        l2_put(s, t);
        smmu_put(s, t);
    }
    if (is_on(t, NPU_AICPU) && kind == TASK_AICPU)
        aicpu_put(s, t);
}

/* ---- the frequency of the cores ---- */

/* A device that was busy for HOT_WINDOWS in a row becomes slower; after a window with little work it is fast again. */
enum { WINDOW_TICKS = 10000 * NPU_MHZ, HOT_WINDOWS = 20, HOT_MHZ = 1650, BUSY_PERCENT = 90, REST_PERCENT = 50 };

static void frequency_put(struct npu_device *d, uint64_t tick)
{
    uint8_t rec[8 + 16 * LPM_MOST]; /* LPM_FIRST and the entries */
    layout_init(&lpm_layout, rec);
    layout_put(&lpm_layout, LPM_COUNT, rec, 1);
    layout_put(&lpm_layout, LPM_KIND, rec, LPM_FREQ);
    layout_put(&lpm_entry_layout, LPM_ENTRY_TIME, rec + LPM_FIRST, tick);
    layout_put(&lpm_entry_layout, LPM_ENTRY_VALUE, rec + LPM_FIRST, d->core_mhz);
    npu_device_put(d, STREAM_LPM, rec, lpm_layout.size);
    d->frequency_recorded = tick;
}

static void frequency_set(struct npu_device *d, uint32_t mhz, uint64_t tick)
{
    if (mhz != d->core_mhz && (npu.recorded & NPU_TASKS)) {
        d->core_mhz = mhz;
        frequency_put(d, tick);
    }
    d->core_mhz = mhz;
}

static void frequency_decide(struct npu_device *d, uint64_t tick)
{
    while (tick >= d->window_end) {
        const uint64_t busy = d->busy_ticks < WINDOW_TICKS ? d->busy_ticks : WINDOW_TICKS;
        d->n_hot = busy * 100 >= WINDOW_TICKS * BUSY_PERCENT ? d->n_hot + 1 : 0;
        if (d->n_hot >= HOT_WINDOWS)
            frequency_set(d, HOT_MHZ, d->window_end);
        else if (busy * 100 < WINDOW_TICKS * REST_PERCENT)
            frequency_set(d, SIM_CORE_MHZ, d->window_end);
        d->busy_ticks -= busy;
        d->window_end += WINDOW_TICKS;
        if (d->busy_ticks == 0 && busy == 0 && tick > d->window_end)
            d->window_end = tick; /* skips a long idle time in one step */
    }
}

/* Adds busy time of the device; the time of streams that overlap counts once. */
static void busy_add(struct npu_device *d, uint64_t begin, uint64_t end)
{
    const uint64_t from = begin > d->busy_until ? begin : d->busy_until;
    if (end > from) {
        d->busy_ticks += end - from;
        d->busy_until = end;
    }
}

/* Records the frequency every second, so that it is known wherever a collection begins. */
static void frequency_record(struct npu_device *d, uint64_t tick)
{
    enum { EVERY_TICKS = 1000000 * NPU_MHZ };
    if ((npu.recorded & NPU_TASKS) && (d->frequency_recorded == 0 || tick > d->frequency_recorded + EVERY_TICKS))
        frequency_put(d, tick);
}

/* ---- what happens next ---- */

static uint64_t tick_of(const struct npu_device *d, uint64_t ns)
{
    return ns <= d->clock.host_ns ? d->clock.tick : npu_clock_tick(&d->clock, ns);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* When a task ends; NEVER: not known yet. A waiting task ends SIGNAL_TICKS after what it waits for. In a collective all
 * ranks leave at the same time: the last one to arrive waits for the signal, too. */
static uint64_t sim_npu_run_end_of(const struct npu_device *d, const struct npu_task *t)
{
    const uint64_t own = t->begin + later(sim_work_ns(&t->work, d->core_mhz) / NPU_NS_PER_TICK, LEAST_TICKS);
    const uint64_t ns = t->meets ? npu_job_all(t->meets) : t->until ? t->until->ns : 0;
    if (ns == NEVER)
        return NEVER;
    const uint64_t signalled = ns == 0 ? 0 : tick_of(d, ns) + SIGNAL_TICKS;
    return t->comes ? signalled : later(own, signalled);
}

static uint64_t next_tick(struct ascope_sim_stream *s)
{
    struct npu_task *t = &s->queue[s->head];
    if (s->stage == STAGE_BEGIN) {
        const uint64_t begin = later(t->arrived, s->free_at + GAP);
        if (!t->after)
            return begin;
        return t->after->ns == NEVER ? NEVER : later(begin, tick_of(s->of, t->after->ns) + SIGNAL_TICKS);
    }
    if (t->end == NEVER)
        t->end = sim_npu_run_end_of(s->of, t);
    if (t->end == NEVER && s->stage != STAGE_CONTEXT_BEGIN)
        return NEVER;
    return stage_tick((enum sim_stage)s->stage, t->begin, t->end);
}

static void task_end(struct ascope_sim_stream *s, struct npu_task *t)
{
    struct npu_device *d = s->of;
    const uint64_t end_ns = npu_clock_ns(&d->clock, t->end);
    npu_traffic_add(d, &t->work);
    if (t->session != 0) {
        npu_iteration_task(s, t);
        done_put(s, t);
        npu.n_recorded--;
    }
    npu_point_happens(t->happens, end_ns);
    task_drop(t);
    s->free_at = t->end;
    s->stage = STAGE_BEGIN;
    s->head = (s->head + 1) % NPU_QUEUE_TASKS;
    s->n_done++;
    if (--s->n == 0)
        stream_rest(s);
}

static void stream_step(struct ascope_sim_stream *s, uint64_t tick)
{
    struct npu_task *t = &s->queue[s->head];
    if (s->stage == STAGE_BEGIN) {
        frequency_decide(s->of, tick);
        t->begin = tick;
        if (t->comes)
            npu_job_come(t->comes, npu_clock_ns(&s->of->clock, tick));
        t->end = sim_npu_run_end_of(s->of, t);
        if (t->work.kind <= TASK_MIX_VECTOR)
            busy_add(s->of, tick, t->end);
        if (t->session != 0)
            frequency_record(s->of, tick);
    }
    if (t->session != npu.session) /* its session has ended without waiting for it */
        t->session = 0;
    if (t->session != 0)
        log_put(s, t, (enum sim_stage)s->stage, tick);
    s->stage = (uint8_t)stage_next((enum sim_stage)s->stage, t->work.kind);
    if (s->stage == STAGES)
        task_end(s, t);
}

/* Processes all events of a device up to `now`. Returns the tick of the next event; NEVER: there is none until somebody
 * launches a task, or another device or rank makes progress. */
static uint64_t device_run(struct npu_device *d, uint64_t now, bool *has_moved)
{
    for (;;) {
        struct ascope_sim_stream *first = NULL;
        uint64_t least = NEVER;
        for (uint32_t i = 0; i < d->n_active; i++) {
            const uint64_t tick = next_tick(d->active[i]);
            if (tick < least) {
                first = d->active[i];
                least = tick;
            }
        }
        const uint64_t sample = npu_samples_next(d);
        if (sample <= now && sample <= least) {
            npu_samples_run(d, now);
            *has_moved = true;
            continue;
        }
        if (!first || least > now)
            return least < sample ? least : sample;
        if (npu.session != 0 && ring_is_short())
            return now; /* rings are nearly full: this thread waits for the writer, so that no launching thread has to
                           drop records */
        stream_step(first, least);
        *has_moved = true;
    }
}

/* ---- the thread ---- */

/* Simulated times do not depend on when the thread runs, so it need not wake for every event: it sleeps at least
 * NAP_NS, less if a thread waits for it, and NAP_BLOCKED_NS if it waits for other ranks. */
enum { NAP_NS = 500000, NAP_WAITED_FOR_NS = 50000, NAP_BLOCKED_NS = 300000 };

static void thread_sleep(uint64_t now_ns, uint64_t until_ns)
{
    npu.sleeps_until_ns = until_ns;
    if (until_ns == NEVER) {
        pthread_cond_wait(&npu.work, &npu.lock);
    } else {
        struct timespec at;
        clock_gettime(CLOCK_MONOTONIC, &at);
        const uint64_t ns = (uint64_t)at.tv_nsec + (until_ns - now_ns);
        at.tv_sec += (time_t)(ns / 1000000000);
        at.tv_nsec = (long)(ns % 1000000000);
        pthread_cond_timedwait(&npu.work, &npu.lock, &at);
    }
    npu.sleeps_until_ns = 0;
}

/* Reports the pending warning without the lock: the receiver may call the simulator. */
static void thread_report(void)
{
    if (npu.message[0] == 0)
        return;
    char text[sizeof npu.message];
    memcpy(text, npu.message, sizeof text);
    npu.message[0] = 0;
    pthread_mutex_unlock(&npu.lock);
    message(ASCOPE_WARNING, "%s", text);
    pthread_mutex_lock(&npu.lock);
}

static void *thread_run(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&npu.lock);
    for (;;) {
        const uint64_t now_ns = host_clock_raw_ns();
        uint64_t next_ns = NEVER;
        bool has_moved, has_work = false, ever = false;
        do { /* an event on one device may be what a task of another device waits for */
            has_moved = has_work = false;
            next_ns = NEVER;
            for (unsigned i = 0; i < npu.n_devices; i++) {
                struct npu_device *d = npu.device[i];
                const uint64_t next = device_run(d, npu_clock_tick(&d->clock, now_ns), &has_moved);
                const uint64_t ns = next == NEVER ? NEVER : npu_clock_ns(&d->clock, next);
                next_ns = ns < next_ns ? ns : next_ns;
                has_work |= d->n_active > 0;
            }
            ever |= has_moved;
        } while (has_moved && npu.n_devices > 1);
        if (ever && npu.n_waiting > 0)
            pthread_cond_broadcast(&npu.progress);
        thread_report();
        if (has_work && next_ns == NEVER)
            next_ns = now_ns + NAP_BLOCKED_NS;
        if (next_ns != NEVER)
            next_ns = later(next_ns, now_ns + (npu.n_waiting > 0 ? NAP_WAITED_FOR_NS : NAP_NS));
        thread_sleep(now_ns, next_ns);
    }
    return NULL;
}

bool npu_thread_start(void)
{
    pthread_t thread;
    const bool is_well = background_thread(&thread, "ascope-npu", thread_run, NULL) == 0;
    if (is_well)
        pthread_detach(thread);
    return is_well;
}

void npu_wake(void)
{
    if (npu.sleeps_until_ns > host_clock_raw_ns() + NAP_NS)
        pthread_cond_signal(&npu.work);
}

void npu_wait(void)
{
    enum { LOOK_AGAIN_S = 1 }; /* callers with a limit of their own check it again after that */
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += LOOK_AGAIN_S;
    npu.n_waiting++;
    if (npu.sleeps_until_ns > 0)
        pthread_cond_signal(&npu.work);
    pthread_cond_timedwait(&npu.progress, &npu.lock, &at);
    npu.n_waiting--;
}

void npu_forget(void)
{
    for (unsigned i = 0; i < npu.n_devices; i++) {
        struct npu_device *d = npu.device[i];
        for (uint32_t k = 0; k < d->n_streams; k++) {
            struct ascope_sim_stream *s = d->stream[k];
            for (; s->n > 0; s->n--, s->head = (s->head + 1) % NPU_QUEUE_TASKS)
                task_drop(&s->queue[s->head]);
            s->n_done = s->n_launched;
            s->stage = STAGE_BEGIN;
        }
        d->n_active = 0;
        npu_samples_forget(d);
    }
    npu.has_thread = false;
    npu.n_waiting = 0;
    npu.sleeps_until_ns = 0;
    npu.session = 0;
    npu.n_recorded = 0;
    atomic_store(&npu.what, 0);
}
