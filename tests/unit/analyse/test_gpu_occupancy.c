/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/device_analysis.h"

#include "test.h"

/* As the drivers of these GPUs describe them. */
static const struct gpu_facts h200 = { "H200", 132, 9, 0, 2048, 65536, 233472, 32, 32, 1024, 0, 0, 0 },
                              v100 = { "V100", 80, 7, 0, 2048, 65536, 98304, 32, 32, 0, 0, 0, 0 },
                              p100 = { "P100", 56, 6, 0, 2048, 65536, 65536, 32, 32, 0, 0, 0, 0 },
                              unknown = { .n_sm = 132, .warp_threads = 32 };

static void each_limit_counts(void **state)
{
    static const struct {
        const char *what;
        const struct gpu_facts *of;
        struct gpu_needs needs;
        uint32_t blocks;
    } row[] = {
        { "threads", &h200, { 256, 32, 0 }, 8 },
        { "blocks", &h200, { 32, 16, 0 }, 32 },
        { "a warp is never shared: 33 threads are two", &h200, { 33, 16, 0 }, 32 },
        { "registers of a warp, in units of 256, in four parts", &h200, { 128, 40, 3072 }, 12 },
        { "registers of a block that fills the SM", &h200, { 1024, 64, 0 }, 1 },
        { "more registers than the SM has", &h200, { 1024, 65, 0 }, 0 },
        { "255 registers", &h200, { 256, 255, 0 }, 1 },
        { "shared memory, and what the system takes of it", &h200, { 128, 32, 102400 }, 2 },
        { "the most shared memory of a block", &h200, { 128, 32, 232448 }, 1 },
        { "more shared memory than there is", &h200, { 128, 32, 232449 }, 0 },
        { "an older unit of shared memory", &v100, { 64, 32, 6145 }, 15 },
        { "no reserved part", &v100, { 64, 32, 0 }, 32 },
        { "two parts of registers", &p100, { 64, 168, 0 }, 6 },
        { "a kernel without registers is one of a damaged record", &h200, { 256, 0, 0 }, 8 },
        { "no threads", &h200, { 0, 32, 0 }, 0 },
        { "a GPU of which nothing is known", &unknown, { 256, 32, 0 }, 0 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        print_message("  %s\n", row[i].what);
        assert_int_equal(gpu_blocks_per_sm(row[i].of, &row[i].needs), row[i].blocks);
    }
    (void)state;
}

static void percent_of_the_warps_of_an_sm(void **state)
{
    uint32_t x[] = { 33, 1u << 21, UINT32_MAX }, one[] = { 1, 1, UINT32_MAX }, shared[3] = { 0 }, dynamic[3] = { 0 };
    uint16_t registers[] = { 16, 16, 16 };
    const struct gpu_tasks g = {
        .n = 3, .registers = registers, .block = { x, one, one }, .static_shared = shared, .dynamic_shared = dynamic
    };
    assert_true(gpu_occupancy_percent(&h200, &g, 0) == 100); /* 32 blocks of two warps */
    assert_true(gpu_occupancy_percent(&h200, &g, 1) < 0);
    assert_true(gpu_occupancy_percent(&h200, &g, 2) < 0);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_limit_counts),
                                        cmocka_unit_test(percent_of_the_warps_of_an_sm) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
