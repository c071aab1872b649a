/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/cuda.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process/background.h"
#include "collect/ring/ring.h"
#include "collect/session/host_clock.h"
#include "collect/session/message.h"
#include "raw/cuda_records.h"

/* ---- the library ---- */

static const char library_name[] = "libnvidia-ml.so.1";

/* As the vendor's header lays them out. */
struct memory_answer {
    unsigned long long total, free, used;
};
struct load_answer {
    unsigned gpu, memory; /* percent */
};
struct field_answer {
    unsigned id, scope;
    long long at_us, took_us;
    int32_t type, error;
    union {
        double real;
        unsigned u32;
        unsigned long ulong_is;
        unsigned long long u64;
        long long i64;
    } value;
};
enum { TYPE_REAL, TYPE_U32, TYPE_ULONG, TYPE_U64, TYPE_I64 };
enum { FIELD_NVLINK_TX_KIB = 138, FIELD_NVLINK_RX_KIB = 139, FIELD_POWER_MW = 186 };
enum { FIELD_PCIE_TX_BYTES = 197, FIELD_PCIE_RX_BYTES = 198 };
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, SENSOR_GPU = 0, PCIE_TX = 0, PCIE_RX = 1 };

static struct nvml_calls {
    int32_t (*init)(void);
    int32_t (*shutdown)(void);
    int32_t (*count)(unsigned *n);
    int32_t (*by_bus)(const char *bus, void **device);
    int32_t (*by_index)(unsigned index, void **device);
    int32_t (*clock)(void *device, int32_t type, unsigned *mhz);
    int32_t (*power)(void *device, unsigned *mw);
    int32_t (*temperature)(void *device, int32_t sensor, unsigned *c);
    int32_t (*memory)(void *device, struct memory_answer *bytes);
    int32_t (*load)(void *device, struct load_answer *percent);
    int32_t (*fields)(void *device, int32_t n, struct field_answer *values);
    int32_t (*pcie)(void *device, int32_t direction, unsigned *kb_per_s); /* takes 20 ms */
} nvml;

#define AT(function) offsetof(struct nvml_calls, function)
static const struct {
    const char *name;
    size_t at;
    bool is_needed;
} functions[] = {
    { "nvmlInit_v2", AT(init), true },
    { "nvmlShutdown", AT(shutdown), true },
    { "nvmlDeviceGetCount_v2", AT(count), true },
    { "nvmlDeviceGetHandleByPciBusId_v2", AT(by_bus), false },
    { "nvmlDeviceGetHandleByIndex_v2", AT(by_index), true },
    { "nvmlDeviceGetClockInfo", AT(clock), false },
    { "nvmlDeviceGetPowerUsage", AT(power), false },
    { "nvmlDeviceGetTemperature", AT(temperature), false },
    { "nvmlDeviceGetMemoryInfo", AT(memory), false },
    { "nvmlDeviceGetUtilizationRates", AT(load), false },
    { "nvmlDeviceGetFieldValues", AT(fields), false },
    { "nvmlDeviceGetPcieThroughput", AT(pcie), false },
};

static bool library_load(struct cuda_found *f)
{
    void *const handle = dlopen(library_name, RTLD_LAZY | RTLD_LOCAL);
    const char *const why = handle ? NULL : dlerror();
    *f = (struct cuda_found){ .is_found = handle };
    snprintf(f->path, sizeof f->path, "%s", library_name);
    snprintf(f->reason, sizeof f->reason, "%.290s", why ? why : "");
    for (size_t i = 0; handle && i < sizeof functions / sizeof *functions; i++) {
        void *const function = dlsym(handle, functions[i].name);
        memcpy((char *)&nvml + functions[i].at, &function, sizeof function);
        if (!function && functions[i].is_needed && !*f->missing)
            snprintf(f->missing, sizeof f->missing, "%s", functions[i].name);
    }
    return handle && !*f->missing;
}

bool nvml_look(struct cuda_found *found, uint32_t *n)
{
    unsigned count = 0;
    if (!library_load(found))
        return false;
    const int32_t code = nvml.init();
    if (code != 0) {
        snprintf(found->reason, sizeof found->reason, "nvmlInit_v2: error %d", code);
        return false;
    }
    *n = nvml.count(&count) == 0 ? count : 0;
    nvml.shutdown();
    return true;
}

/* ---- one sample ---- */

enum { RATES = GPU_SAMPLE_FIELDS - GPU_SAMPLE_PCIE_TX };

static struct {
    struct background thread;
    bool runs, is_lost;
    _Atomic bool ends;
    const char *_Atomic in; /* the name of the current call, for the message if it does not return */
    uint64_t devices;
    const struct cupti_calls *cuda;
    struct {
        bool was_looked_for, has_fields;
        void *handle;                               /* NULL: NVML does not know the device */
        uint64_t counted[RATES], counted_ns[RATES]; /* the last value of each byte counter, and when it was read */
    } gpu[CUDA_DEVICES];
} sampler;

struct sample {
    uint64_t value[GPU_SAMPLE_FIELDS];
};

static void has(struct sample *s, unsigned field, uint64_t value)
{
    s->value[field] = value;
    s->value[GPU_SAMPLE_HAS] |= UINT64_C(1) << (field - GPU_SAMPLE_FIRST);
}

/* Notes the name of the next call. False: the function does not exist, or the thread has to end. */
static bool calls(bool is_there, const char *name)
{
    atomic_store_explicit(&sampler.in, name, memory_order_relaxed);
    return is_there && !atomic_load(&sampler.ends);
}

/* Stores the rate of a byte counter since it was read last. A counter that became smaller was reset or has wrapped: no
 * rate. */
static void rate(struct sample *s, unsigned device, unsigned field, uint64_t counted)
{
    const unsigned i = field - GPU_SAMPLE_PCIE_TX;
    const uint64_t now_ns = steady_ns(), before_ns = sampler.gpu[device].counted_ns[i],
                   before = sampler.gpu[device].counted[i];
    sampler.gpu[device].counted[i] = counted;
    sampler.gpu[device].counted_ns[i] = now_ns;
    if (before_ns != 0 && now_ns > before_ns && counted >= before)
        has(s, field, (uint64_t)((double)(counted - before) * 1e9 / (double)(now_ns - before_ns)));
}

static uint64_t field_value(const struct field_answer *f)
{
    switch (f->type) {
    case TYPE_REAL: return f->value.real > 0 ? (uint64_t)f->value.real : 0;
    case TYPE_U32: return f->value.u32;
    case TYPE_ULONG: return f->value.ulong_is;
    default: return f->value.u64;
    }
}

/* Newer drivers return several values in one fast call, where the functions for single values take milliseconds. */
static void ask_fields(unsigned device, struct sample *s)
{
    enum { ALL_LINKS = -1, KIB = 1024 };
    struct field_answer f[] = {
        { .id = FIELD_POWER_MW },
        { .id = FIELD_PCIE_TX_BYTES },
        { .id = FIELD_PCIE_RX_BYTES },
        { .id = FIELD_NVLINK_TX_KIB, .scope = (unsigned)ALL_LINKS },
        { .id = FIELD_NVLINK_RX_KIB, .scope = (unsigned)ALL_LINKS },
    };
    enum { N = sizeof f / sizeof *f };
    static const struct {
        uint8_t field;
        uint16_t unit;
    } to[N] = { { GPU_SAMPLE_POWER_MW, 1 },
                { GPU_SAMPLE_PCIE_TX, 1 },
                { GPU_SAMPLE_PCIE_RX, 1 },
                { GPU_SAMPLE_NVLINK_TX, KIB },
                { GPU_SAMPLE_NVLINK_RX, KIB } };
    if (!calls(nvml.fields, "nvmlDeviceGetFieldValues") || nvml.fields(sampler.gpu[device].handle, N, f) != 0)
        return;
    for (size_t i = 0; i < N; i++) {
        if (f[i].error != 0)
            continue;
        if (to[i].field == GPU_SAMPLE_POWER_MW)
            has(s, to[i].field, field_value(&f[i]));
        else
            rate(s, device, to[i].field, field_value(&f[i]) * to[i].unit);
        sampler.gpu[device].has_fields |= f[i].id == FIELD_PCIE_TX_BYTES;
    }
}

static void ask_links(unsigned device, struct sample *s)
{
    void *const handle = sampler.gpu[device].handle;
    unsigned kb = 0;
    if (sampler.gpu[device].has_fields)
        return;
    if (calls(nvml.pcie, "nvmlDeviceGetPcieThroughput") && nvml.pcie(handle, PCIE_TX, &kb) == 0)
        has(s, GPU_SAMPLE_PCIE_TX, (uint64_t)kb * 1000);
    if (calls(nvml.pcie, "nvmlDeviceGetPcieThroughput") && nvml.pcie(handle, PCIE_RX, &kb) == 0)
        has(s, GPU_SAMPLE_PCIE_RX, (uint64_t)kb * 1000);
}

static void ask_state(unsigned device, struct sample *s)
{
    void *const handle = sampler.gpu[device].handle;
    unsigned value = 0;
    struct memory_answer memory;
    struct load_answer load;
    if (calls(nvml.clock, "nvmlDeviceGetClockInfo") && nvml.clock(handle, CLOCK_SM, &value) == 0)
        has(s, GPU_SAMPLE_SM_MHZ, value);
    if (calls(nvml.clock, "nvmlDeviceGetClockInfo") && nvml.clock(handle, CLOCK_MEMORY, &value) == 0)
        has(s, GPU_SAMPLE_MEMORY_MHZ, value);
    if (calls(nvml.temperature, "nvmlDeviceGetTemperature") && nvml.temperature(handle, SENSOR_GPU, &value) == 0)
        has(s, GPU_SAMPLE_TEMPERATURE_C, value);
    if (calls(nvml.memory, "nvmlDeviceGetMemoryInfo") && nvml.memory(handle, &memory) == 0) {
        has(s, GPU_SAMPLE_USED_BYTES, memory.used);
        has(s, GPU_SAMPLE_TOTAL_BYTES, memory.total);
    }
    if (calls(nvml.load, "nvmlDeviceGetUtilizationRates") && nvml.load(handle, &load) == 0) {
        has(s, GPU_SAMPLE_BUSY_PERCENT, load.gpu);
        has(s, GPU_SAMPLE_MEMORY_BUSY_PERCENT, load.memory);
    }
    ask_fields(device, s);
    const bool has_power = s->value[GPU_SAMPLE_HAS] & UINT64_C(1) << (GPU_SAMPLE_POWER_MW - GPU_SAMPLE_FIRST);
    if (!has_power && calls(nvml.power, "nvmlDeviceGetPowerUsage") && nvml.power(handle, &value) == 0)
        has(s, GPU_SAMPLE_POWER_MW, value);
    ask_links(device, s);
}

static void sample_put(unsigned device, const struct sample *s)
{
    const struct layout *const l = &gpu_sample_layout;
    if (s->value[GPU_SAMPLE_HAS] == 0)
        return;
    const struct ring_slot slot = ring_put(STREAM_GPU, device, l->size);
    if (!slot.at)
        return;
    layout_init(l, slot.at);
    for (unsigned i = 0; i < GPU_SAMPLE_FIELDS; i++)
        layout_put(l, i, slot.at, s->value[i]);
    ring_done(slot);
}

/* ---- the thread ---- */

/* CUDA numbers the GPUs that the program may see, NVML those of the machine: both know the PCI bus id. */
static void device_find(unsigned device)
{
    char bus[32] = "";
    void *handle = NULL;
    const bool has_bus = sampler.cuda->device_bus && nvml.by_bus;
    if (has_bus && sampler.cuda->device_bus(bus, (int32_t)sizeof bus, (int32_t)device) != 0)
        return; /* the program has not initialised CUDA yet */
    if (has_bus ? nvml.by_bus(bus, &handle) != 0 : nvml.by_index(device, &handle) != 0)
        handle = NULL;
    sampler.gpu[device].handle = handle;
    sampler.gpu[device].was_looked_for = true;
}

static void samples_take(void)
{
    const uint64_t devices = sampler.devices | buffers_devices();
    for (unsigned i = 0; i < CUDA_DEVICES && !atomic_load(&sampler.ends); i++) {
        struct sample s = { 0 };
        if (!(devices & UINT64_C(1) << i))
            continue;
        if (!sampler.gpu[i].was_looked_for && calls(true, "nvmlDeviceGetHandleByPciBusId_v2"))
            device_find(i);
        if (!sampler.gpu[i].handle)
            continue;
        s.value[GPU_SAMPLE_TIME] = host_clock_now();
        ask_state(i, &s);
        sample_put(i, &s);
    }
}

static void *sampler_run(void *unused)
{
    enum { PERIOD_NS = 100000000 };
    static bool is_open; /* NVML stays open until the process ends: opening it takes longer than a short recording */
    (void)unused;
    ring_prepare();
    background_begun(&sampler.thread);
    if (!is_open && calls(true, "nvmlInit_v2"))
        is_open = nvml.init() == 0;
    for (uint64_t next_ns = steady_ns(); is_open && background_pause(&sampler.thread, next_ns); next_ns += PERIOD_NS)
        samples_take();
    return NULL;
}

bool nvml_start(const struct cupti_calls *c, uint64_t devices)
{
    static struct cuda_found found;
    static bool was_loaded, is_whole;
    if (sampler.is_lost)
        return false;
    if (!was_loaded)
        is_whole = library_load(&found);
    was_loaded = true;
    if (!is_whole)
        return false;
    sampler.cuda = c;
    sampler.devices = devices;
    memset(sampler.gpu, 0, sizeof sampler.gpu);
    atomic_store(&sampler.ends, false);
    sampler.runs = background_start(&sampler.thread, "ascope-nvml", sampler_run, NULL) == 0;
    return sampler.runs;
}

void nvml_ask_stop(void)
{
    if (!sampler.runs)
        return;
    atomic_store(&sampler.ends, true);
    background_ask_stop(&sampler.thread);
}

void nvml_stop(uint32_t limit_s)
{
    if (!sampler.runs)
        return;
    sampler.runs = false;
    if (background_stop_within(&sampler.thread, limit_s))
        return;
    sampler.is_lost = true;
    const char *const in = atomic_load(&sampler.in);
    message(ASCOPE_WARNING,
            "device cuda: %s did not return within %u s; counters of the GPU are incomplete, and not recorded again in "
            "this process",
            in ? in : "NVML", limit_s);
}
