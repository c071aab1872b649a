/* SPDX-License-Identifier: Apache-2.0 */
#include "raw/counter.h"

/* clang-format off */
#define EIGHT(first, at)                                                                        \
    [(first) + 0] = { (at) + 0, W64, "event_0" },  [(first) + 1] = { (at) + 8, W64, "event_1" },  \
    [(first) + 2] = { (at) + 16, W64, "event_2" }, [(first) + 3] = { (at) + 24, W64, "event_3" }, \
    [(first) + 4] = { (at) + 32, W64, "event_4" }, [(first) + 5] = { (at) + 40, W64, "event_5" }, \
    [(first) + 6] = { (at) + 48, W64, "event_6" }, [(first) + 7] = { (at) + 56, W64, "event_7" }

const struct layout l2_cache_layout = {
    .name = "l2_cache", .size = 72, .n = L2_FIELDS,
    .field = {
        [L2_TASK_TYPE] = { 0, W16, "task_type" },
        [L2_STREAM] = { 2, W16, "stream" },
        [L2_TASK] = { 4, W16, "task" },
        EIGHT(L2_FIRST, 8),
    },
};

const struct layout smmu_layout = {
    .name = "socpmu", .size = 80, .n = SMMU_FIELDS,
    .field = {
        [SMMU_TASK_TYPE] = { 8, W16, "task_type" },
        [SMMU_STREAM] = { 10, W16, "stream" },
        [SMMU_TASK] = { 12, W16, "task" },
        [SMMU_DATA_TYPE] = { 14, W16, "data_type" },
        EIGHT(SMMU_FIRST, 16),
    },
};

const struct layout smmu_wide_layout = {
    .name = "socpmu_wide", .size = 80, .n = SMMU_FIELDS,
    .field = {
        [SMMU_TASK_TYPE] = { 8, W16, "task_type" },
        [SMMU_STREAM] = { 10, W16, "stream" },
        [SMMU_TASK] = { 12, W32, "task" },
        [SMMU_DATA_TYPE] = { 6, W16, "data_type" },
        EIGHT(SMMU_FIRST, 16),
    },
};

#define PAIR(i)                                                                  \
    [TS_CPU_FIRST + 2 * (i)] = { 192 + 16 * (i), W64, "event_" #i },             \
    [TS_CPU_FIRST + 2 * (i) + 1] = { 192 + 16 * (i) + 8, W64, "count_" #i }

const struct layout ts_cpu_layout = {
    .name = "tscpu", .size = 304, .magic = { 0, W32, 0xFFFFFFFF, 0xABABABAB }, .keeps_rest = true, .n = TS_CPU_FIELDS,
    .field = {
        [TS_CPU_PC] = { 176, W64, "pc" },
        [TS_CPU_TIME] = { 184, W64, "time" },
        PAIR(0), PAIR(1), PAIR(2), PAIR(3), PAIR(4), PAIR(5), PAIR(6),
    },
};
/* clang-format on */

const struct layout *smmu_layout_of(const struct chip *c)
{
    return c->has_wide_ids ? &smmu_wide_layout : &smmu_layout;
}
