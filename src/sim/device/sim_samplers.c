/* SPDX-License-Identifier: Apache-2.0 */
/* The samplers of a device that write records. Samples do not depend on tasks, only on time, so that they are written
 * when the end of the collection is known. */
#include "sim/device/sim_device.h"

#include <string.h>

#include "raw/ccu_records.h"
#include "raw/counter.h"
#include "raw/device_records.h"
#include "raw/host_records.h"
#include "raw/instr.h"
#include "raw/sampler.h"

typedef void sample_fn(struct sim_device *d, struct slices *s, const struct sim_moment *at);

static uint32_t roll(struct sim_device *d, uint32_t low, uint32_t high)
{
    return dice_between(&d->samples, low, high);
}

static uint8_t *traffic_put(struct slices *s, const struct layout *l, uint64_t us, uint64_t count, uint32_t event,
                            uint32_t unit)
{
    uint8_t *rec = slices_take(s, l->size);
    record_traffic(rec, l, us, count, event, unit);
    return rec;
}

static void hbm(struct sim_device *d, struct slices *s, const struct sim_moment *at)
{
    enum { STACKS = 4, DIRECTIONS = 2 };
    for (uint32_t unit = 0; unit < STACKS; unit++)
        for (uint32_t event = 0; event < DIRECTIONS; event++)
            traffic_put(s, &hbm_layout, at->ns / 1000, roll(d, 50000, 900000), event, unit);
}

static void llc(struct sim_device *d, struct slices *s, const struct sim_moment *at)
{
    static const uint8_t read_events[] = { 0x00, 0x01, 0x02, 0x13, 0x20, 0x22, 0x34, 0x36 };
    enum { PARTS = 2 };
    for (uint32_t unit = 0; unit < PARTS; unit++)
        for (size_t i = 0; i < sizeof read_events; i++)
            traffic_put(s, &llc_layout, at->ns / 1000, roll(d, 10000, 500000), read_events[i], unit);
}

static void ddr(struct sim_device *d, struct slices *s, const struct sim_moment *at)
{
    enum { CONTROLLERS = 2, DIRECTIONS = 2 };
    const struct layout *l = &ddr_layout;
    for (uint32_t unit = 0; unit < CONTROLLERS; unit++)
        for (uint32_t event = 0; event < DIRECTIONS; event++) {
            uint8_t *rec = traffic_put(s, l, at->ns / 1000, roll(d, 20000, 400000), event, unit);
            layout_put(l, DDR_MASTER, rec, DDR_MASTER_ALL);
        }
}

static void memory_put(struct sim_device *d, struct slices *s, const struct sim_moment *at, uint32_t of, uint64_t base)
{
    const struct layout *l = &npu_mem_layout;
    uint8_t *rec = slices_record(s, l);
    record_fill(l, rec, { NPU_MEM_TIME, at->ns / 1000 }, { NPU_MEM_EVENT, of },
                { NPU_MEM_DDR, roll(d, 10000, 1100000) });
    layout_put(l, NPU_MEM_HBM, rec, base + at->number % 512 * 1048576 + roll(d, 0, 1048575));
}

static void memory_of_app(struct sim_device *d, struct slices *s, const struct sim_moment *at)
{
    memory_put(d, s, at, NPU_MEM_OF_APP, 1 << 30);
}

static void memory_of_device(struct sim_device *d, struct slices *s, const struct sim_moment *at)
{
    memory_put(d, s, at, NPU_MEM_OF_DEVICE, 1200 << 20);
}

static void memory_of_modules(struct sim_device *d, struct slices *s, const struct sim_moment *at)
{
    static const uint8_t modules[] = { 3, 4, 7, 10, 22, 33, 36 };
    for (size_t i = 0; i < sizeof modules; i++)
        record_module_memory(slices_take(s, module_mem_layout.size), d->host_cnt + at->ns / NS_PER_HOST_TICK,
                             modules[i], roll(d, 10 << 20, 250 << 20));
}

static void pcie(struct sim_device *d, struct slices *s, const struct sim_moment *at)
{
    const struct layout *l = &pcie_layout;
    uint8_t *rec = slices_record(s, l);
    layout_put(l, PCIE_TIME, rec, d->device_mono_ns + at->ns);
    layout_put(l, PCIE_DEVICE, rec, (uint64_t)d->id);
    for (unsigned i = 0; i < PCIE_VALUES; i++) {
        const uint32_t least = roll(d, 1, 500), greatest = least + roll(d, 1, 800);
        const unsigned first = PCIE_FIRST + i * PCIE_STATISTICS;
        record_fill(l, rec, { first + PCIE_MIN, least }, { first + PCIE_MAX, greatest },
                    { first + PCIE_AVG, roll(d, least, greatest) });
    }
}

static void qos(struct sim_device *d, struct slices *s, const struct sim_moment *at)
{
    const struct layout *l = &qos_layout;
    uint8_t *rec = slices_record(s, l);
    layout_put(l, QOS_TIME, rec, at->tick);
    for (unsigned i = 0; i < QOS_VALUES; i++)
        layout_put(l, QOS_FIRST + i, rec, roll(d, 50, 3000));
}

/* The head of a record of the SoC: function, running count, type. */
static uint8_t *soc_record(struct sim_device *d, struct slices *s, const struct layout *l, const struct sim_moment *at,
                           uint32_t type, uint32_t id)
{
    uint8_t *rec = slices_record(s, l);
    const uint64_t head = layout_get(l, SOC_HEAD, rec) | (d->n_soc++ & 15) << 6 | type << SOC_HEAD_TYPE_SHIFT;
    record_fill(l, rec, { SOC_HEAD, head }, { SOC_TIME, at->tick }, { SOC_ID, id });
    return rec;
}

static void soc(struct sim_device *d, struct slices *s, const struct sim_moment *at)
{
    enum { DIES = 2 /* a chip of one die counts nothing between them */, POWER_FIRST = 24, POWER_WORDS = 20 };
    for (uint32_t die = 0; die < DIES; die++) {
        uint8_t *rec = soc_record(d, s, &sio_layout, at, 0, die);
        for (unsigned i = 0; i < SIO_VALUES; i++)
            layout_put(&sio_layout, SOC_FIRST + i, rec, d->of->chip->has_two_dies ? roll(d, 0, 60000) : 0);
        rec = soc_record(d, s, &acc_pmu_layout, at, 0, die);
        for (unsigned i = ACC_WRITE_BW; i < ACC_FIELDS; i++)
            layout_put(&acc_pmu_layout, i, rec, roll(d, 0, 900));
        rec = soc_record(d, s, &chip_trans_layout, at, die == 0 ? TRANS_PA_LINK : TRANS_PCIE, die);
        layout_put(&chip_trans_layout, TRANS_IN, rec, roll(d, 0, 5000));
        layout_put(&chip_trans_layout, TRANS_OUT, rec, roll(d, 0, 5000));
        rec = soc_record(d, s, &low_power_layout, at, die, 0);
        for (unsigned i = 0; i < POWER_WORDS; i++) {
            const uint16_t word = (uint16_t)roll(d, 20, 900);
            memcpy(rec + POWER_FIRST + 2 * i, &word, sizeof word);
        }
    }
    uint8_t *rec = soc_record(d, s, &soc_bw_layout, at, 0, 0);
    const uint32_t low = roll(d, 0, 7), high = roll(d, 0, 127);
    layout_put(&soc_bw_layout, SOC_LEVELS, rec, low | high << 3);
}

/* Of chips whose records of the SoC are of dies. */
static void soc_of_dies(struct sim_device *d, struct slices *s, const struct sim_moment *at)
{
    static const uint8_t sio_die[] = { 0, 2, 3 };
    enum { DIES = 2 };
    for (unsigned i = 0; i < sizeof sio_die; i++) {
        uint8_t *rec = soc_record(d, s, &sio_die_layout, at, sio_die[i], 0);
        for (unsigned k = 0; k < SIO_VALUES; k++)
            layout_put(&sio_die_layout, SOC_FIRST + k, rec, roll(d, 0, 60000));
    }
    for (uint32_t die = 0; die < DIES; die++) {
        uint8_t *rec = slices_record(s, &qos_die_layout);
        layout_put(&qos_die_layout, QOS_DIE_HEAD, rec,
                   layout_get(&qos_die_layout, QOS_DIE_HEAD, rec) | die << SOC_HEAD_TYPE_SHIFT);
        layout_put(&qos_die_layout, QOS_TIME, rec, at->tick);
        for (unsigned i = 0; i < QOS_DIE_VALUES; i++)
            layout_put(&qos_die_layout, QOS_FIRST + i, rec, roll(d, 50, 3000));
        rec = soc_record(d, s, &chip_trans_die_layout, at, die, 0);
        layout_put(&chip_trans_die_layout, TRANS_IN, rec, roll(d, 0, 5000));
        layout_put(&chip_trans_die_layout, TRANS_OUT, rec, roll(d, 0, 5000));
        rec = soc_record(d, s, &low_power_layout, at, die, 0);
        layout_put(&low_power_layout, POWER_FREQ, rec, d->of->chip->core_mhz);
        rec = soc_record(d, s, &acc_pmu_layout, at, 0, die);
        for (unsigned i = ACC_WRITE_BW; i < ACC_FIELDS; i++)
            layout_put(&acc_pmu_layout, i, rec, roll(d, 0, 900));
    }
    uint8_t *rec = soc_record(d, s, &soc_bw_layout, at, 0, 0);
    layout_put(&soc_bw_layout, SOC_LEVELS, rec, roll(d, 0, 1023));
}

static void unified_bus(struct sim_device *d, struct slices *s, const struct sim_moment *at)
{
    static const uint8_t port[] = { 0, 1, 17 };
    for (unsigned i = 0; i < sizeof port; i++) {
        uint8_t *rec = slices_record(s, &ub_layout);
        record_fill(&ub_layout, rec, { UB_TIME, at->ns / 1000 }, { UB_PORT, port[i] }, { UB_RX, roll(d, 0, 90000) });
        layout_put(&ub_layout, UB_TX, rec, roll(d, 0, 90000));
    }
}

/* Every eighth channel of a communication unit. */
static void ccu_channels(struct sim_device *d, struct slices *s, const struct sim_moment *at)
{
    enum { STEP = 8 };
    uint8_t *rec = slices_record(s, &ccu_stat_layout);
    for (unsigned c = 0; c < CCU_CHANNELS; c += STEP) {
        const uint32_t least = roll(d, 100, 400), most = least + roll(d, 0, 800);
        uint8_t *channel = rec + ccu_channel_at(c);
        record_fill(&ccu_channel_layout, channel, { CCU_STAT_TIME, at->tick + c }, { CCU_STAT_MIN, least },
                    { CCU_STAT_MAX, most }, { CCU_STAT_AVG, (least + most) / 2 });
    }
}

/* A group of loops, then a wait. No task of the host asked for them. */
static void ccu_instructions(struct sim_device *d, struct slices *s, const struct sim_moment *at)
{
    const struct layout *l = &ccu_instr_layout;
    const uint32_t ticks = roll(d, 100, 700);
    uint8_t *rec = slices_record(s, l);
    record_fill(l, rec, { CCU_LOOP_BEGIN, at->tick }, { CCU_LOOP_END, at->tick + ticks }, { CCU_LOOP_INSTR, 10 },
                { CCU_TASK, at->number });
    rec = slices_record(s, l);
    record_fill(l, rec, { CCU_WAIT_BEGIN, at->tick + ticks }, { CCU_WAIT_INSTR, 13 }, { CCU_TASK, at->number });
    for (unsigned i = 0; i < CCU_RANKS; i++) {
        const uint16_t delay = (uint16_t)roll(d, 1, 300);
        memcpy(rec + 2 * i, &delay, sizeof delay);
    }
}

/* A time stamp, then a few states of the units of a core. */
static void unit_states(struct sim_device *d, struct slices *s, const struct sim_moment *at)
{
    enum { STATES = 4 };
    const struct layout *l = &instr_layout;
    for (unsigned i = 0; i < INSTR_STAMPS; i++) {
        uint8_t *rec = slices_record(s, l);
        layout_put(l, INSTR_LOW, rec, at->tick >> 16 * i & UINT16_MAX);
        layout_put(l, INSTR_HIGH, rec, INSTR_STAMP << INSTR_CODE_SHIFT);
    }
    for (unsigned i = 0; i <= STATES; i++) {
        uint8_t *rec = slices_record(s, l);
        layout_put(l, INSTR_LOW, rec, roll(d, 1800, 36000));
        layout_put(l, INSTR_HIGH, rec, INSTR_STATE << INSTR_CODE_SHIFT | (i < STATES ? roll(d, 1, 127) : 0));
    }
}

static void scheduler_cpu(struct sim_device *d, struct slices *s, const struct sim_moment *at)
{
    static const uint8_t event[TS_CPU_PAIRS] = { 0x11, 0x8, 0x12, 0x13, 0x14, 0x15, 0x1b };
    const struct layout *l = &ts_cpu_layout;
    uint8_t *rec = slices_record(s, l);
    for (unsigned i = 0; i < 6; i++) {
        const uint64_t frame = roll(d, 4096, 8191);
        memcpy(rec + TS_CPU_BACKTRACE + 8 * i, &frame, sizeof frame);
    }
    layout_put(l, TS_CPU_PC, rec, 32768 + 4 * roll(d, 0, 63));
    layout_put(l, TS_CPU_TIME, rec, at->tick);
    for (unsigned i = 0; i < TS_CPU_PAIRS; i++) {
        layout_put(l, TS_CPU_FIRST + 2 * i, rec, event[i]);
        layout_put(l, TS_CPU_FIRST + 2 * i + 1, rec, roll(d, 1000, 90000));
    }
}

/* The data queue, as the AI CPU sees it: what was taken from it, and how long the waiting took. */
static void data_queue(struct sim_device *d, struct slices *s, const struct sim_moment *at)
{
    const uint64_t us = (d->device_mono_ns + at->ns) / 1000;
    (void)s; /* these are records of the AI CPU's stream */
    uint8_t *rec = aicpu_record(d, &aicpu_dp_layout, 112, d->mono_ns + at->ns);
    memcpy(rec + DP_ACTION, "Last dequeue", 12);
    memcpy(rec + DP_SOURCE, "GetNext_op", 10);
    layout_put(&aicpu_dp_layout, DP_INDEX, rec, at->number);
    layout_put(&aicpu_dp_layout, DP_SIZE, rec, 1024 * (at->number % 64));
    rec = aicpu_record(d, &aicpu_mi_layout, 32, at->tick);
    record_fill(&aicpu_mi_layout, rec, { MI_NODE, 1 }, { MI_QUEUE, 16 - at->number % 16 }, { MI_BEGIN_US, us },
                { MI_END_US, us + roll(d, 5, 80) });
}

/* Power: one record holds many changes of one quantity. */
static void power(struct sim_device *d, const char *family, enum lpm_kind kind, const uint16_t *value,
                  uint32_t n_values, struct slices *s, uint64_t span_ns)
{
    enum { APART_NS = 50000000 };
    const uint64_t n = 3 + span_ns / APART_NS;
    if (!s->to)
        slices_init(s, &d->of->writer, d->id, family, CUT_ANYWHERE);
    uint8_t *rec = NULL;
    for (uint64_t i = 0; i < n; i++) {
        if (i % LPM_MOST == 0) {
            rec = slices_record(s, &lpm_layout);
            layout_put(&lpm_layout, LPM_COUNT, rec, n - i < LPM_MOST ? n - i : LPM_MOST);
            layout_put(&lpm_layout, LPM_KIND, rec, kind);
        }
        const struct layout *l = &lpm_entry_layout;
        uint8_t *entry = rec + LPM_FIRST + i % LPM_MOST * l->size;
        layout_put(l, LPM_ENTRY_TIME, entry, d->tick0 + span_ns * (2 * i + 1) / (2 * n) * d->of->o->counter_mhz / 1000);
        layout_put(l, LPM_ENTRY_VALUE, entry, value[i % n_values]);
    }
}

static void power_all(struct sim_device *d, uint64_t span_ns)
{
    static const uint16_t mhz[] = { 1200, 1800, 1500, 1800 }, steady_mhz[] = { 1800 }, core_mv[] = { 725, 803, 890 },
                          bus_mv[] = { 935, 921, 913 };
    struct slices freq = { 0 }, info = { 0 };
    if (d->of->chip->group != ON_A2 && d->of->chip->platform != 7)
        return;
    power(d, "lpmFreqConv.data", LPM_FREQ, d->of->job ? steady_mhz : mhz, d->of->job ? 1 : 4, &freq, span_ns);
    if (d->of->chip->group == ON_A2) {
        power(d, "lpmInfoConv.data", LPM_CORE_VOLTAGE, core_mv, 3, &info, span_ns);
        power(d, "lpmInfoConv.data", LPM_BUS_VOLTAGE, bus_mv, 3, &info, span_ns);
    }
    slices_fini(&freq);
    slices_fini(&info);
}

static const struct {
    const char *family; /* NULL: among the records of another stream */
    uint32_t every_us;
    sample_fn *sample;
    unsigned on; /* families of chips */
} samplers[] = {
    { "hbm.data", 20000, hbm, ON_A2 | ON_910 | ON_950 },
    { "llc.data", 20000, llc, ON_ALL & ~ON_310 },
    { "npu_mem.app", 20000, memory_of_device, ON_ALL & ~ON_MDC },
    { "npu_mem.data", 20000, memory_of_app, ON_ALL & ~ON_MDC },
    { "npu_module_mem.data", 100000, memory_of_modules, ON_ALL & ~ON_310 },
    { "pcie.data", 20000, pcie, ON_ALL & ~ON_310B },
    { "qos.data", 20000, qos, ON_A2 },
    { "stars_soc_profile.data", 20000, soc, ON_STARS },
    { "stars_soc_profile.data", 20000, soc_of_dies, ON_950 },
    { "ub.data", 20000, unified_bus, ON_950 },
    { "ccu0.stat", 50000, ccu_channels, ON_950 },
    { "ccu1.stat", 50000, ccu_channels, ON_950 },
    { "ccu0.instr", 50000, ccu_instructions, ON_950 },
    { "instr.biu_perf_group0_aic", 50000, unit_states, ON_950 },
    { "instr.biu_perf_group0_aiv0", 50000, unit_states, ON_950 },
    { "tscpu.data", 50000, scheduler_cpu, ON_ALL & ~ON_950 },
    { NULL, 50000, data_queue, ON_ALL & ~ON_310B },
    { "ddr.data", 20000, ddr, ON_ALL & ~(ON_A2 | ON_950) },
};

/* Samples at the requested rate, but at least a dozen times, so that short collections have samples, too. */
bool moment_next(const struct sim_device *d, uint64_t span_ns, uint32_t every_us, struct sim_moment *at)
{
    enum { LEAST = 13 };
    const uint64_t asked_ns = every_us * 1000ull, fit_ns = span_ns / (LEAST + 1);
    const uint64_t every_ns = asked_ns < fit_ns ? asked_ns : fit_ns;
    at->number = at->ns == 0 ? 0 : at->number + 1;
    at->ns += every_ns;
    at->tick = d->tick0 + at->ns * d->of->o->counter_mhz / 1000;
    return at->ns + every_ns <= span_ns;
}

uint64_t samplers_span_ns(const struct sim_device *d)
{
    return d->of->mono_ns + (d->of->end - d->of->cnt) * NS_PER_HOST_TICK - d->mono_ns;
}

void samplers_write(struct sim_device *d)
{
    const uint64_t span_ns = samplers_span_ns(d);
    for (size_t i = 0; i < sizeof samplers / sizeof *samplers; i++) {
        struct slices s = { 0 };
        if (!(samplers[i].on & d->of->chip->group))
            continue;
        if (samplers[i].family)
            slices_init(&s, &d->of->writer, d->id, samplers[i].family, CUT_ANYWHERE);
        for (struct sim_moment at = { 0 }; moment_next(d, span_ns, samplers[i].every_us, &at);)
            samplers[i].sample(d, &s, &at);
        slices_fini(&s);
    }
    power_all(d, span_ns);
}
