#include "profile/chip.h"

#include <stddef.h>

enum { ALL_CORES = UINT8_MAX };

/* clang-format off */
#define L2_OF_910   .l2 = { { { 0x59 }, { 0x5b }, { 0x5c } } }
#define L2_OF_310P  .l2 = { { { 0x78, 0x79 }, { 0x6a }, { 0x71 } } }
#define L2_OF_STARS .l2 = { { { 0xfb, 0xfc }, { 0x90, 0x91 }, { 0x9c } } }
#define SMMU        .smmu = { { { 0x8a }, { 0x8c, 0x8d }, { 0x2 } } }

static const struct chip chips[] = {
    { .platform = 5, .name = "Ascend910B", .task_log = TASK_LOG_STARS, .is_native = true, .has_unique_ids = true,
      .is_stars = true, .last_cube_core = 24, .llc_units = 2, .ddr_bits = 128, .draws_freq = true, .stores_freq = true,
      .draws_voltage = true, .pcie_is_last = true, .counts_l2_bw = true, L2_OF_STARS, SMMU },
    { .platform = 0, .name = "Ascend310", .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 128,
      .counts_l2_bw = true, .counts_mte_bw = true },
    { .platform = 1, .name = "Ascend910A", .task_log = TASK_LOG_HWTS, .tracks_ai_cpu = true, .logs_no_types = true,
      .has_one_core = true, .has_unique_ids = true, .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 256, L2_OF_910 },
    { .platform = 2, .name = "UNKNOWN", .task_log = TASK_LOG_HWTS, .has_one_core = true, .has_narrow_vector = true,
      .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 256, L2_OF_310P },
    { .platform = 3, .name = "UNKNOWN", .task_log = TASK_LOG_HWTS, .has_one_core = true, .has_narrow_vector = true,
      .has_unique_ids = true, .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 256, L2_OF_310P },
    { .platform = 4, .name = "Ascend310P", .task_log = TASK_LOG_HWTS, .tracks_models = true, .has_one_core = true,
      .has_narrow_vector = true, .has_unique_ids = true, .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 256,
      .draws_freq = true, L2_OF_310P },
    { .platform = 7, .name = "Ascend310B", .task_log = TASK_LOG_STARS, .has_one_core = true, .counts_no_vector = true,
      .has_unique_ids = true, .is_stars = true, .last_cube_core = 0, .llc_units = 1, .ddr_bits = 128, .draws_freq = true,
      .stores_freq = true, L2_OF_STARS },
    { .platform = 8, .name = "UNKNOWN", .task_log = TASK_LOG_STARS, .has_one_core = true, .counts_no_vector = true,
      .has_unique_ids = true, .is_stars = true, .last_cube_core = 0, .llc_units = 1, .ddr_bits = 128, L2_OF_STARS },
    { .platform = 11, .name = "UNKNOWN", .task_log = TASK_LOG_STARS, .has_one_core = true, .counts_no_vector = true,
      .is_stars = true, .last_cube_core = 0, .llc_units = 1, .ddr_bits = 128, L2_OF_STARS },
    { .platform = 15, .name = "Ascend950", .has_unique_ids = true, .is_stars = true, .last_cube_core = 35, .llc_units = 4,
      .ddr_bits = 128, SMMU },
    { .platform = 16, .name = "UNKNOWN", .has_unique_ids = true, .is_stars = true, .last_cube_core = 35, .llc_units = 4,
      .ddr_bits = 128, SMMU },
};

static const struct chip stranger = {
    .platform = -1, .name = "UNKNOWN", .has_unique_ids = true, .last_cube_core = ALL_CORES, .llc_units = 4, .ddr_bits = 128,
};
/* clang-format on */

const struct chip *chip_of(int platform)
{
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
        if (chips[i].platform == platform)
            return &chips[i];
    return &stranger;
}
