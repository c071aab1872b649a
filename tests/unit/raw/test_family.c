/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "raw/counter.h"
#include "raw/device_records.h"
#include "raw/family.h"
#include "raw/host_records.h"
#include "raw/sampler.h"

static void a_stream_belongs_to_the_most_exact_family(void **state)
{
    static const struct {
        const char *what, *stream, *family; /* NULL: nobody knows it */
    } row[] = {
        { "by its name", "hbm.data", "hbm.data" },
        { "before the pattern that holds it too", "compact.task_track", "compact.task_track" },
        { "by how it begins", "compact.of_tomorrow", "compact.*" },
        { "by how it ends", "20480-CpuUsage.data", "*-CpuUsage.data" },
        { "with a longer name it is another one", "hbm.data.x", NULL },
        { "a name that is too short to end so", "-Memory", NULL },
        { "nothing", "", NULL },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        const struct family *f = family_find(row[i].stream);
        if (row[i].family) {
            assert_non_null(f);
            assert_string_equal(f->name, row[i].family);
        } else {
            assert_null(f);
        }
    }
    (void)state;
}

static void slices_of_a_second_writer_are_no_gap(void **state)
{
    static const struct {
        const char *what;
        uint32_t before, number, missing;
    } row[] = {
        { "neighbours", 3, 4, 0 },
        { "the same number twice", 1, 1, 0 },
        { "a gap", 3, 7, 3 },
        { "the first one of the second writer", 3, SLICE_BESIDE, 0 },
        { "whose first ones have aged", 3, SLICE_BESIDE + 5, 0 },
        { "a gap between its own", SLICE_BESIDE, SLICE_BESIDE + 2, 1 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        assert_int_equal(slices_missing(row[i].before, row[i].number), row[i].missing);
    }
    (void)state;
}

static void records_are_as_long_as_their_layouts_say(void **state)
{
    static const struct {
        const char *stream;
        const struct layout *layout;
    } row[] = {
        { "api_event.data", &api_layout },
        { "compact.node_basic_info", &node_basic_layout },
        { "compact.task_track", &task_track_layout },
        { "compact.memcpy_info", &memcpy_layout },
        { "compact.hccl_op_info", &hccl_op_layout },
        { "additional.tensor_info", &tensor_layout },
        { "additional.context_id_info", &context_id_layout },
        { "additional.fusion_op_info", &fusion_op_layout },
        { "additional.hccl_info", &hccl_info_layout },
        { "additional.msproftx", &mark_layout },
        { "additional.task_memory_info", &task_memory_layout },
        { "stars_soc.data", &stars_layout },
        { "stars_soc_profile.data", &sio_layout },
        { "ts_track.data", &ts_step_layout },
        { "aicpu.data", &aicpu_node_layout },
        { "l2_cache.data", &l2_cache_layout },
        { "socpmu.data", &smmu_layout },
        { "ddr.data", &ddr_layout },
        { "llc.data", &llc_layout },
        { "llc.data", &llc_v2_layout },
        { "qos.data", &qos_layout },
        { "pcie.data", &pcie_layout },
        { "npu_mem.data", &npu_mem_layout },
        { "npu_mem.app", &npu_mem_v2_layout },
        { "npu_module_mem.data", &module_mem_layout },
        { "tscpu.data", &ts_cpu_layout },
        { "lpmFreqConv.data", &lpm_layout },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].stream);
        assert_int_equal(family_find(row[i].stream)->size, row[i].layout->size);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_belongs_to_the_most_exact_family),
        cmocka_unit_test(slices_of_a_second_writer_are_no_gap),
        cmocka_unit_test(records_are_as_long_as_their_layouts_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
