/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim_npu/sim_npu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/options/options.h"
#include "collect/session/host_clock.h"
#include "collect/session/message.h"
#include "device/sim_npu/sim_npu_parts.h"
#include "device/sim_npu/sim_op_args.h"
#include "device/sim_npu/sim_queue.h"
#include "raw/core_events.h"

enum { CLOCK_PART = 1000000 };

uint64_t npu_clock_tick(const struct npu_clock *c, uint64_t host_ns)
{
    const uint64_t unit = (uint64_t)CLOCK_PART * NPU_NS_PER_TICK, ns = host_ns - c->host_ns;
    return c->tick + ns / unit * c->speed + ns % unit * c->speed / unit; /* no product is larger than 2^45 */
}

uint64_t npu_clock_ns(const struct npu_clock *c, uint64_t tick)
{
    const uint64_t unit = (uint64_t)CLOCK_PART * NPU_NS_PER_TICK, ticks = tick - c->tick;
    return c->host_ns + ticks / c->speed * unit + (ticks % c->speed * unit + c->speed - 1) / c->speed;
}

struct npu npu = { .lock = PTHREAD_MUTEX_INITIALIZER };
__thread bool npu_is_inside __attribute__((tls_model("initial-exec")));

/* ---- the lock, and what the first call prepares ---- */

static void conditions_init(void)
{
    pthread_condattr_t with_clock;
    pthread_condattr_init(&with_clock);
    pthread_condattr_setclock(&with_clock, CLOCK_MONOTONIC);
    pthread_cond_init(&npu.work, &with_clock);
    pthread_cond_init(&npu.progress, &with_clock);
    pthread_condattr_destroy(&with_clock);
}

static void fork_before(void)
{
    pthread_mutex_lock(&npu.lock);
}

static void fork_parent(void)
{
    pthread_mutex_unlock(&npu.lock);
}

/* The child has copies of the devices, but no thread: tasks are dropped, and the thread is started by the next call. */
static void fork_child(void)
{
    pthread_mutex_init(&npu.lock, NULL);
    conditions_init();
    npu_exchanges_forget();
    npu_forget();
    npu_job_forget();
}

void npu_lock(void)
{
    pthread_mutex_lock(&npu.lock);
    npu_is_inside = true;
    if (!npu.is_prepared) {
        npu.is_prepared = true;
        conditions_init();
        pthread_atfork(fork_before, fork_parent, fork_child);
        npu_types_name();
    }
    if (!npu.has_thread)
        npu.has_thread = npu_thread_start();
}

void npu_unlock(void)
{
    npu_is_inside = false;
    pthread_mutex_unlock(&npu.lock);
}

long npu_setting(const char *name, long least, long most, long otherwise)
{
    const char *const text = getenv(name);
    char *end = NULL;
    const long value = text ? strtol(text, &end, 10) : otherwise;
    return text && (end == text || *end || value < least || value > most) ? otherwise : value;
}

/* The first device id of this process: devices of different processes on a machine have different ids. */
static unsigned first_id(void)
{
    enum { DEVICES_OF_MACHINE = 8, RANKS_MOST = 1 << 20 };
    const long rank = npu_setting("RANK", 0, RANKS_MOST, 0);
    return (unsigned)npu_setting("LOCAL_RANK", 0, RANKS_MOST, rank % DEVICES_OF_MACHINE);
}

static unsigned devices_asked(void)
{
    return (unsigned)npu_setting("ASCOPE_SIM_DEVICES", 1, NPU_DEVICES_MOST, 1);
}

static void clock_init(struct npu_clock *c, unsigned id)
{
    enum { DRIFT_MOST = 1000 }; /* ppm */
    const long drift = npu_setting("ASCOPE_SIM_DRIFT_PPM", -DRIFT_MOST, DRIFT_MOST, 12 + (long)id % 8 * 3);
    *c = (struct npu_clock){ .host_ns = host_clock_raw_ns(),
                             .tick = 10000000000 + id * 1234567891ull,
                             .mono_ns = 500000000000 + id * 7654321987ull,
                             .speed = (uint32_t)(CLOCK_PART + drift) };
}

/* Prepares a device for a session. Host and device count flips from the start of a collection. */
static void device_start(struct npu_device *d)
{
    d->n_log = d->n_pmu = 0;
    d->frequency_recorded = 0;
    d->iteration.is_open = false;
    d->n_iterations = 0;
    for (uint32_t i = 0; i < d->n_streams; i++)
        d->stream[i]->batch = 0;
}

struct npu_device *npu_device_get(unsigned index)
{
    if (index >= NPU_DEVICES_MOST)
        return NULL;
    while (npu.n_devices <= index) {
        struct npu_device *d = calloc(1, sizeof *d);
        if (!d)
            return NULL;
        d->index = npu.n_devices;
        d->id = first_id() * devices_asked() + d->index;
        clock_init(&d->clock, d->id);
        d->core_mhz = SIM_CORE_MHZ;
        npu_samples_forget(d);
        d->window_end = d->clock.tick;
        if (!npu_stream_get(d)) { /* the default stream, which always exists */
            free(d);
            return NULL;
        }
        npu.device[npu.n_devices++] = d;
        if (npu.session != 0) {
            device_start(d);
            if (npu.keeps)
                npu_samples_first(d);
        }
    }
    return npu.device[index];
}

static unsigned probe(struct error *e)
{
    npu_lock();
    const bool is_there = npu_device_get(devices_asked() - 1) != NULL;
    const unsigned n = npu.n_devices;
    npu_unlock();
    if (!is_there)
        error_no_memory(e, "the simulated device");
    return n;
}

static struct npu_device *device_at(unsigned index, struct error *e)
{
    npu_lock();
    struct npu_device *d = index < npu.n_devices ? npu.device[index] : NULL;
    npu_unlock();
    if (!d)
        error_set(e, FAULT_ASKED, "simulated device %u: does not exist", index);
    return d;
}

static bool sim_npu_describe(unsigned index, struct device_description *out, struct error *e)
{
    const struct npu_device *d = device_at(index, e);
    static struct npu_description npu_is; /* the same for all devices */
    const struct chip *chip = chip_simulated(0);
    if (!d)
        return false;
    npu_is = (struct npu_description){ .platform = chip->platform,
                                       .n_cube = chip->n_cube,
                                       .n_vector = chip->n_vector,
                                       .n_ai_cpu = 6,
                                       .core_mhz = chip->core_mhz,
                                       .vector_mhz = chip->core_mhz };
    *out = (struct device_description){
        .id = (int)d->id, .name = sim_npu_kind.name, .counter_mhz = NPU_MHZ, .is_simulated = true, .npu = &npu_is
    };
    return true;
}

/* Read like a real device: between two readings of the host's clock; the try with the smallest distance between those
 * is used. */
static bool read_clock(unsigned index, struct device_reading *out, struct error *e)
{
    enum { TRIES = 16 };
    struct npu_device *d = device_at(index, e);
    struct device_reading best = { .uncertainty_ns = UINT64_MAX };
    if (!d)
        return false;
    for (int i = 0; i < TRIES; i++) {
        const uint64_t before_ns = host_clock_raw_ns(), before = host_clock_now();
        const uint64_t tick = npu_clock_tick(&d->clock, host_clock_raw_ns());
        const uint64_t after = host_clock_now(), after_ns = host_clock_raw_ns(),
                       half_ns = (after_ns - before_ns + 1) / 2;
        if (half_ns >= best.uncertainty_ns)
            continue;
        best = (struct device_reading){ .host_count = before + (after - before) / 2,
                                        .host_mono_raw_ns = before_ns + half_ns,
                                        .device_count = tick,
                                        .device_mono_ns = d->clock.mono_ns + (tick - d->clock.tick) * NPU_NS_PER_TICK,
                                        .uncertainty_ns = half_ns + NPU_NS_PER_TICK };
    }
    *out = best;
    npu_lock();
    d->read_tick = best.device_count;
    npu_unlock();
    return true;
}

/* ---- sessions ---- */

static uint32_t what_of(uint64_t mask)
{
    const uint64_t level1 = DATA_TASK_L1 | DATA_TASK_L2 | DATA_TASK_L3;
    const struct {
        uint64_t any;
        uint32_t what;
    } row[] = {
        { DATA_TASK_L0 | level1, NPU_TASKS },
        { level1, NPU_NODES },
        { level1 | DATA_AICORE_SHAPE, NPU_TENSORS },
        { level1 | DATA_HCCL, NPU_COMM },
        { DATA_ACL_API, NPU_ACL },
        { DATA_RUNTIME_API, NPU_CALLS },
        { DATA_OP_ATTR | DATA_TASK_L2 | DATA_TASK_L3, NPU_ATTRIBUTES },
        { DATA_AICPU, NPU_AICPU },
        { DATA_METRICS, NPU_COUNTERS },
        { DATA_L2_CACHE, NPU_L2 },
        { DATA_TASK_MEMORY, NPU_MEMORY },
        { DATA_MARKS, NPU_MARKS },
        { DATA_TRAINING, NPU_STEPS },
        { DATA_GE_API_L0 | DATA_GE_API_L1, NPU_GRAPH },
        { DATA_GE_API_L1, NPU_PHASES },
    };
    uint32_t what = 0;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        what |= mask & row[i].any ? row[i].what : 0;
    return mask & DATA_AIC_SAMPLING ? what & ~(uint32_t)NPU_COUNTERS : what;
}

static unsigned events_read(const char *text, uint16_t *event)
{
    unsigned n = 0;
    while (*text && n < PMU_COUNTERS) {
        char *end;
        event[n++] = (uint16_t)strtoul(text, &end, 16);
        text = *end == ',' ? end + 1 : "";
    }
    return n;
}

static void events_choose(const struct ascope_options *o)
{
    npu.n_events[0] = npu.n_events[1] = 0;
    const char *const name = options_metrics_name(o->metrics);
    if (o->custom_events) {
        npu.n_events[0] = events_read(o->custom_events, npu.event[0]);
        npu.n_events[1] = events_read(o->custom_events, npu.event[1]);
        return;
    }
    const struct core_events *m = name ? core_events_find(name, chip_simulated(0)) : NULL;
    if (m) {
        npu.n_events[0] = events_read(m->cube_events, npu.event[0]);
        npu.n_events[1] = events_read(m->vector_events, npu.event[1]);
    }
}

/* Warns about options that the simulated device does not support. */
static void unavailable_report(const struct ascope_options *o, uint64_t mask)
{
    const struct {
        const char *name;
        bool is_on;
    } all[] = {
        { "task_tsfw", mask & DATA_SCHEDULER },
        { "aic_mode=sample-based", mask & DATA_AIC_SAMPLING },
        { "instr_profiling", mask & DATA_INSTRUCTIONS },
        { "task_block", o->task_block },
        { "sys_cpu_freq", o->cpu_hz },
        { "sys_profiling", o->device_usage_hz },
        { "sys_pid_profiling", o->device_process_hz },
        { "sys_lp_freq", o->low_power_hz },
        { "npu_events", o->npu_events },
    };
    char text[240] = "";
    for (size_t i = 0, n = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].is_on)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n > 0 ? ", " : "", all[i].name);
    if (*text)
        message(ASCOPE_WARNING, "simulated device: does not record %s; continuing without it", text);
}

static bool sim_npu_start(const struct ascope_options *o, struct error *e)
{
    (void)e;
    const uint64_t mask = options_data_mask(o);
    const uint32_t what = what_of(mask);
    unavailable_report(o, mask);
    npu_lock();
    npu.session = ++npu.n_sessions;
    npu.recorded = what;
    npu.n_recorded = 0;
    npu.keeps = false;
    npu_samples_choose(o);
    events_choose(o);
    npu_points_choose(o);
    npu_args_start(o->record_op_args);
    for (unsigned i = 0; i < npu.n_devices; i++)
        device_start(npu.device[i]);
    atomic_store(&npu.what, (uint64_t)npu.session << NPU_SESSION_SHIFT | what);
    npu_wake();
    npu_unlock();
    return true;
}

static void kept(void)
{
    npu_lock();
    npu.keeps = true;
    npu_args_keep();
    for (unsigned i = 0; i < npu.n_devices; i++) {
        npu.device[i]->frequency_recorded = 0; /* the record of a warm-up was dropped */
        npu_samples_first(npu.device[i]);
    }
    npu_wake();
    npu_unlock();
}

/* Waits for the tasks that were launched during the recording. Those that do not end within a minute are left out and
 * reported. */
static bool sim_npu_stop(struct error *e)
{
    enum { LONGEST_S = 60 };
    (void)e;
    npu_lock();
    npu_exchanges_release();
    npu_unlock();
    sim_queue_wait(); /* operators that were queued during the recording are launched before it stops */
    npu_lock();
    atomic_store(&npu.what, 0);
    npu_exchanges_release();
    const uint64_t until_ns = host_clock_raw_ns() + LONGEST_S * UINT64_C(1000000000);
    while (npu.n_recorded > 0 && host_clock_raw_ns() < until_ns)
        npu_wait();
    const uint64_t n_left = npu.n_recorded;
    npu.keeps = false;
    for (unsigned i = 0; i < npu.n_devices; i++)
        npu_samples_last(npu.device[i]);
    npu.session = 0;
    npu.recorded = 0;
    npu.n_recorded = 0;
    npu_unlock();
    if (n_left > 0)
        message(ASCOPE_WARNING, "simulated device: %llu tasks did not end within %d s; they are not recorded",
                (unsigned long long)n_left, LONGEST_S);
    return true;
}

static void examine(finding_report *report, void *to)
{
    const struct machine_finding f = {
        .state = FINDING_OK,
        .name = "simulated NPU",
        .fact = "built in",
        .effect = "records simulated tasks of programs that select it; auto never selects it",
        .advice = "to try the recorder without a device: device=sim",
    };
    report(to, &f);
}

const struct device_kind sim_npu_kind = {
    .name = "sim",
    .what = "a simulated NPU",
    .probe = probe,
    .describe = sim_npu_describe,
    .read_clock = read_clock,
    .start = sim_npu_start,
    .kept = kept,
    .stop = sim_npu_stop,
    .mark = npu_mark,
    .stream = npu_mark_stream,
    .op_args = npu_args_write,
    .examine = examine,
};
