#include "profile/chip.h"

#include <stddef.h>
#include <string.h>

enum { ALL_CORES = UINT8_MAX };

/* clang-format off */
#define L2_OF_910   .l2 = { { { 0x59 }, { 0x5b }, { 0x5c } } }
#define L2_OF_310P  .l2 = { { { 0x78, 0x79 }, { 0x6a }, { 0x71 } } }
#define L2_OF_STARS .l2 = { { { 0xfb, 0xfc }, { 0x90, 0x91 }, { 0x9c } } }
#define UNREAD_OF_950 .unread = { "ffts_profile.data", "stars_soc_profile.data", "stars_block.data", "l2_cache.data", "socpmu.data", "ub.data" }
#define SMMU        .smmu = { { { 0x8a }, { 0x8c, 0x8d }, { 0x2 } } }

static const struct chip chips[] = {
    { .platform = 5, .name = "Ascend910B", .product = "Atlas A2 (910B) or A3 (910_93)", .task_log = TASK_LOG_STARS, .is_native = true, .has_unique_ids = true,
      .is_stars = true, .last_cube_core = 24, .llc_units = 2, .ddr_bits = 128, .draws_freq = true, .stores_freq = true,
      .draws_voltage = true, .pcie_is_last = true, .counts_l2_bw = true, L2_OF_STARS, SMMU },
    { .platform = 0, .name = "Ascend310", .product = "310", .task_log = TASK_LOG_HWTS, .tracks_tasks = true, .has_one_core = true, .has_half_vector = true,
      .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 128, .counts_l2_bw = true, .counts_mte_bw = true },
    { .platform = 1, .name = "Ascend910A", .product = "Atlas training products (910)", .task_log = TASK_LOG_HWTS, .tracks_ai_cpu = true, .logs_no_types = true,
      .has_one_core = true, .has_unique_ids = true, .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 256, L2_OF_910 },
    { .platform = 2, .name = "UNKNOWN", .product = "MDC", .task_log = TASK_LOG_HWTS, .has_one_core = true, .has_narrow_vector = true,
      .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 256, L2_OF_310P },
    { .platform = 3, .name = "UNKNOWN", .product = "a chip of the MDC kind", .task_log = TASK_LOG_HWTS, .has_one_core = true, .has_narrow_vector = true,
      .has_unique_ids = true, .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 256, L2_OF_310P },
    { .platform = 4, .name = "Ascend310P", .product = "Atlas inference products (310P)", .task_log = TASK_LOG_HWTS, .tracks_models = true, .has_one_core = true,
      .has_narrow_vector = true, .has_unique_ids = true, .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 256,
      .draws_freq = true, L2_OF_310P },
    { .platform = 7, .name = "Ascend310B", .product = "Atlas 200I/500 A2 (310B)", .task_log = TASK_LOG_STARS, .has_one_core = true, .counts_no_vector = true,
      .has_unique_ids = true, .is_stars = true, .last_cube_core = 0, .llc_units = 1, .ddr_bits = 128, .draws_freq = true,
      .stores_freq = true, L2_OF_STARS },
    { .platform = 8, .name = "UNKNOWN", .product = "Tiny", .task_log = TASK_LOG_STARS, .has_one_core = true, .counts_no_vector = true,
      .has_unique_ids = true, .is_stars = true, .last_cube_core = 0, .llc_units = 1, .ddr_bits = 128, L2_OF_STARS },
    { .platform = 11, .name = "UNKNOWN", .product = "MDC mini", .task_log = TASK_LOG_STARS, .has_one_core = true, .counts_no_vector = true,
      .is_stars = true, .last_cube_core = 0, .llc_units = 1, .ddr_bits = 128, L2_OF_STARS },
    { .platform = 9, .name = "UNKNOWN", .product = "Nano", .unread = { "nano_stars_profile.data" }, .has_unique_ids = true,
      .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 128 },
    { .platform = 15, .name = "Ascend950", .product = "950", UNREAD_OF_950, .task_log = TASK_LOG_SHORT, .is_native = true, .has_wide_ids = true, .has_unique_ids = true,
      .is_stars = true, .last_cube_core = 35, .llc_units = 4, .ddr_bits = 128, SMMU },
    { .platform = 16, .name = "UNKNOWN", .product = "950", UNREAD_OF_950, .task_log = TASK_LOG_SHORT, .is_native = true, .has_wide_ids = true, .has_unique_ids = true,
      .is_stars = true, .last_cube_core = 35, .llc_units = 4, .ddr_bits = 128, SMMU },
};

static const struct chip stranger = {
    .platform = -1, .name = "UNKNOWN", .product = "a chip that this version does not know",
    .unread = { "stars_soc.data", "hwts.data", "ffts_profile.data", "aicore.data", "aiVectorCore.data" }, .has_unique_ids = true, .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 128,
};
/* clang-format on */

bool chip_reads(const struct chip *c, const char *family)
{
    for (size_t i = 0; c->unread[i]; i++)
        if (strcmp(c->unread[i], family) == 0)
            return false;
    return true;
}

const struct chip *chip_of(int platform)
{
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
        if (chips[i].platform == platform)
            return &chips[i];
    return &stranger;
}
