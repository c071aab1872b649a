/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/counters/device_counters.h"

#include <stdlib.h>
#include <string.h>

#include "raw/sampler.h"

enum { MOST_CORES = 256, MOST_METRICS = 16, NO_EVENT = 0 };

enum formula {
    TIME_MS,   /* of all cycles */
    RATIO,     /* of the sum of the events to the cycles */
    RATE,      /* of the first event to the second */
    BANDWIDTH, /* GB/s: `factor` bits each */
    SUM,       /* weighed; a negative weight subtracts */
};

struct sample_metric {
    const char *name;
    enum formula formula;
    double factor;
    uint16_t event[5];
    double weight[5];
};

enum { GROUP_MOST = 9 };
struct sample_group {
    const char *name; /* in sample.json */
    bool of_ten;      /* of chips that count ten events */
    struct sample_metric metric[GROUP_MOST];
};

/* clang-format off */
#define BITS(width, count) ((width) * (count))
static const struct sample_metric total_time = { "total_time(ms)", TIME_MS, .factor = 1 };
static const struct sample_metric narrow_vector_ops = {
    "vector_fops", SUM, .event = { 0x4b, 0x4c, 0x4d, 0x4e, 0x4f }, .weight = { 64, 128, 64, 16, 16 }
};

/* In the order of the reports. */
static const struct sample_group groups[] = {
    { "PipeUtilization", false, {
        { "vec_ratio", RATIO, .event = { 0x8 } },
        { "mac_ratio", RATIO, .event = { 0xa } },
        { "scalar_ratio", RATIO, .event = { 0x9 } },
        { "mte1_ratio", RATIO, .event = { 0xb } },
        { "mte2_ratio", RATIO, .event = { 0xc } },
        { "mte3_ratio", RATIO, .event = { 0xd } },
        { "icache_miss_rate", RATE, .event = { 0x55, 0x54 } },
    } },
    { "PipeUtilizationExct", false, {
        { "mac_ratio", RATIO, .event = { 0x416, 0x417 } },
        { "scalar_ratio", RATIO, .event = { 0x9 } },
        { "mte1_ratio", RATIO, .event = { 0x302 } },
        { "mte2_ratio", RATIO, .event = { 0xc } },
        { "fixpipe_ratio", RATIO, .event = { 0x303 } },
        { "icache_miss_rate", RATE, .event = { 0x55, 0x54 } },
    } },
    { "PipelineExecuteUtilization", false, {
        { "vec_exe_ratio", RATIO, .event = { 0x12c } },
        { "mac_exe_ratio", RATIO, .event = { 0x49, 0x4a } },
        { "scalar_exe_ratio", RATIO, .event = { 0x9 } },
        { "mte1_exe_ratio", RATIO, .event = { 0x302 } },
        { "mte2_exe_ratio", RATIO, .event = { 0xc } },
        { "mte3_exe_ratio", RATIO, .event = { 0xd } },
        { "fixpipe_exe_ratio", RATIO, .event = { 0x303 } },
    } },
    { "ArithmeticUtilization", false, {
        { "mac_fp16_ratio", RATIO, .event = { 0x49 } },
        { "mac_int8_ratio", RATIO, .event = { 0x4a } },
        { "vec_fp32_ratio", RATIO, .event = { 0x4b } },
        { "vec_fp16_ratio", RATIO, .event = { 0x4c, 0x4d } },
        { "vec_int32_ratio", RATIO, .event = { 0x4e } },
        { "vec_misc_ratio", RATIO, .event = { 0x4f } },
        { "cube_fops", SUM, .event = { 0x49, 0x4a }, .weight = { 8192, 16384 } },
        { "vector_fops", SUM, .event = { 0x4b, 0x4c, 0x4d, 0x4e, 0x4f }, .weight = { 64, 128, 64, 64, 32 } },
    } },
    { "Memory", false, {
        { "ub_read_bw(GB/s)", BANDWIDTH, BITS(256, 4), .event = { 0x15 } },
        { "ub_write_bw(GB/s)", BANDWIDTH, BITS(256, 4), .event = { 0x16 } },
        { "l1_read_bw(GB/s)", BANDWIDTH, BITS(256, 16), .event = { 0x31 } },
        { "l1_write_bw(GB/s)", BANDWIDTH, BITS(128, 8), .event = { 0x32 } },
        { "l2_read_bw(GB/s)", BANDWIDTH, BITS(256, 8), .event = { 0xf } },
        { "l2_write_bw(GB/s)", BANDWIDTH, BITS(256, 8), .event = { 0x10 } },
        { "main_mem_read_bw(GB/s)", BANDWIDTH, BITS(8, 8), .event = { 0x12 } },
        { "main_mem_write_bw(GB/s)", BANDWIDTH, BITS(8, 8), .event = { 0x13 } },
    } },
    { "MemoryL0", false, {
        { "l0a_read_bw(GB/s)", BANDWIDTH, BITS(256, 16), .event = { 0x1b } },
        { "l0a_write_bw(GB/s)", BANDWIDTH, BITS(256, 16), .event = { 0x1c } },
        { "l0b_read_bw(GB/s)", BANDWIDTH, BITS(256, 16), .event = { 0x21 } },
        { "l0b_write_bw(GB/s)", BANDWIDTH, BITS(256, 8), .event = { 0x22 } },
        { "l0c_read_bw(GB/s)", BANDWIDTH, BITS(256, 8), .event = { 0x27 } },
        { "l0c_write_bw(GB/s)", BANDWIDTH, BITS(256, 8), .event = { 0x29 } },
        { "l0c_read_bw_cube(GB/s)", BANDWIDTH, BITS(256, 32), .event = { 0x28 } },
        { "l0c_write_bw_cube(GB/s)", BANDWIDTH, BITS(256, 32), .event = { 0x2a } },
    } },
    { "MemoryUB", false, {
        /* A chip counts the traffic of the vector unit with one of two sets of events; the events of the other set are
         * 0. */
        { "ub_read_bw_vector(GB/s)", BANDWIDTH, BITS(128, 2), .event = { 0x43, 0x17f, 0x180 } },
        { "ub_write_bw_vector(GB/s)", BANDWIDTH, BITS(128, 1), .event = { 0x44, 0x191 } },
        { "ub_read_bw_scalar(GB/s)", BANDWIDTH, BITS(128, 1), .event = { 0x37 } },
        { "ub_write_bw_scalar(GB/s)", BANDWIDTH, BITS(128, 1), .event = { 0x38 } },
        { "ub_read_bw_mte(GB/s)", BANDWIDTH, BITS(128, 1), .event = { 0x3d, 0x1a5 } },
        { "ub_write_bw_mte(GB/s)", BANDWIDTH, BITS(128, 1), .event = { 0x3e, 0x1a6 } },
    } },
    { "ResourceConflictRatio", false, {
        { "vec_bankgroup_cflt_ratio", RATIO, .event = { 0x64 } },
        { "vec_bank_cflt_ratio", RATIO, .event = { 0x65 } },
        { "vec_resc_cflt_ratio", RATIO, .event = { 0x66 } },
    } },
    { "L2Cache", false, {
        { "write_cache_hit", SUM, .event = { 0x500 }, .weight = { 1 } },
        { "write_cache_miss_allocate", SUM, .event = { 0x502 }, .weight = { 1 } },
        { "r0_read_cache_hit", SUM, .event = { 0x504 }, .weight = { 1 } },
        { "r0_read_cache_miss_allocate", SUM, .event = { 0x506 }, .weight = { 1 } },
        { "r1_read_cache_hit", SUM, .event = { 0x508 }, .weight = { 1 } },
        { "r1_read_cache_miss_allocate", SUM, .event = { 0x50a }, .weight = { 1 } },
    } },
    { "MemoryAccess", false, {
        { "read_main_memory_datas(KB)", SUM, .event = { 0x50d, 0x50e }, .weight = { 0.125, 0.125 } },
        { "write_main_memory_datas(KB)", SUM, .event = { 0x50c }, .weight = { 0.125 } },
        { "gm_to_l1_datas(KB)", SUM, .event = { 0x32, 0x206 }, .weight = { 0.25, -0.25 } },
        { "l0c_to_l1_datas(KB)", SUM, .event = { 0x206 }, .weight = { 0.125 } },
        { "l0c_to_gm_datas(KB)", SUM, .event = { 0x20c, 0x206 }, .weight = { 0.125, -0.125 } },
        { "gm_to_ub_datas(KB)", SUM, .event = { 0x3e }, .weight = { 0.125 } },
        { "ub_to_gm_datas(KB)", SUM, .event = { 0x3d }, .weight = { 0.125 } },
    } },
    { "PipeUtilization", true, {
        { "vec_ratio", RATIO, .event = { 0x501 } },
        { "mac_ratio", RATIO, .event = { 0x301 } },
        { "scalar_ratio", RATIO, .event = { 0x1 } },
        { "mte1_ratio", RATIO, .event = { 0x701 } },
        { "mte2_ratio", RATIO, .event = { 0x202 } },
        { "mte3_ratio", RATIO, .event = { 0x203 } },
        { "icache_miss_rate", RATE, .event = { 0x35, 0x34 } },
        { "fixpipe_ratio", RATIO, .event = { 0x714 } },
    } },
    { "ArithmeticUtilization", true, {
        { "mac_fp16_ratio", RATIO, .event = { 0x323 } },
        { "mac_int8_ratio", RATIO, .event = { 0x324 } },
        { "cube_fops", SUM, .event = { 0x323, 0x324 }, .weight = { 8192, 16384 } },
    } },
    /* The reference's factors here differ from those of counters by task. */
    { "Memory", true, {
        { "ub_read_bw(GB/s)", BANDWIDTH, BITS(256, 4), .event = { 0x56f, 0x571 } },
        { "ub_write_bw(GB/s)", BANDWIDTH, BITS(256, 4), .event = { 0x570, 0x572 } },
        { "l1_read_bw(GB/s)", BANDWIDTH, BITS(256, 16), .event = { 0x707 } },
        { "l1_write_bw(GB/s)", BANDWIDTH, BITS(256, 8), .event = { 0x709 } },
        { "main_mem_read_bw(GB/s)", BANDWIDTH, BITS(8, 8), .event = { 0x400 } },
        { "main_mem_write_bw(GB/s)", BANDWIDTH, BITS(8, 8), .event = { 0x401 } },
    } },
    { "MemoryL0", true, {
        { "l0a_read_bw(GB/s)", BANDWIDTH, BITS(256, 16), .event = { 0x304 } },
        { "l0a_write_bw(GB/s)", BANDWIDTH, BITS(256, 16), .event = { 0x703 } },
        { "l0b_read_bw(GB/s)", BANDWIDTH, BITS(256, 8), .event = { 0x306 } },
        { "l0b_write_bw(GB/s)", BANDWIDTH, BITS(256, 8), .event = { 0x705 } },
        { "l0c_read_bw(GB/s)", BANDWIDTH, BITS(256, 8), .event = { 0x712 } },
        { "l0c_read_bw_cube(GB/s)", BANDWIDTH, BITS(256, 8), .event = { 0x30a } },
        { "l0c_write_bw_cube(GB/s)", BANDWIDTH, BITS(256, 8), .event = { 0x308 } },
    } },
    { "MemoryUB", true, {
        { "fixp2ub_write_bw(GB/s)", BANDWIDTH, BITS(256, 8), .event = { 0x70c } },
        { "ub_read_bw_vector(GB/s)", BANDWIDTH, BITS(128, 2), .event = { 0x571 } },
        { "ub_write_bw_vector(GB/s)", BANDWIDTH, BITS(128, 1), .event = { 0x572 } },
        { "ub_read_bw_scalar(GB/s)", BANDWIDTH, BITS(128, 1), .event = { 0x3 } },
        { "ub_write_bw_scalar(GB/s)", BANDWIDTH, BITS(128, 1), .event = { 0x5 } },
    } },
    { "ResourceConflictRatio", true, {
        { "vec_bank_cflt_ratio", RATIO, .event = { 0x540, 0x556 } },
        { "vec_resc_cflt_ratio", RATE, .event = { 0x528, 0x502 } },
    } },
    { "L2Cache", true, {
        { "read_local_l2_hit", SUM, .event = { 0x424 }, .weight = { 1 } },
        { "read_local_l2_miss", SUM, .event = { 0x425 }, .weight = { 1 } },
        { "read_local_l2_victim", SUM, .event = { 0x426 }, .weight = { 1 } },
        { "write_local_l2_hit", SUM, .event = { 0x42a }, .weight = { 1 } },
        { "write_local_l2_miss", SUM, .event = { 0x42b }, .weight = { 1 } },
        { "write_local_l2_victim", SUM, .event = { 0x42c }, .weight = { 1 } },
    } },
};
/* clang-format on */

/* Chips with one stream for both kinds number the vector cores after the others. */
static enum core core_kind_of(const struct source *s, enum sampler sampler, uint64_t core)
{
    return sampler == SAMPLER_VECTOR_CORE || core > s->chip->last_cube_core ? CORE_AIV : CORE_AIC;
}

/* The settings of a kind of cores in sample.json. */
struct core_setting {
    const char *metrics;
    uint16_t event[CORE_MOST_EVENTS]; /* in the order of the counters */
    double mhz;
    const struct chip *chip;
};

static struct core_setting core_setting(const struct source *s, enum core kind)
{
    const bool is_cube = kind == CORE_AIC;
    struct core_setting c = { s->settings.metrics[kind], .mhz = is_cube ? s->aic_mhz : s->aiv_mhz, .chip = s->chip };
    const char *list = s->settings.events[kind];
    const size_t most = s->chip->counts_ten ? CORE_MOST_EVENTS : CORE_EVENTS;
    for (size_t i = 0; i < most && *list; i++) {
        c.event[i] = (uint16_t)strtoul(list, NULL, 16);
        list += strcspn(list, ",");
        list += *list == ',';
    }
    return c;
}

/* The sums of all samples of a core. */
struct core_sums {
    double cycles, event[CORE_MOST_EVENTS];
    bool is_seen;
};

static double event_sum(const struct core_setting *c, const struct core_sums *sums, uint16_t event)
{
    for (size_t i = 0; i < CORE_MOST_EVENTS && event != NO_EVENT; i++)
        if (c->event[i] == event)
            return sums->event[i];
    return 0;
}

static double sample_metric_value(const struct sample_metric *m, const struct core_setting *c,
                                  const struct core_sums *sums)
{
    double sum = 0;
    for (size_t i = 0; i < sizeof m->event / sizeof *m->event && m->event[i] != NO_EVENT; i++)
        sum += event_sum(c, sums, m->event[i]) * (m->formula == SUM ? m->weight[i] : 1);
    switch (m->formula) {
    /* Cycles by MHz are µs. The reference takes them for ms (total_time in SAMPLE_PMU_SUMMARY). */
    case TIME_MS: return c->mhz > 0 ? sums->cycles / c->mhz : 0;
    case RATIO: return sums->cycles > 0 ? sum / sums->cycles : 0;
    case RATE: {
        const double of = event_sum(c, sums, m->event[1]);
        return of > 0 ? event_sum(c, sums, m->event[0]) / of : 0;
    }
    case BANDWIDTH: return sums->cycles > 0 ? sum * m->factor / (sums->cycles / (c->mhz * 1e6)) / 8589934592.0 : 0;
    default: return sum;
    }
}

static bool is_group(const struct sample_group *g, const struct core_setting *c)
{
    return g->of_ten == c->chip->counts_ten && strcmp(g->name, c->metrics) == 0;
}

/* The metrics of a setting: those of its group, or each event by itself. */
static size_t setting_metrics(const struct core_setting *c, struct sample_metric *out, struct arena *mem)
{
    size_t n = 0;
    out[n++] = total_time;
    if (strncmp(c->metrics, "Custom:", 7) == 0) {
        for (size_t i = 0; i < CORE_MOST_EVENTS && c->event[i] != NO_EVENT; i++) {
            const char *name = arena_printf(mem, "r%x", (unsigned)c->event[i]);
            if (name)
                out[n++] = (struct sample_metric){ name, SUM, .event = { c->event[i] }, .weight = { 1 } };
        }
        return n;
    }
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (size_t i = 0; is_group(&groups[g], c) && i < GROUP_MOST && groups[g].metric[i].name; i++)
            out[n++] = groups[g].metric[i];
    for (size_t i = 0; i < n; i++) {
        if (strcmp(out[i].name, narrow_vector_ops.name) != 0)
            continue;
        if (c->chip->has_narrow_vector)
            out[i] = narrow_vector_ops;
        else if (c->chip->has_half_vector)
            out[i].weight[0] /= 2;
    }
    return n;
}

static bool summarise(const struct core_setting *c, const struct core_sums *sums, struct arena *mem,
                      struct core_metrics *out)
{
    struct sample_metric metric[MOST_METRICS];
    const size_t n_metrics = setting_metrics(c, metric, mem);
    size_t n_cores = 0;
    for (size_t core = 0; core < MOST_CORES; core++)
        n_cores += sums[core].is_seen;
    if (n_cores == 0 || n_metrics == 1)
        return !arena_failed(mem);
    out->core = arena_take(mem, n_cores, sizeof *out->core);
    out->metric = arena_take(mem, n_metrics, sizeof *out->metric);
    out->value = arena_take(mem, n_cores * n_metrics, sizeof *out->value);
    if (arena_failed(mem))
        return false;
    for (size_t m = 0; m < n_metrics; m++)
        out->metric[m] = metric[m].name;
    for (size_t core = 0; core < MOST_CORES; core++) {
        if (!sums[core].is_seen)
            continue;
        for (size_t m = 0; m < n_metrics; m++)
            out->value[out->n_cores * n_metrics + m] = sample_metric_value(&metric[m], c, &sums[core]);
        out->core[out->n_cores++] = (uint16_t)core;
    }
    out->n_metrics = n_metrics;
    return true;
}

/* Sums the counters of each core, and adds the columns CORE_RATE_GAP and CORE_RATE_KIND. */
static bool walk_samples(const struct source *s, enum sampler sampler, const struct samples *in,
                         struct core_sums (*sums)[MOST_CORES], struct samples *out)
{
    int64_t last_ns[MOST_CORES];
    bool is_known[MOST_CORES] = { false };
    uint64_t *gap = arena_take(s->mem, in->n, sizeof *gap);
    uint8_t *kind_of = arena_take(s->mem, in->n, sizeof *kind_of);
    if (!gap || !kind_of)
        return false;
    for (size_t i = 0; i < in->n; i++) {
        const uint8_t core = (uint8_t)samples_uint(in, CORE_ID, i);
        const uint64_t n_events = samples_uint(in, CORE_COUNT, i);
        const enum core kind = core_kind_of(s, sampler, core);
        struct core_sums *of = &sums[kind][core];
        of->is_seen = true;
        of->cycles += samples_real(in, CORE_CYCLES, i);
        for (unsigned c = 0; c < CORE_MOST_EVENTS && c < n_events && in->column[CORE_EVENT + c].at; c++)
            of->event[c] += samples_real(in, CORE_EVENT + c, i);
        kind_of[i] = (uint8_t)kind;
        gap[i] = is_known[core] ? (uint64_t)(in->at_ns[i] - last_ns[core]) : CORE_NO_GAP;
        is_known[core] = true;
        last_ns[core] = in->at_ns[i];
    }
    *out = *in;
    out->column[CORE_RATE_GAP].at = gap;
    out->column[CORE_RATE_GAP].width = sizeof *gap;
    out->column[CORE_RATE_KIND].at = kind_of;
    out->column[CORE_RATE_KIND].width = sizeof *kind_of;
    return true;
}

bool core_samples_analyse(struct profile *p, struct device *d, struct error *e)
{
    static const enum sampler samplers[] = { SAMPLER_CORE, SAMPLER_VECTOR_CORE };
    (void)p;
    const struct source *s = &d->source;
    struct core_sums(*sums)[MOST_CORES] = arena_take(s->mem, CORES, sizeof *sums);
    bool done = sums != NULL;
    for (size_t k = 0; k < sizeof samplers / sizeof *samplers && done; k++)
        done = walk_samples(s, samplers[k], &d->counters.raw[samplers[k]], sums, &d->counters.rate[samplers[k]]);
    for (unsigned kind = 0; kind < CORES && done; kind++) {
        const struct core_setting c = core_setting(s, kind);
        done = summarise(&c, sums[kind], s->mem, &d->counters.core[kind]);
    }
    return done || error_no_memory(e, s->path);
}
