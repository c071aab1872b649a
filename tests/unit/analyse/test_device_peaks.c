/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/device_analysis.h"

#include <math.h>

#include "test.h"

static void peaks_are_those_that_are_published(void **state)
{
    static const struct gpu_facts
        h200 = { .n_sm = 132, .major = 9, .core_mhz = 1980, .memory_mhz = 3201, .bus_bits = 6144 },
        a100 = { .n_sm = 108, .major = 8, .core_mhz = 1410, .memory_mhz = 1215, .bus_bits = 5120 },
        v100 = { .n_sm = 80, .major = 7, .core_mhz = 1530, .memory_mhz = 877, .bus_bits = 4096 },
        unknown = { .n_sm = 100, .major = 99, .core_mhz = 1000 };
    static const struct {
        const char *what;
        int platform;
        uint32_t n_cores;
        double mhz;
        const struct gpu_facts *gpu;
        double tflops[NUMBER_KINDS], gbs; /* rounded down */
    } row[] = {
        { "A2", 5, 24, 1800, NULL, { [NUMBERS_16] = 353, [NUMBERS_INT8] = 707 }, 1600 },
        { "one with other cores: its memory is not known",
          5,
          20,
          1800,
          NULL,
          { [NUMBERS_16] = 294, [NUMBERS_INT8] = 589 },
          0 },
        { "910", 1, 32, 1000, NULL, { [NUMBERS_16] = 262, [NUMBERS_INT8] = 524 }, 0 },
        { "950", 15, 32, 1650, NULL, { [NUMBERS_16] = 432, [NUMBERS_FP8] = 865 }, 1600 },
        { "cores that were not recorded", 5, 0, 0, NULL, { 0 }, 0 },
        { "H200",
          PLATFORM_CUDA,
          0,
          0,
          &h200,
          { [NUMBERS_FP64] = 66,
            [NUMBERS_FP32] = 535,
            [NUMBERS_16] = 1070,
            [NUMBERS_FP8] = 2141,
            [NUMBERS_INT8] = 2141 },
          4916 },
        { "A100",
          PLATFORM_CUDA,
          0,
          0,
          &a100,
          { [NUMBERS_FP64] = 19, [NUMBERS_FP32] = 155, [NUMBERS_16] = 311, [NUMBERS_INT8] = 623 },
          1555 },
        { "V100", PLATFORM_CUDA, 0, 0, &v100, { [NUMBERS_FP64] = 7, [NUMBERS_FP32] = 15, [NUMBERS_16] = 125 }, 898 },
        { "an unknown GPU", PLATFORM_CUDA, 0, 0, &unknown, { 0 }, 0 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct device_facts d = { chip_of(row[i].platform), row[i].n_cores, row[i].mhz, row[i].gpu };
        print_message("  %s\n", row[i].what);
        for (int kind = 0; kind < NUMBER_KINDS; kind++)
            assert_true(floor(device_peak_operations(&d, (enum number_kind)kind) / 1e12) == row[i].tflops[kind]);
        assert_true(floor(device_peak_bytes(&d) / 1e9) == row[i].gbs);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(peaks_are_those_that_are_published) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
