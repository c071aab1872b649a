/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "collect/describe/recording_files.h"
#include "folder.h"

#define ARM_CPU(implementer, part)                                                                                     \
    "processor\t: 0\nBogoMIPS\t: 200.00\nCPU implementer\t: " implementer                                              \
    "\nCPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: " part "\nCPU revision\t: 0\n\n"

static void a_cpu_has_the_names_that_the_reference_gives_it(void **state)
{
    static const struct {
        const char *what, *cpuinfo, *maker, *type;
    } row[] = {
        { "x86", "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9654\n",
          "AuthenticAMD", "AMD EPYC 9654" },
        { "Kunpeng 920", ARM_CPU("0x48", "0xd01") ARM_CPU("0x48", "0xd01"), "HiSilicon", "TaishanV110" },
        { "a part that nobody knows", ARM_CPU("0x48", "0xd02"), "HiSilicon", "" },
        { "the same where the kernel has a name", "model name\t: Kunpeng-920\n" ARM_CPU("0x48", "0xd02"), "HiSilicon",
          "Kunpeng-920" },
        { "Cortex", ARM_CPU("0x41", "0xD08"), "ARM", "ARMv8_Cortex_A72" },
        { "capital letters", ARM_CPU("0x4E", "0x004"), "NVIDIA", "" },
        { "a part of another maker", ARM_CPU("0x51", "0xd01"), "Qualcomm", "" },
        { "a maker that nobody knows", ARM_CPU("0x99", "0xd01"), "", "" },
        { "nothing", "", "", "" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        FILE *f = fopen(folder_path("cpuinfo"), "w");
        assert_non_null(f);
        fputs(row[i].cpuinfo, f);
        fclose(f);
        const struct cpu_names cpu = cpu_names(folder_path("cpuinfo"));
        assert_string_equal(cpu.maker, row[i].maker);
        assert_string_equal(cpu.type, row[i].type);
    }
    const struct cpu_names none = cpu_names(folder_path("missing"));
    assert_string_equal(none.maker, "");
    assert_string_equal(none.type, "");
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_cpu_has_the_names_that_the_reference_gives_it, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
