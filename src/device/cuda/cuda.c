/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/cuda.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process/limited_call.h"
#include "collect/ring/ring.h"
#include "collect/session/host_clock.h"
#include "collect/session/message.h"
#include "device/cuda/cupti_library.h"

enum { NO_GUESS = -1 };
static const double CUPTI_MHZ = 1000; /* its clock counts ns */

static struct {
    struct cupti_calls calls;
    struct cuda_found found[CUDA_LIBRARIES];
    bool was_loaded, is_whole;
    uint32_t version; /* of CUPTI */
    pid_t process;    /* the process that has loaded CUDA; a child of it cannot use it */
    bool records, is_in_init;
    bool is_lost;           /* a call did not return: CUDA is not used again in this process */
    char lost_call[100];    /* which call, and for how long */
    const char *_Atomic in; /* the name of the current call, for the message if it does not return */
    struct device_reading last_read;
    unsigned id[CUDA_DEVICES]; /* of the recorded devices, in the order in which they appeared */
    unsigned n;
    int guess; /* the id of a device that is recorded on a guess: see forget(); NO_GUESS: none */
    struct gpu_description is[CUDA_DEVICES]; /* by id */
} gpu = { .guess = NO_GUESS };

/* Sessions begin and end on one thread, captures on others. */
static pthread_mutex_t gpu_use = PTHREAD_MUTEX_INITIALIZER;

static const char *cupti_error(int32_t code)
{
    static char text[120];
    const char *words = NULL;
    if (code == CUPTI_MULTIPLE_SUBSCRIBERS || code == CUPTI_MAX_LIMIT)
        snprintf(text, sizeof text, "error %d, another profiler uses CUPTI in this process (torch.profiler, nsys)",
                 code);
    else if (gpu.calls.error_text && gpu.calls.error_text(code, &words) == 0 && words)
        snprintf(text, sizeof text, "error %d, %.80s", code, words);
    else
        snprintf(text, sizeof text, "error %d", code);
    return text;
}

/* ---- calls with a limit ---- */

/* Runs a function that calls the vendor's libraries on a thread of its own, with a limit. Its argument must be static:
 * if the call does not return, that thread goes on using it. */
static bool limited(void (*job)(void *), void *of, struct error *e)
{
    const uint32_t limit_s = cuda_limit_s();
    if (gpu.is_lost)
        return error_set(e, FAULT_LIMIT, "%s earlier; not used again in this process", gpu.lost_call);
    if (gpu.is_in_init) {
        job(of);
        return true;
    }
    if (limited_call(job, of, limit_s))
        return true;
    gpu.is_lost = true;
    const char *const in = atomic_load(&gpu.in);
    snprintf(gpu.lost_call, sizeof gpu.lost_call, "%s did not return within %u s", in ? in : "a call", limit_s);
    return error_set(e, FAULT_LIMIT, "%s", gpu.lost_call);
}

static bool limited_or_named(void (*job)(void *), void *of, struct error *e)
{
    struct error why = { 0 };
    return limited(job, of, &why) || error_set(e, FAULT_LIMIT, "device cuda: %s", why.text);
}

static void in_call(const char *name)
{
    atomic_store_explicit(&gpu.in, name, memory_order_relaxed); /* for a message, nothing else */
}

void cuda_in_init(bool is_in_init)
{
    gpu.is_in_init = is_in_init;
}

/* ---- libraries and devices ---- */

static void load_job(void *unused)
{
    (void)unused;
    in_call("dlopen");
    gpu.is_whole = cupti_load(&gpu.calls, gpu.found);
    in_call("cuptiGetVersion");
    if (gpu.is_whole && gpu.calls.version(&gpu.version) != 0)
        gpu.version = 0;
}

static bool load(struct error *e)
{
    if (gpu.process != 0 && gpu.process != getpid())
        return error_set(e, FAULT_ASKED, "CUDA cannot be used in a process that was forked from one that uses it");
    gpu.process = getpid();
    if (!gpu.was_loaded && !cuda_is_loaded() && !cuda_can_load(e))
        return false;
    if (!gpu.was_loaded && !limited(load_job, NULL, e))
        return false;
    gpu.was_loaded = true;
    for (int i = 0; i < CUDA_LIBRARIES && !gpu.is_whole; i++) {
        static const char *const name[] = { [CUDA_CUPTI] = "libcupti.so", [CUDA_DRIVER] = "libcuda.so.1" };
        char absence[200];
        cuda_absence(&gpu.found[i], name[i], absence, sizeof absence);
        if (!gpu.found[i].is_found)
            return error_set(e, FAULT_ASKED, "%s", absence);
        if (*gpu.found[i].missing)
            return error_set(e, FAULT_ASKED, "%.200s has no %s", gpu.found[i].path, gpu.found[i].missing);
    }
    return gpu.version >= CUPTI_LEAST_VERSION ||
           error_set(e, FAULT_ASKED, "%.200s: version %u is too old; CUDA 10.2 or newer is needed",
                     gpu.found[CUDA_CUPTI].path, gpu.version);
}

static void cuda_add_device(unsigned id)
{
    if ((int)id == gpu.guess)
        gpu.guess = NO_GUESS;
    for (unsigned i = 0; i < gpu.n; i++)
        if (gpu.id[i] == id)
            return;
    if (gpu.n < CUDA_DEVICES)
        gpu.id[gpu.n++] = id;
}

/* Adds devices with a context of this process and devices that had records; if there are none, the one that this rank
 * will probably use, as a guess. */
static void devices_find(void *count)
{
    int32_t *const found = count;
    in_call("cuDeviceGetCount");
    const int32_t n = *found = gpu.is_in_init ? CUDA_DEVICES : cuda_count(&gpu.calls);
    in_call("cuDevicePrimaryCtxGetState");
    for (int32_t i = 0; i < n && i < CUDA_DEVICES && gpu.calls.context_state && !gpu.is_in_init; i++) {
        uint32_t flags = 0;
        int32_t is_active = 0;
        if (gpu.calls.context_state(i, &flags, &is_active) == 0 && is_active)
            cuda_add_device((unsigned)i);
    }
    const uint64_t seen = buffers_devices();
    for (unsigned i = 0; i < CUDA_DEVICES; i++)
        if (seen & UINT64_C(1) << i)
            cuda_add_device(i);
    if (gpu.n == 0 && n > 0) {
        const char *const rank = getenv("LOCAL_RANK");
        const unsigned long local = rank ? strtoul(rank, NULL, 10) : 0;
        cuda_add_device(local < (unsigned long)n && local < CUDA_DEVICES ? (unsigned)local : 0);
        gpu.guess = (int)gpu.id[0];
    }
}

static bool forget(unsigned index)
{
    if (index >= gpu.n || gpu.n == 1 || gpu.guess != (int)gpu.id[index])
        return false;
    gpu.guess = NO_GUESS;
    memmove(gpu.id + index, gpu.id + index + 1, (--gpu.n - index) * sizeof *gpu.id);
    return true;
}

static bool is_used(struct error *e)
{
    return cuda_is_loaded() || error_set(e, FAULT_ASKED, "no library of CUDA is loaded in this process");
}

static unsigned probe(struct error *e)
{
    static int32_t n;
    pthread_mutex_lock(&gpu_use);
    const bool is_there = load(e);
    pthread_mutex_unlock(&gpu_use);
    if (!is_there || !limited(devices_find, &n, e))
        return 0;
    if (n <= 0) {
        error_set(e, FAULT_ASKED, "the driver has no device");
        return 0;
    }
    return gpu.n;
}

/* Asks the driver for the properties of a device. It answers only after the program has initialised it. */
static void facts_read(void *which)
{
    enum { KHZ = 1000 };
    const unsigned id = *(const unsigned *)which;
    if (gpu.is_in_init) /* they are read when the recording stops */
        return;
    in_call("cuDeviceGetAttribute");
    struct gpu_description *const g = &gpu.is[id];
    const struct {
        int32_t attribute;
        uint32_t *to;
        int32_t per;
    } row[] = {
        { 16, &g->n_sm, 1 },       { 13, &g->core_mhz, KHZ },    { 36, &g->memory_mhz, KHZ },
        { 37, &g->bus_bits, 1 },   { 75, &g->capability[0], 1 }, { 76, &g->capability[1], 1 },
        { 39, &g->sm_threads, 1 }, { 82, &g->sm_registers, 1 },  { 81, &g->sm_shared_bytes, 1 },
        { 106, &g->sm_blocks, 1 }, { 10, &g->warp_threads, 1 },  { 111, &g->block_reserved_bytes, 1 },
    };
    if (gpu.calls.device_name && gpu.calls.device_name(g->name, (int32_t)sizeof g->name, (int32_t)id) != 0)
        g->name[0] = '\0';
    g->name[sizeof g->name - 1] = '\0';
    for (size_t i = 0; i < sizeof row / sizeof *row && gpu.calls.device_attribute; i++) {
        int32_t value = 0;
        if (gpu.calls.device_attribute(&value, row[i].attribute, (int32_t)id) == 0 && value > 0)
            *row[i].to = (uint32_t)(value / row[i].per);
    }
    size_t bytes = 0;
    if (gpu.calls.device_bytes && gpu.calls.device_bytes(&bytes, (int32_t)id) == 0)
        g->memory_bytes = bytes;
}

static bool cuda_describe(unsigned index, struct device_description *out, struct error *e)
{
    if (index >= gpu.n)
        return error_set(e, FAULT_ASKED, "device cuda: there is no device %u", index);
    const unsigned id = gpu.id[index];
    if (!limited_or_named(facts_read, &gpu.id[index], e))
        return false;
    *out = (struct device_description){
        .id = (int)id, .name = cuda_kind.name, .counter_mhz = CUPTI_MHZ, .gpu = &gpu.is[id]
    };
    return true;
}

/* CUPTI converts the times of all devices to one clock. It is read between two readings of the host's clock; the
 * reading with the smallest distance between those is used. */
static void read_clock_job(void *result)
{
    enum { TRIES = 32 };
    int32_t *const code = result;
    struct device_reading best = { .uncertainty_ns = UINT64_MAX };
    for (int i = 0; i < TRIES; i++) {
        uint64_t ns = 0;
        const uint64_t before_ns = host_clock_raw_ns(), before = host_clock_now();
        in_call("cuptiGetTimestamp");
        *code = gpu.calls.timestamp(&ns);
        const uint64_t after = host_clock_now(), after_ns = host_clock_raw_ns();
        const uint64_t half_ns = (after_ns - before_ns + 1) / 2;
        if (*code != 0)
            return;
        if (half_ns < best.uncertainty_ns)
            best = (struct device_reading){ .host_count = before + (after - before) / 2,
                                            .host_mono_raw_ns = before_ns + half_ns,
                                            .device_count = ns,
                                            .device_mono_ns = ns,
                                            .uncertainty_ns = half_ns };
    }
    gpu.last_read = best;
}

static bool read_clock(unsigned index, struct device_reading *out, struct error *e)
{
    static int32_t code;
    (void)index;
    if (!limited_or_named(read_clock_job, &code, e))
        return false;
    *out = gpu.last_read;
    return code == 0 || error_set(e, FAULT_IO, "device cuda: cuptiGetTimestamp: %s", cupti_error(code));
}

/* ---- life ---- */

static void kinds_disable(void)
{
    for (const uint32_t *kind = cupti_activities; *kind; kind++)
        gpu.calls.disable((int32_t)*kind);
    for (const uint32_t *kind = cupti_memory_activities; *kind; kind++)
        gpu.calls.disable((int32_t)*kind);
}

static int32_t kinds_enable(bool with_memory)
{
    int32_t code = gpu.calls.register_buffers(buffers_wanted, buffers_done);
    for (const uint32_t *kind = cupti_activities; *kind && code == 0; kind++)
        code = gpu.calls.enable((int32_t)*kind);
    for (const uint32_t *kind = cupti_memory_activities; with_memory && *kind && code == 0; kind++)
        gpu.calls.enable((int32_t)*kind);
    return code;
}

static bool begun_with_memory;

/* Starts CUPTI. The text is the reason why it does not record; "": it does. */
static void cuda_begin(void *text)
{
    char *const why = text;
    in_call("cuptiSubscribe");
    int32_t code = launches_start(&gpu.calls); /* first, because it fails if another profiler uses CUPTI */
    *why = '\0';
    if (code != 0) {
        snprintf(why, 200, "cuptiSubscribe: %s", cupti_error(code));
        return;
    }
    if (!buffers_start(&gpu.calls, gpu.version)) {
        snprintf(why, 200, "there are no buffers for its records, or no thread that reads them");
        launches_stop(&gpu.calls);
        return;
    }
    in_call("cuptiActivityEnable");
    code = kinds_enable(begun_with_memory);
    if (code == 0)
        return;
    snprintf(why, 200, "cuptiActivityEnable: %s", cupti_error(code));
    kinds_disable();
    buffers_stop();
    launches_stop(&gpu.calls);
}

static uint64_t devices_mask(void)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < gpu.n; i++)
        mask |= UINT64_C(1) << gpu.id[i];
    return mask;
}

static bool cuda_start(const struct ascope_options *o, struct error *e)
{
    static char why[200];
    begun_with_memory = o->profile_memory;
    pthread_mutex_lock(&gpu_use);
    const bool has_answered = limited_or_named(cuda_begin, why, e);
    gpu.records = has_answered && !*why;
    pthread_mutex_unlock(&gpu_use);
    if (!has_answered)
        return false;
    if (!gpu.records)
        return error_set(e, FAULT_ASKED, "device cuda: %s", why);
    launches_name();
    nvml_start(&gpu.calls, devices_mask());
    return true;
}

/* Records in CUPTI's buffers that began before now are of the warm-up. */
static void kept(void)
{
    uint64_t now_ns = 0;
    if (gpu.records && !gpu.is_lost && gpu.calls.timestamp(&now_ns) != 0)
        now_ns = 0;
    buffers_keep_from(now_ns);
}

/* Waits until everything that was launched has ended. Errors of a device are ignored: the program sees them in its own
 * calls. */
static void devices_wait(void)
{
    const struct cupti_calls *const c = &gpu.calls;
    if (!c->context_state || !c->context_retain || !c->context_release || !c->context_push || !c->context_pop ||
        !c->context_wait)
        return;
    int32_t n = 0;
    for (int32_t i = 0; c->device_count(&n) == 0 && i < n && i < CUDA_DEVICES; i++) {
        uint32_t flags = 0;
        int32_t is_active = 0;
        void *context = NULL;
        if (c->context_state(i, &flags, &is_active) != 0 || !is_active || c->context_retain(&context, i) != 0)
            continue;
        if (c->context_push(context) == 0) {
            c->context_wait();
            c->context_pop(&context);
        }
        c->context_release(i);
    }
}

static void end(void *of)
{
    struct buffer_losses *const lost = of;
    in_call("cuCtxSynchronize");
    if (!nodes_are_watched()) /* it would end a capture in another thread */
        devices_wait();
    in_call("cuptiActivityFlushAll");
    kinds_disable();
    gpu.calls.flush(1);
    *lost = buffers_stop();
    in_call("cuptiFinalize");
    launches_end(&gpu.calls, devices_wait);
    for (unsigned i = 0; i < gpu.n; i++)
        facts_read(&gpu.id[i]);
}

static bool cuda_stop(struct error *e)
{
    static struct buffer_losses lost;
    struct error late = { 0 };
    (void)e;
    if (!gpu.records || gpu.process != getpid())
        return true;
    gpu.records = false;
    nvml_ask_stop();
    pthread_mutex_lock(&gpu_use);
    const bool is_well = limited_or_named(end, &lost, &late);
    pthread_mutex_unlock(&gpu_use);
    if (!is_well) {
        lost = (struct buffer_losses){ 0, 0 };
        buffers_keep_from(UINT64_MAX); /* late records belong to no session */
        message(ASCOPE_WARNING,
                "%s; what CUPTI has not reported yet is missing, and CUDA is not recorded again in this process",
                late.text);
    }
    nvml_stop(cuda_limit_s());
    if (lost.n_dropped + lost.n_unusable > 0)
        ring_count_dropped(STREAM_CUDA, lost.n_dropped + lost.n_unusable);
    if (lost.n_dropped > 0)
        message(ASCOPE_WARNING, "device cuda: CUPTI dropped %llu records: all buffers were full",
                (unsigned long long)lost.n_dropped);
    if (lost.n_unusable > 0)
        message(ASCOPE_WARNING,
                "device cuda: %llu records of CUPTI cannot be used (no times, incomplete, or of a device above %d); "
                "they are missing in the recording",
                (unsigned long long)lost.n_unusable, CUDA_DEVICES - 1);
    return is_well;
}

/* ---- captured graphs ---- */

static unsigned n_watching; /* under gpu_use */

static void watch_begin(void *code)
{
    in_call("cuptiSubscribe");
    *(int32_t *)code = nodes_start(&gpu.calls);
}

static void watch_end(void *unused)
{
    (void)unused;
    in_call("cuptiFinalize");
    nodes_end(&gpu.calls);
}

/* Several threads may capture at a time. */
static bool watch_graphs(bool is_on, struct error *e)
{
    static int32_t code;
    bool is_well = true;
    pthread_mutex_lock(&gpu_use);
    if (is_on && n_watching == 0) {
        is_well = load(e) && (gpu.calls.node_id || error_set(e, FAULT_ASKED, "this CUPTI does not know nodes"));
        is_well = is_well && limited(watch_begin, &code, e) &&
                  (code == 0 || error_set(e, FAULT_ASKED, "cuptiSubscribe: %s", cupti_error(code)));
    }
    if (is_well && (is_on || n_watching > 0))
        n_watching += is_on ? 1 : -1u;
    if (!is_on && n_watching == 0 && nodes_are_watched())
        is_well = limited(watch_end, NULL, e);
    pthread_mutex_unlock(&gpu_use);
    return is_well;
}

const struct device_kind cuda_kind = {
    .name = "cuda",
    .what = "GPUs of NVIDIA",
    .is_real = true,
    .is_used = is_used,
    .probe = probe,
    .describe = cuda_describe,
    .forget = forget,
    .read_clock = read_clock,
    .start = cuda_start,
    .kept = kept,
    .stop = cuda_stop,
    .watch_graphs = watch_graphs,
    .examine = cuda_examine,
};
