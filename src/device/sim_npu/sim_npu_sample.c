/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim_npu/sim_npu_parts.h"

#include <stdio.h>
#include <string.h>

#include "collect/options/options.h"
#include "collect/session/host_clock.h"
#include "raw/sampler.h"

typedef unsigned long long ull;

static uint64_t device_ns(const struct npu_device *d, uint64_t tick)
{
    return d->clock.mono_ns + (tick - d->clock.tick) * NPU_NS_PER_TICK;
}

static uint64_t microseconds_since(const struct npu_device *d, enum npu_sampler s, uint64_t tick)
{
    const uint64_t us = (tick - d->last_sample[s]) / NPU_MHZ;
    return d->last_sample[s] == 0 || us == 0 ? 1 : us;
}

enum { MODULE_BYTES = 96 << 20 };

/* Memory by module: fixed amounts for the runtime and for HCCL, the rest is of the program. */
static void modules_put(struct npu_device *d)
{
    enum { MODULE_HCCL = 3, MODULE_RUNTIME = 7, MODULE_APP = 33 };
    const struct {
        uint32_t module;
        uint64_t bytes;
    } row[] = { { MODULE_HCCL, 2 * MODULE_BYTES }, { MODULE_RUNTIME, MODULE_BYTES }, { MODULE_APP, d->pool.reserved } };
    const uint64_t now = host_clock_now();
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        uint8_t rec[24];
        record_module_memory(rec, now, row[i].module, row[i].bytes);
        npu_device_put(d, STREAM_MODULE_MEMORY, rec, module_mem_layout.size);
    }
}

static void usage_put(struct npu_device *d, uint64_t us)
{
    const struct layout *l = &npu_mem_layout;
    const uint64_t bytes[] = {
        [NPU_MEM_OF_APP] = d->pool.reserved, [NPU_MEM_OF_DEVICE] = d->pool.reserved + UINT64_C(3) * MODULE_BYTES
    };
    for (uint32_t of = NPU_MEM_OF_APP; of <= NPU_MEM_OF_DEVICE; of++) {
        uint8_t rec[32];
        layout_init(l, rec);
        record_fill(l, rec, { NPU_MEM_TIME, us }, { NPU_MEM_EVENT, of }, { NPU_MEM_HBM, bytes[of] });
        npu_device_put(d, STREAM_NPU_MEMORY, rec, l->size);
    }
}

/* Traffic of the HBM stacks, in bursts; it is spread evenly. */
static void bandwidth_put(struct npu_device *d, uint64_t us)
{
    enum { STACKS = 4, BURST = 32, WAYS = 2 };
    const uint64_t bytes[WAYS] = { d->traffic.read - d->sampled.read, d->traffic.written - d->sampled.written };
    for (uint32_t i = 0; i < STACKS * WAYS; i++) {
        uint8_t rec[24];
        record_traffic(rec, &hbm_layout, us, bytes[i % WAYS] / STACKS / BURST, i % WAYS, i / WAYS);
        npu_device_put(d, STREAM_HBM, rec, hbm_layout.size);
    }
    d->sampled.read = d->traffic.read;
    d->sampled.written = d->traffic.written;
}

/* Traffic of the last-level cache: each of its two parts gets half of it, one request for each line; three of four are
 * hits. */
static void cache_put(struct npu_device *d, uint64_t us)
{
    enum { PARTS = 2, LINE = 128, EVENTS = 8 };
    static const uint8_t events[2][EVENTS] = { { 0x00, 0x01, 0x02, 0x13, 0x20, 0x22, 0x34, 0x36 },
                                               { 0x00, 0x01, 0x03, 0x14, 0x21, 0x23, 0x35, 0x37 } };
    const uint64_t bytes =
        npu.counts_writes ? d->traffic.written - d->sampled.written : d->traffic.read - d->sampled.read;
    for (uint32_t i = 0; i < PARTS * EVENTS; i++) {
        uint8_t rec[24];
        record_traffic(rec, &llc_layout, us, bytes / PARTS / LINE * (i % 2 ? 3 : 4) / 4,
                       events[npu.counts_writes][i % EVENTS], i / EVENTS);
        npu_device_put(d, STREAM_LLC, rec, llc_layout.size);
    }
}

/* Times of most records are relative to the first reading of the clock. A device that is created during a recording is
 * read only when that stops, and has no such records before. */
static void memory_put(struct npu_device *d, uint64_t tick)
{
    modules_put(d);
    if (d->read_tick == 0)
        return;
    usage_put(d, (tick - d->read_tick) / NPU_MHZ);
    cache_put(d, (tick - d->read_tick) / NPU_MHZ);
    bandwidth_put(d, (tick - d->read_tick) / NPU_MHZ);
}

/* Collectives between machines are packets of 4 KiB on RoCE. The network card is not used, and no packet is lost. */
static void port_put(struct npu_device *d, uint64_t tick, enum stream_id stream, uint64_t bytes, uint64_t before)
{
    enum { MBIT = 200000, PACKET = 4096 };
    char line[400];
    const uint64_t each_s = (bytes - before) * 1000000 / microseconds_since(d, SAMPLER_OF_PORTS, tick);
    int n = snprintf(line, sizeof line, "%llu: %d", (ull)device_ns(d, tick), MBIT);
    for (int way = 0; way < 2; way++)
        n += snprintf(line + n, sizeof line - (size_t)n, " %llu %llu %llu %llu 0 0", (ull)each_s / PACKET, (ull)each_s,
                      (ull)bytes / PACKET, (ull)bytes);
    n += snprintf(line + n, sizeof line - (size_t)n, " 0\n");
    npu_device_put(d, stream, (const uint8_t *)line, (size_t)n);
}

static void ports_put(struct npu_device *d, uint64_t tick)
{
    port_put(d, tick, STREAM_NIC, 0, 0);
    port_put(d, tick, STREAM_ROCE, d->traffic.machines, d->sampled.machines);
    d->sampled.machines = d->traffic.machines;
}

static void pcie_put(struct npu_device *d, uint64_t tick)
{
    enum { TX_POSTED = 0, TX_LATENCY = 3, RX_COMPLETED = 6, MOST = 24000 /* bytes in a us */, LATENCY_NS = 700 };
    const struct layout *l = &pcie_layout;
    const uint64_t us = microseconds_since(d, SAMPLER_OF_LINKS, tick);
    const struct { /* the device reads from the host (completions arrive) and writes to it (posted writes leave) */
        unsigned value;
        uint64_t bytes;
    } way[] = { { TX_POSTED, d->traffic.to_host - d->sampled.to_host },
                { RX_COMPLETED, d->traffic.from_host - d->sampled.from_host } };
    uint8_t rec[96];
    layout_init(l, rec);
    layout_put(l, PCIE_TIME, rec, device_ns(d, tick));
    layout_put(l, PCIE_DEVICE, rec, d->id);
    for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
        const unsigned first = PCIE_FIRST + way[i].value * PCIE_STATISTICS;
        const uint64_t average = way[i].bytes / us;
        layout_put(l, first + PCIE_MAX, rec, way[i].bytes == 0 ? 0 : average > MOST ? average : MOST);
        layout_put(l, first + PCIE_AVG, rec, average);
    }
    for (unsigned i = 0; i < PCIE_STATISTICS && way[1].bytes > 0; i++)
        layout_put(l, PCIE_FIRST + TX_LATENCY * PCIE_STATISTICS + i, rec, LATENCY_NS);
    npu_device_put(d, STREAM_PCIE, rec, l->size);
}

static void links_put(struct npu_device *d, uint64_t tick)
{
    char line[120];
    const int n =
        snprintf(line, sizeof line, "%s%llu: %llu %llu\n", d->is_headed ? "" : "timestamp: txAmount rxAmount\n",
                 (ull)device_ns(d, tick), (ull)d->traffic.chips, (ull)d->traffic.chips);
    d->is_headed = true;
    npu_device_put(d, STREAM_HCCS, (const uint8_t *)line, (size_t)n);
    pcie_put(d, tick);
    d->sampled.from_host = d->traffic.from_host;
    d->sampled.to_host = d->traffic.to_host;
}

/* The image units are not used: busy for 0 us, no frames. */
static void images_put(struct npu_device *d, uint64_t tick)
{
    enum { UNITS = 3 };
    for (unsigned unit = 0; unit < UNITS; unit++) {
        char line[120];
        const int n = snprintf(line, sizeof line, "%llu 0 %u 0 0 0 0%% 0 0 0%% 0 0\n", (ull)device_ns(d, tick), unit);
        npu_device_put(d, STREAM_DVPP, (const uint8_t *)line, (size_t)n);
    }
}

static void (*const samplers[NPU_SAMPLERS])(struct npu_device *, uint64_t tick) = {
    [SAMPLER_OF_MEMORY] = memory_put,
    [SAMPLER_OF_PORTS] = ports_put,
    [SAMPLER_OF_LINKS] = links_put,
    [SAMPLER_OF_IMAGES] = images_put,
};

/* ---- when ---- */

void npu_samples_choose(const struct ascope_options *o)
{
    const uint32_t hz[NPU_SAMPLERS] = {
        [SAMPLER_OF_MEMORY] = o->hardware_mem_hz,
        [SAMPLER_OF_PORTS] = o->io_hz,
        [SAMPLER_OF_LINKS] = o->interconnection_hz,
        [SAMPLER_OF_IMAGES] = o->dvpp_hz,
    };
    npu.counts_writes = o->llc_write;
    for (int s = 0; s < NPU_SAMPLERS; s++)
        npu.sample_ticks[s] = hz[s] > 0 ? NPU_MHZ * UINT64_C(1000000) / hz[s] : 0;
}

void npu_samples_first(struct npu_device *d)
{
    const uint64_t now = npu_clock_tick(&d->clock, host_clock_raw_ns());
    for (int s = 0; s < NPU_SAMPLERS; s++) {
        d->next_sample[s] = npu.sample_ticks[s] > 0 ? now : NEVER;
        d->last_sample[s] = 0;
    }
    d->sampled = d->traffic;
    d->is_headed = false;
}

uint64_t npu_samples_next(const struct npu_device *d)
{
    uint64_t next = NEVER;
    for (int s = 0; s < NPU_SAMPLERS; s++)
        next = d->next_sample[s] < next ? d->next_sample[s] : next;
    return next;
}

static void sample(struct npu_device *d, enum npu_sampler s, uint64_t tick)
{
    samplers[s](d, tick);
    d->last_sample[s] = tick;
}

/* Takes the samples that are due. Missed ones are not made up for. */
void npu_samples_run(struct npu_device *d, uint64_t now)
{
    for (int s = 0; s < NPU_SAMPLERS; s++)
        if (d->next_sample[s] <= now) {
            sample(d, (enum npu_sampler)s, d->next_sample[s]);
            d->next_sample[s] += npu.sample_ticks[s];
            d->next_sample[s] = d->next_sample[s] < now ? now : d->next_sample[s];
        }
}

void npu_samples_last(struct npu_device *d)
{
    const uint64_t now = npu_clock_tick(&d->clock, host_clock_raw_ns());
    for (int s = 0; s < NPU_SAMPLERS; s++)
        if (d->next_sample[s] != NEVER)
            d->next_sample[s] = now;
    while (npu.has_thread && npu_samples_next(d) <= now)
        npu_wait();
    npu_samples_forget(d);
}

void npu_samples_forget(struct npu_device *d)
{
    for (int s = 0; s < NPU_SAMPLERS; s++)
        d->next_sample[s] = NEVER;
}

void npu_traffic_add(struct npu_device *d, const struct sim_work *w)
{
    struct npu_traffic *t = &d->traffic;
    t->read += w->read_bytes;
    t->written += w->write_bytes;
    switch (w->kind) {
    case TASK_COPY_PCIE:
        t->from_host += w->write_bytes;
        t->to_host += w->read_bytes;
        break;
    case TASK_REDUCE: t->chips += w->read_bytes; break;
    case TASK_RDMA_SEND: t->machines += w->read_bytes; break;
    default: break;
    }
}
