#include "device/sim_npu.h"

#include <stdlib.h>
#include <string.h>

#include "collect/host_clock.h"

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

long npu_setting(const char *name, long least, long most, long otherwise)
{
    const char *const text = getenv(name);
    char *end = NULL;
    const long value = text ? strtol(text, &end, 10) : otherwise;
    return text && (end == text || *end || value < least || value > most) ? otherwise : value;
}

/* Devices of one machine have different numbers, whichever process has them. */
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
        npu.device[npu.n_devices++] = d;
    }
    return npu.device[index];
}

static unsigned probe(struct error *e)
{
    pthread_mutex_lock(&npu.lock);
    const bool is_there = npu_device_get(devices_asked() - 1) != NULL;
    const unsigned n = npu.n_devices;
    pthread_mutex_unlock(&npu.lock);
    if (!is_there)
        error_set(e, FAULT_LIMIT, "no memory for a simulated device");
    return n;
}

static const struct npu_device *device_at(unsigned index, struct error *e)
{
    pthread_mutex_lock(&npu.lock);
    const struct npu_device *d = index < npu.n_devices ? npu.device[index] : NULL;
    pthread_mutex_unlock(&npu.lock);
    if (!d)
        error_set(e, FAULT_ASKED, "simulated device %u: there is none", index);
    return d;
}

static bool describe(unsigned index, struct device_description *out, struct error *e)
{
    const struct npu_device *d = device_at(index, e);
    const struct sim_chip *chip = &sim_chips[0];
    if (!d)
        return false;
    *out = (struct device_description){ .id = (int)d->id,
                                        .platform = chip->platform,
                                        .n_cube = chip->n_cube,
                                        .n_vector = chip->n_vector,
                                        .n_ai_cpu = 6,
                                        .counter_mhz = NPU_MHZ,
                                        .core_mhz = chip->core_mhz,
                                        .vector_mhz = chip->core_mhz,
                                        .name = sim_npu_kind.name,
                                        .is_simulated = true };
    return true;
}

/* As a real device is read: between two readings of the host's clock, the best of several tries. */
static bool read_clock(unsigned index, struct device_reading *out, struct error *e)
{
    enum { TRIES = 16 };
    const struct npu_device *d = device_at(index, e);
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
    return true;
}

static bool start(const struct ascope_options *o, struct error *e)
{
    (void)o;
    (void)e;
    return true;
}

static bool stop(struct error *e)
{
    (void)e;
    return true;
}

const struct device_kind sim_npu_kind = {
    .name = "sim",
    .what = "a simulated NPU",
    .probe = probe,
    .describe = describe,
    .read_clock = read_clock,
    .start = start,
    .stop = stop,
};
