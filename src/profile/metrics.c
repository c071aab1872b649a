#include "profile/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/table.h"

#define AIC_ONLY  .hidden_of = { [CORE_AIV] = true }
#define AIV_ONLY  .hidden_of = { [CORE_AIC] = true }
#define ONE(e)    .n_events = 1, .event = { e }
#define TWO(a, b) .n_events = 2, .event = { a, b }
#define FIVE(...) .n_events = 5, .event = { __VA_ARGS__ }
#define RATIO(n, ...)                                                                                                  \
    {                                                                                                                  \
        .name = n, .kind = METRIC_RATIO, __VA_ARGS__                                                                   \
    }
#define TIME(n, ...)                                                                                                   \
    {                                                                                                                  \
        .name = n, .kind = METRIC_TIME, __VA_ARGS__                                                                    \
    }
#define PIPE(n, ...) TIME(n "_time", __VA_ARGS__), RATIO(n "_ratio", __VA_ARGS__)
#define BW(n, e, ...)                                                                                                  \
    {                                                                                                                  \
        .name = n, .kind = METRIC_BANDWIDTH, ONE(e), __VA_ARGS__                                                       \
    }
#define BITS(bits) .weight = { bits }
#define SUM(n, k, ...)                                                                                                 \
    {                                                                                                                  \
        .name = n, .kind = k, __VA_ARGS__                                                                              \
    }
#define WEIGHTS(...) .weight = { __VA_ARGS__ }
#define COUNT(n, e)                                                                                                    \
    {                                                                                                                  \
        .name = n, .kind = METRIC_COUNT, ONE(e)                                                                        \
    }
#define ICACHE_MISS_RATE                                                                                               \
    {                                                                                                                  \
        .name = "icache_miss_rate", .kind = METRIC_RATE, TWO(0x55, 0x54)                                               \
    }

static const struct metric pipe_utilization[] = {
    PIPE("vec", ONE(0x8), AIV_ONLY),
    PIPE("mac", ONE(0xa), AIC_ONLY),
    PIPE("scalar", ONE(0x9)),
    PIPE("mte1", ONE(0xb), AIC_ONLY),
    PIPE("mte2", ONE(0xc)),
    PIPE("mte3", ONE(0xd)),
    ICACHE_MISS_RATE,
};

static const struct metric pipe_utilization_exact[] = {
    PIPE("mac", TWO(0x416, 0x417), AIC_ONLY), PIPE("scalar", ONE(0x9)),
    PIPE("mte1", ONE(0x302), AIC_ONLY),       PIPE("mte2", ONE(0xc)),
    PIPE("fixpipe", ONE(0x303), AIC_ONLY),    ICACHE_MISS_RATE,
};

static const struct metric arithmetic_utilization[] = {
    RATIO("mac_fp16_ratio", ONE(0x49), AIC_ONLY),
    RATIO("mac_int8_ratio", ONE(0x4a), AIC_ONLY),
    RATIO("vec_fp32_ratio", ONE(0x4b), AIV_ONLY),
    RATIO("vec_fp16_ratio", TWO(0x4c, 0x4d), AIV_ONLY),
    RATIO("vec_int32_ratio", ONE(0x4e), AIV_ONLY),
    RATIO("vec_misc_ratio", ONE(0x4f), AIV_ONLY),
    SUM("cube_fops", METRIC_OPS, TWO(0x49, 0x4a), WEIGHTS(8192, 16384), AIC_ONLY),
    SUM("vector_fops", METRIC_OPS, FIVE(0x4c, 0x4d, 0x4b, 0x4e, 0x4f), WEIGHTS(128, 64, 64, 64, 32), AIV_ONLY),
};

static const struct metric memory[] = {
    BW("ub_read_bw", 0x15, BITS(256 * 4), AIV_ONLY),
    BW("ub_write_bw", 0x16, BITS(256 * 4), AIV_ONLY),
    BW("l1_read_bw", 0x31, BITS(256 * 16), AIC_ONLY),
    BW("l1_write_bw", 0x32, BITS(128 * 8), AIC_ONLY),
    BW("main_mem_read_bw", 0x12, BITS(8 * 8)),
    BW("main_mem_write_bw", 0x13, BITS(8 * 8)),
    BW("l2_read_bw", 0x0f, BITS(256 * 8)),
    BW("l2_write_bw", 0x10, BITS(256 * 8)),
};

static const struct metric memory_l0[] = {
    BW("l0a_read_bw", 0x1b, BITS(256 * 16), AIC_ONLY),      BW("l0a_write_bw", 0x1c, BITS(256 * 16), AIC_ONLY),
    BW("l0b_read_bw", 0x21, BITS(256 * 16), AIC_ONLY),      BW("l0b_write_bw", 0x22, BITS(256 * 8), AIC_ONLY),
    BW("l0c_read_bw", 0x27, BITS(256 * 8), AIV_ONLY),       BW("l0c_write_bw", 0x29, BITS(256 * 8), AIV_ONLY),
    BW("l0c_read_bw_cube", 0x28, BITS(256 * 32), AIC_ONLY), BW("l0c_write_bw_cube", 0x2a, BITS(256 * 32), AIC_ONLY),
};

static const struct metric memory_ub[] = {
    BW("ub_read_bw_vector", 0x43, BITS(128 * 2), AIV_ONLY),
    BW("ub_write_bw_vector", 0x44, BITS(128 * 2), AIV_ONLY),
    BW("ub_read_bw_scalar", 0x37, BITS(128)),
    BW("ub_write_bw_scalar", 0x38, BITS(128)),
};

static const struct metric resource_conflict_ratio[] = {
    RATIO("vec_bankgroup_cflt_ratio", ONE(0x64), AIV_ONLY),
    RATIO("vec_bank_cflt_ratio", ONE(0x65), AIV_ONLY),
    RATIO("vec_resc_cflt_ratio", ONE(0x66), AIV_ONLY),
};

static const struct metric l2_cache[] = {
    COUNT("write_cache_hit", 0x500),   COUNT("write_cache_miss_allocate", 0x502),
    COUNT("r0_read_cache_hit", 0x504), COUNT("r0_read_cache_miss_allocate", 0x506),
    COUNT("r1_read_cache_hit", 0x508), COUNT("r1_read_cache_miss_allocate", 0x50a),
};

static const struct metric memory_access[] = {
    SUM("read_main_memory_datas", METRIC_AMOUNT, TWO(0x50d, 0x50e), WEIGHTS(0.125, 0.125)),
    SUM("write_main_memory_datas", METRIC_AMOUNT, ONE(0x50c), WEIGHTS(0.125)),
    SUM("GM_to_L1_datas", METRIC_AMOUNT, TWO(0x32, 0x206), WEIGHTS(0.25, -0.25)),
    SUM("L0C_to_L1_datas", METRIC_AMOUNT, ONE(0x206), WEIGHTS(0.125)),
    SUM("L0C_to_GM_datas", METRIC_AMOUNT, TWO(0x20c, 0x206), WEIGHTS(0.125, -0.125)),
    SUM("GM_to_UB_datas", METRIC_AMOUNT, ONE(0x3e), WEIGHTS(0.125)),
    SUM("UB_to_GM_datas", METRIC_AMOUNT, ONE(0x3d), WEIGHTS(0.125)),
};

#define GROUP(text, list)                                                                                              \
    {                                                                                                                  \
        text, list, sizeof(list) / sizeof *(list)                                                                      \
    }
static const struct {
    const char *name; /* as sample.json spells it */
    const struct metric *metric;
    size_t n;
} groups[] = {
    GROUP("PipeUtilization", pipe_utilization),
    GROUP("PipeUtilizationExct", pipe_utilization_exact),
    GROUP("ArithmeticUtilization", arithmetic_utilization),
    GROUP("Memory", memory),
    GROUP("MemoryL0", memory_l0),
    GROUP("MemoryUB", memory_ub),
    GROUP("ResourceConflictRatio", resource_conflict_ratio),
    GROUP("L2Cache", l2_cache),
    GROUP("MemoryAccess", memory_access),
};

/* How each kind is shown in tables. */
static const char *const unit_of_kind[] = {
    [METRIC_TOTAL_TIME] = "(us)", [METRIC_CYCLES] = "",          [METRIC_RATIO] = "", [METRIC_TIME] = "(us)",
    [METRIC_RATE] = "",           [METRIC_BANDWIDTH] = "(GB/s)", [METRIC_OPS] = "",   [METRIC_AMOUNT] = "(KB)",
    [METRIC_COUNT] = "",
};

static const char *const prefix_of_core[CORES] = { [CORE_AIC] = "aic_", [CORE_AIV] = "aiv_" };
static const char *const total_time_label[CORES] = { [CORE_AIC] = "aicore_time(us)", [CORE_AIV] = "aiv_time(us)" };

struct event_list event_list_parse(const char *text)
{
    struct event_list e = { 0 };
    while (e.n < METRIC_COUNTERS) {
        char *end;
        const unsigned long id = strtoul(text, &end, 16);
        if (end == text || id > UINT16_MAX)
            break;
        e.id[e.n++] = (uint16_t)id;
        text = *end == ',' ? end + 1 : end;
    }
    return e;
}

bool event_list_find(const struct event_list *l, uint16_t event, uint8_t *counter)
{
    for (unsigned i = 0; i < l->n; i++)
        if (l->id[i] == event) {
            *counter = (uint8_t)i;
            return true;
        }
    return false;
}

static bool find_counters(struct metric_column *c, const struct event_list *events)
{
    for (unsigned i = 0; i < c->metric.n_events; i++)
        if (!event_list_find(events, c->metric.event[i], &c->counter[i]))
            return false;
    return true;
}

struct adding {
    struct metric_columns *to;
    enum core core;
    struct event_list events;
    bool is_custom;
    struct arena *mem;
};

static void add_column(struct adding *a, const struct metric *m)
{
    struct metric_column c = { .metric = *m, .core = a->core, .is_custom = a->is_custom };
    if (!find_counters(&c, &a->events))
        return;
    c.is_hidden = m->hidden_of[a->core];
    c.name = arena_printf(a->mem, "%s%s", prefix_of_core[a->core], m->name);
    c.label = m->kind == METRIC_TOTAL_TIME ? total_time_label[a->core]
                                           : arena_printf(a->mem, "%s%s", c.name, unit_of_kind[m->kind]);
    a->to->column[a->to->n++] = c;
}

bool metric_columns_add(struct metric_columns *to, enum core core, const char *group, const char *events,
                        struct arena *mem)
{
    static const char custom[] = "Custom:";
    static const struct metric always[] = {
        {.name = "total_time",    .kind = METRIC_TOTAL_TIME},
        { .name = "total_cycles", .kind = METRIC_CYCLES    },
    };
    struct adding a = { to, core, event_list_parse(events), strncmp(group, custom, sizeof custom - 1) == 0, mem };
    size_t g = 0;
    while (g < sizeof groups / sizeof *groups && strcmp(groups[g].name, group) != 0)
        g++;
    const bool is_known = g < sizeof groups / sizeof *groups;
    if (!is_known && !a.is_custom)
        return false;

    const size_t most = to->n + 2 + (is_known ? groups[g].n : a.events.n);
    struct metric_column *grown = arena_take(mem, most, sizeof *grown);
    if (!grown)
        return false;
    if (to->n > 0)
        memcpy(grown, to->column, to->n * sizeof *grown);
    to->column = grown;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        add_column(&a, &always[i]);
    for (size_t i = 0; is_known && i < groups[g].n; i++)
        add_column(&a, &groups[g].metric[i]);
    for (unsigned i = 0; a.is_custom && i < a.events.n; i++) {
        const struct metric m = { arena_printf(mem, "r%x", a.events.id[i]), METRIC_COUNT, ONE(a.events.id[i]) };
        add_column(&a, &m);
    }
    return !arena_failed(mem);
}

/* Blocks run on the cores in rounds; the cycles are the sum over all blocks. */
static double total_time_us(const struct core_counts *c, bool is_coarse)
{
    if (c->blocks == 0 || c->n_cores == 0 || !(c->mhz > 0))
        return 0;
    const uint32_t rounds = (uint32_t)(((uint64_t)c->blocks + c->n_cores - 1) / c->n_cores);
    const double hz = c->mhz * 1e6;
    const double us = (double)c->cycles * 1e6 / hz / c->blocks * rounds;
    return is_coarse ? round_exact(us, 2) : us;
}

static double count_of(const struct metric_column *m, unsigned event, const struct core_counts *c)
{
    return (double)le64(c->counters + sizeof(uint64_t) * m->counter[event]);
}

static double weighted_sum(const struct metric_column *m, const struct core_counts *c)
{
    double sum = 0;
    for (unsigned i = 0; i < m->metric.n_events; i++)
        sum += m->metric.weight[i] * count_of(m, i, c);
    return sum;
}

static double per_cycle(const struct metric_column *m, const struct core_counts *c)
{
    double sum = 0;
    for (unsigned i = 0; i < m->metric.n_events && c->cycles > 0; i++)
        sum += count_of(m, i, c) / (double)c->cycles;
    return sum;
}

static double event_rate(const struct metric_column *m, const struct core_counts *c)
{
    const double a = count_of(m, 0, c), b = count_of(m, 1, c), cycles = (double)c->cycles;
    return a > 0 && b > 0 && cycles > 0 ? a / cycles / (b / cycles) : 0;
}

static double bandwidth(const struct metric_column *m, const struct core_counts *c)
{
    const double hz = c->nominal_mhz * 1e6;
    if (c->cycles == 0 || !(hz > 0))
        return 0;
    return weighted_sum(m, c) / ((double)c->cycles / hz) / (8.0 * 1024 * 1024 * 1024);
}

double metric_value(const struct metric_column *m, const struct core_counts *c, bool coarse_times)
{
    const bool is_coarse = coarse_times || m->is_custom;
    switch (m->metric.kind) {
    case METRIC_TOTAL_TIME: return total_time_us(c, is_coarse);
    case METRIC_CYCLES: return (double)c->cycles;
    case METRIC_RATIO: return per_cycle(m, c);
    case METRIC_TIME: return total_time_us(c, is_coarse) * per_cycle(m, c);
    case METRIC_RATE: return event_rate(m, c);
    case METRIC_BANDWIDTH: return bandwidth(m, c);
    case METRIC_OPS: return c->cycles > 0 ? weighted_sum(m, c) : 0;
    case METRIC_AMOUNT: return weighted_sum(m, c);
    case METRIC_COUNT: return count_of(m, 0, c);
    }
    return 0;
}
