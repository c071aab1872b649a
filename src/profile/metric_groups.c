/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/metric_groups.h"

#include <string.h>

#define AIC_ONLY  .hidden_of = { [CORE_AIV] = true }
#define AIV_ONLY  .hidden_of = { [CORE_AIC] = true }
#define VECTOR    .is_of_vector = true
#define ON(width) .vector = width
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

/* Cube and vector unit in one core. Where a table differs from the one above, the reference's two ways of computing
 * differ. */
static const struct metric pipeline_execute[] = {
    PIPE("vec_exe", ONE(0x12c)),     PIPE("mac_exe", TWO(0x49, 0x4a)), PIPE("scalar_exe", ONE(0x9)),
    PIPE("mte1_exe", ONE(0x302)),    PIPE("mte2_exe", ONE(0xc)),       PIPE("mte3_exe", ONE(0xd)),
    PIPE("fixpipe_exe", ONE(0x303)),
};

static const struct metric one_core_pipe_utilization[] = {
    PIPE("vec", ONE(0x8), VECTOR), PIPE("mac", ONE(0xa)),  PIPE("scalar", ONE(0x9)), PIPE("mte1", ONE(0xb)),
    PIPE("mte2", ONE(0xc)),        PIPE("mte3", ONE(0xd)), ICACHE_MISS_RATE,
};

static const struct metric one_core_arithmetic[] = {
    RATIO("mac_fp16_ratio", ONE(0x49)),
    RATIO("mac_int8_ratio", ONE(0x4a)),
    RATIO("vec_fp32_ratio", ONE(0x4b), VECTOR),
    RATIO("vec_fp16_ratio", TWO(0x4c, 0x4d), VECTOR),
    RATIO("vec_int32_ratio", ONE(0x4e), VECTOR),
    RATIO("vec_misc_ratio", ONE(0x4f), VECTOR),
    SUM("cube_fops", METRIC_OPS, TWO(0x49, 0x4a), WEIGHTS(8192, 16384)),
    SUM("vector_fops", METRIC_OPS, FIVE(0x4c, 0x4d, 0x4b, 0x4e, 0x4f), WEIGHTS(128, 64, 64, 64, 32), ON(WIDE_VECTOR)),
    SUM("vector_fops", METRIC_OPS, FIVE(0x4c, 0x4d, 0x4b, 0x4e, 0x4f), WEIGHTS(128, 64, 64, 16, 16), ON(NARROW_VECTOR)),
};

static const struct metric one_core_memory[] = {
    BW("ub_read_bw", 0x15, BITS(256 * 4), VECTOR), BW("ub_write_bw", 0x16, BITS(256 * 4), VECTOR),
    BW("l1_read_bw", 0x31, BITS(256 * 16)),        BW("l1_write_bw", 0x32, BITS(256 * 8)),
    BW("main_mem_read_bw", 0x12, BITS(8 * 8)),     BW("main_mem_write_bw", 0x13, BITS(8 * 8)),
};

static const struct metric one_core_memory_l0[] = {
    BW("l0a_read_bw", 0x1b, BITS(256 * 16)),     BW("l0a_write_bw", 0x1c, BITS(256 * 16)),
    BW("l0b_read_bw", 0x21, BITS(256 * 8)),      BW("l0b_write_bw", 0x22, BITS(256 * 8)),
    BW("l0c_read_bw", 0x27, BITS(256 * 8)),      BW("l0c_write_bw", 0x29, BITS(256 * 8), VECTOR),
    BW("l0c_read_bw_cube", 0x28, BITS(256 * 8)), BW("l0c_write_bw_cube", 0x2a, BITS(256 * 8)),
};

/* Chips count the traffic of the vector unit with one of two sets of events. */
static const struct metric one_core_memory_ub[] = {
    BW("ub_read_bw_vector", 0x43, BITS(128 * 2)),
    SUM("ub_read_bw_vector", METRIC_BANDWIDTH, TWO(0x17f, 0x180), WEIGHTS(128 * 2, 128 * 2)),
    BW("ub_write_bw_vector", 0x44, BITS(128 * 2)),
    BW("ub_write_bw_vector", 0x191, BITS(128 * 2)),
    BW("ub_read_bw_scalar", 0x37, BITS(128)),
    BW("ub_write_bw_scalar", 0x38, BITS(128)),
};

static const struct metric one_core_conflicts[] = {
    RATIO("vec_bankgroup_cflt_ratio", ONE(0x64), VECTOR),
    RATIO("vec_bank_cflt_ratio", ONE(0x65), VECTOR),
    RATIO("vec_resc_cflt_ratio", ONE(0x66), VECTOR),
};

/* Ten events. The reference adds 0x572 to ub_write_bw only beside 0x556, which is never in the same group. */
static const struct metric ten_pipe_utilization[] = {
    PIPE("vec", ONE(0x501), AIV_ONLY),
    PIPE("mac", ONE(0x301), AIC_ONLY),
    PIPE("scalar", ONE(0x1)),
    PIPE("mte1", ONE(0x701), AIC_ONLY),
    PIPE("mte2", ONE(0x202)),
    PIPE("mte3", ONE(0x203)),
    PIPE("fixpipe", ONE(0x714), AIC_ONLY),
    SUM("icache_miss_rate", METRIC_RATE, TWO(0x35, 0x34)),
};

static const struct metric ten_arithmetic[] = {
    RATIO("mac_fp16_ratio", ONE(0x323), AIC_ONLY),
    RATIO("mac_int8_ratio", ONE(0x324), AIC_ONLY),
    SUM("cube_fops", METRIC_OPS, TWO(0x323, 0x324), WEIGHTS(8192, 16384), AIC_ONLY),
};

static const struct metric ten_memory[] = {
    SUM("ub_read_bw", METRIC_BANDWIDTHS, TWO(0x56f, 0x571), WEIGHTS(256 * 4, 256), AIV_ONLY),
    BW("ub_write_bw", 0x570, BITS(256 * 4), AIV_ONLY),
    BW("l1_read_bw", 0x707, BITS(256 * 16), AIC_ONLY),
    BW("l1_write_bw", 0x709, BITS(256 * 8), AIC_ONLY),
    BW("main_mem_read_bw", 0x400, BITS(8 * 8)),
    BW("main_mem_write_bw", 0x401, BITS(8 * 8)),
};

static const struct metric ten_memory_l0[] = {
    BW("l0a_read_bw", 0x304, BITS(256 * 16), AIC_ONLY),      BW("l0a_write_bw", 0x703, BITS(256 * 16), AIC_ONLY),
    BW("l0b_read_bw", 0x306, BITS(256 * 8), AIC_ONLY),       BW("l0b_write_bw", 0x705, BITS(256 * 8), AIC_ONLY),
    BW("l0c_read_bw", 0x712, BITS(256 * 8), AIV_ONLY),       BW("l0c_read_bw_cube", 0x30a, BITS(256 * 8), AIC_ONLY),
    BW("l0c_write_bw_cube", 0x308, BITS(256 * 8), AIC_ONLY),
};

static const struct metric ten_memory_ub[] = {
    BW("ub_read_bw_vector", 0x571, BITS(128 * 2), AIV_ONLY),
    BW("ub_write_bw_vector", 0x572, BITS(128 * 2), AIV_ONLY),
    BW("ub_read_bw_scalar", 0x3, BITS(128)),
    BW("ub_write_bw_scalar", 0x5, BITS(128)),
    BW("fixp2ub_write_bw", 0x70c, BITS(256 * 8)),
};

static const struct metric ten_conflicts[] = {
    RATIO("vec_bank_cflt_ratio", TWO(0x540, 0x556), AIV_ONLY),
    SUM("vec_resc_cflt_ratio", METRIC_RATE, TWO(0x528, 0x502), AIV_ONLY),
};

static const struct metric ten_l2_cache[] = {
    COUNT("read_local_l2_hit", 0x424),  COUNT("read_local_l2_miss", 0x425),  COUNT("read_local_l2_victim", 0x426),
    COUNT("write_local_l2_hit", 0x42a), COUNT("write_local_l2_miss", 0x42b), COUNT("write_local_l2_victim", 0x42c),
};

#define GROUP(text, list)                                                                                              \
    {                                                                                                                  \
        text, list, sizeof(list) / sizeof *(list)                                                                      \
    }
static const struct metric_group two_cores[] = {
    GROUP("PipeUtilization", pipe_utilization),
    GROUP("PipeUtilizationExct", pipe_utilization_exact),
    GROUP("ArithmeticUtilization", arithmetic_utilization),
    GROUP("Memory", memory),
    GROUP("MemoryL0", memory_l0),
    GROUP("MemoryUB", memory_ub),
    GROUP("ResourceConflictRatio", resource_conflict_ratio),
    GROUP("L2Cache", l2_cache),
    GROUP("MemoryAccess", memory_access),
    { 0 },
};

static const struct metric_group one_core[] = {
    GROUP("PipeUtilization", one_core_pipe_utilization),
    GROUP("PipeUtilizationExct", pipe_utilization_exact),
    GROUP("PipelineExecuteUtilization", pipeline_execute),
    GROUP("ArithmeticUtilization", one_core_arithmetic),
    GROUP("Memory", one_core_memory),
    GROUP("MemoryL0", one_core_memory_l0),
    GROUP("MemoryUB", one_core_memory_ub),
    GROUP("ResourceConflictRatio", one_core_conflicts),
    GROUP("L2Cache", l2_cache),
    GROUP("MemoryAccess", memory_access),
    { 0 },
};

static const struct metric_group of_ten_events[] = {
    GROUP("PipeUtilization", ten_pipe_utilization),
    GROUP("ArithmeticUtilization", ten_arithmetic),
    GROUP("Memory", ten_memory),
    GROUP("MemoryL0", ten_memory_l0),
    GROUP("MemoryUB", ten_memory_ub),
    GROUP("ResourceConflictRatio", ten_conflicts),
    GROUP("L2Cache", ten_l2_cache),
    { 0 },
};

const struct metric_group *metric_group_find(const char *name, const struct chip *chip)
{
    const struct metric_group *g = chip->counts_ten ? of_ten_events : chip->has_one_core ? one_core : two_cores;
    for (; g->name; g++)
        if (strcmp(g->name, name) == 0)
            return g;
    return NULL;
}
