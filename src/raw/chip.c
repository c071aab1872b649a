/* SPDX-License-Identifier: Apache-2.0 */
#include "raw/chip.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { ALL_CORES = UINT8_MAX };

/* clang-format off */
#define L2_OF_910   .l2 = { { { 0x59 }, { 0x5b }, { 0x5c } } }, .l2_events = "0x59,0x7d,0x7e,0x5b,0x71,0x5c,0x79,0x7c"
#define L2_OF_310P  .l2 = { { { 0x78, 0x79 }, { 0x6a }, { 0x71 } } }, .l2_events = "0x77,0x78,0x79,0x6a,0x6c,0x71,0x74,0x62"
#define L2_OF_STARS .l2 = { { { 0xfb, 0xfc }, { 0x90, 0x91 }, { 0x9c } } }, .l2_events = "0xf6,0xfb,0xfc,0x90,0x91,0x9c,0x9d,0x7d"
#define L2_OF_950   .l2 = { { { EVENT_ZERO }, { 0 }, { 0x74, 0x75 } } }, .l2_events = "0x00,0x81,0x82,0x83,0x74,0x75"
#define SMMU        .smmu = { { { 0x8a }, { 0x8c, 0x8d }, { 0x2 } } }

#define A2_OR_A3 \
    .platform = 5, .group = ON_A2, .name = "Ascend910B", .product = "Atlas A2 (910B) or A3 (910_93)", .task_log = TASK_LOG_STARS, .is_native = true, \
    .has_unique_ids = true, .is_stars = true, .last_cube_core = 24, .llc_units = 2, .ddr_bits = 128, .draws_freq = true, .stores_freq = true, \
    .draws_voltage = true, .pcie_is_last = true, .counts_l2_bw = true, L2_OF_STARS, SMMU

/* In the order in which the simulator offers them. */
static const struct chip chips[] = {
    { A2_OR_A3, .spoken = { "A2", "910B" }, .n_cube = 24, .n_vector = 48, .core_mhz = 1800, .memory_gbs = 1600 },
    { A2_OR_A3, .spoken = { "A3", "910_93", "910C" }, .n_cube = 24, .n_vector = 48, .core_mhz = 1850, .has_two_dies = true },
    { .platform = 1, .group = ON_910, .spoken = { "910", "910A" }, .n_cube = 32, .n_vector = 0, .core_mhz = 1000,
      .name = "Ascend910A", .product = "Atlas training products (910)", .task_log = TASK_LOG_HWTS, .tracks_ai_cpu = true, .logs_no_types = true,
      .has_one_core = true, .has_unique_ids = true, .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 256, L2_OF_910 },
    { .platform = 0, .group = ON_310, .spoken = { "310" }, .n_cube = 2, .n_vector = 0, .core_mhz = 680,
      .name = "Ascend310", .product = "310", .task_log = TASK_LOG_HWTS, .tracks_tasks = true, .has_one_core = true, .has_half_vector = true,
      .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 128, .counts_l2_bw = true, .counts_mte_bw = true,
      .l2_events = "0x77,0x78,0x79,0x6a,0x6c,0x71,0x74,0x62" },
    { .platform = 4, .group = ON_310P, .spoken = { "310P" }, .n_cube = 8, .n_vector = 7, .core_mhz = 1080,
      .name = "Ascend310P", .product = "Atlas inference products (310P)", .task_log = TASK_LOG_HWTS, .tracks_models = true, .has_one_core = true,
      .has_narrow_vector = true, .has_unique_ids = true, .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 256,
      .draws_freq = true, L2_OF_310P },
    { .platform = 7, .group = ON_310B, .spoken = { "310B" }, .n_cube = 1, .n_vector = 0, .core_mhz = 1224,
      .name = "Ascend310B", .product = "Atlas 200I/500 A2 (310B)", .task_log = TASK_LOG_STARS, .has_one_core = true, .counts_no_vector = true,
      .has_unique_ids = true, .is_stars = true, .last_cube_core = 0, .llc_units = 1, .ddr_bits = 128, .draws_freq = true,
      .stores_freq = true, L2_OF_STARS },
    { .platform = 15, .group = ON_950, .spoken = { "950" }, .n_cube = 32, .n_vector = 64, .core_mhz = 1650, .memory_gbs = 1600,
      .name = "Ascend950", .product = "950", .task_log = TASK_LOG_SHORT, .counts_ten = true, .stores_die_freq = true, .has_ccu = true, .is_native = true, .has_wide_ids = true, .has_unique_ids = true,
      .is_stars = true, .last_cube_core = 35, .llc_units = 4, .ddr_bits = 128, L2_OF_950, SMMU },
    { .platform = 2, .group = ON_MDC, .spoken = { "MDC" }, .n_cube = 10, .n_vector = 8, .core_mhz = 1000,
      .name = "UNKNOWN", .product = "MDC", .task_log = TASK_LOG_HWTS, .has_one_core = true, .has_narrow_vector = true,
      .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 256, L2_OF_310P },
    { .platform = 3, .group = ON_MDC, .n_cube = 2, .n_vector = 0, .core_mhz = 800,
      .name = "UNKNOWN", .product = "a chip of the MDC kind", .task_log = TASK_LOG_HWTS, .has_one_core = true, .has_narrow_vector = true,
      .has_unique_ids = true, .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 256, L2_OF_310P },
    { .platform = 8, .group = ON_310B, .spoken = { "Tiny" }, .n_cube = 1, .n_vector = 0, .core_mhz = 1000,
      .name = "UNKNOWN", .product = "Tiny", .task_log = TASK_LOG_STARS, .has_one_core = true, .counts_no_vector = true,
      .has_unique_ids = true, .is_stars = true, .last_cube_core = 0, .llc_units = 1, .ddr_bits = 128, L2_OF_STARS },
    { .platform = 11, .group = ON_310B, .spoken = { "MDC-mini" }, .n_cube = 1, .n_vector = 0, .core_mhz = 1000,
      .name = "UNKNOWN", .product = "MDC mini", .task_log = TASK_LOG_STARS, .has_one_core = true, .counts_no_vector = true,
      .is_stars = true, .last_cube_core = 0, .llc_units = 1, .ddr_bits = 128, L2_OF_STARS },
    { .platform = 9, .group = ON_NANO, .name = "UNKNOWN", .product = "Nano", .has_unique_ids = true,
      .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 128 },
    { .platform = 16, .group = ON_950, .name = "UNKNOWN", .product = "950", .task_log = TASK_LOG_SHORT, .counts_ten = true, .stores_die_freq = true, .has_ccu = true, .is_native = true, .has_wide_ids = true, .has_unique_ids = true,
      .is_stars = true, .last_cube_core = 35, .llc_units = 4, .ddr_bits = 128, L2_OF_950, SMMU },
    { .platform = PLATFORM_CUDA, .group = ON_CUDA, .name = "CUDA", .product = "a GPU of NVIDIA", .task_log = TASK_LOG_CUDA, .is_native = true,
      .has_wide_ids = true, .has_unique_ids = true, .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 128 },
    { .platform = PLATFORM_MSPTI, .group = ON_MSPTI, .name = "MSPTI", .product = "an Ascend NPU, recorded by MSPTI", .task_log = TASK_LOG_CUDA,
      .is_native = true, .has_wide_ids = true, .has_unique_ids = true, .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 128 },
};

static const struct chip unknown = {
    .platform = -1, .group = ON_UNKNOWN, .name = "UNKNOWN", .product = "a chip that this version does not know",
    .has_unique_ids = true, .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 128,
};
/* clang-format on */

const struct chip *chip_of(int platform)
{
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
        if (chips[i].platform == platform)
            return &chips[i];
    return &unknown;
}

const struct chip_words *chip_words(const struct chip *c)
{
    static const struct chip_words of_npu = { "NPU", "CANN", "Ascend Hardware", "HCCL" },
                                   of_gpu = { "GPU", "CUDA", "GPU", "NCCL" };
    return c->group == ON_CUDA ? &of_gpu : &of_npu;
}

const struct chip *chip_simulated(size_t i)
{
    const struct chip *c = i < sizeof chips / sizeof *chips ? &chips[i] : NULL;
    return c && c->n_cube > 0 ? c : NULL; /* chips that cannot be simulated are the last rows */
}

const char *chip_word(size_t i)
{
    const struct chip *c;
    for (size_t k = 0; (c = chip_simulated(k)); k++)
        if (c->spoken[0] && i-- == 0)
            return c->spoken[0];
    return NULL;
}

const struct chip *chip_find(const char *name)
{
    static const char maker[] = "Ascend";
    const size_t skip = strncasecmp(name, maker, sizeof maker - 1) == 0 ? sizeof maker - 1 : 0;
    const struct chip *c;
    for (size_t i = 0; (c = chip_simulated(i)); i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", c->platform);
        if (strcmp(name, number) == 0)
            return c;
        for (size_t k = 0; k < CHIP_NAMES && c->spoken[k]; k++)
            if (strcasecmp(name + skip, c->spoken[k]) == 0)
                return c;
    }
    return NULL;
}
