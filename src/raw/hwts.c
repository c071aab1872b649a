/* SPDX-License-Identifier: Apache-2.0 */
#include "raw/hwts.h"

/* clang-format off */
const struct layout hwts_layout = {
    .name = "hwts", .size = 64, .kind = { 0, W8, 6, 0 }, .n = HWTS_FIELDS,
    .field = {
        [HWTS_HEAD] = { 0, W8, "head" },
        [HWTS_TYPE] = { 1, W8, "type" },
        [HWTS_TASK] = { 6, W16, "task" },
        [HWTS_TICK] = { 8, W64, "tick" },
        [HWTS_STREAM] = { 16, W32, "stream" },
    },
};

const struct layout hwts_pmu_layout = {
    .name = "hwts_pmu", .size = 128, .keeps_rest = true, .n = HWTS_PMU_FIELDS,
    .field = {
        [HWTS_PMU_HEAD] = { 0, W8, "head" },
        [HWTS_PMU_TASK] = { 6, W16, "task" },
        [HWTS_PMU_CYCLES] = { 16, W64, "cycles" },
        [HWTS_PMU_STREAM] = { 96, W32, "stream" },
    },
};
/* clang-format on */
