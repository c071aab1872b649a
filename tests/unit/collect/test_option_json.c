/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ascope/load.h"
#include "collect/options/option_rows.h"
#include "collect/options/option_values.h"
#include "collect/options/options.h"
#include "reported.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
enum { TF = ASCOPE_FRONT_END_TENSORFLOW, ACL = ASCOPE_FRONT_END_ACL_JSON };
enum { C310P = 4, C910A = 1, C910B = 5, C310B = 7, C950 = 15, C16 = 16 };

/* What was reported: the first error, and all lines one behind the other. */
static struct {
    struct remark_line error;
    char all[16384], code[40];
    unsigned errors, warnings;
} said;

static void remember(void *to, const struct options_remark *r)
{
    struct remark_line line;
    options_remark_line(&line, "o", r);
    (void)to;
    assert_null(strchr(line.text, '\n')); /* one line each */
    if (r->severity == ASCOPE_ERROR && said.errors++ == 0) {
        said.error = line;
        snprintf(said.code, sizeof said.code, "%s", r->code);
    }
    said.warnings += r->severity == ASCOPE_WARNING;
    const size_t n = said.errors < 100 ? strlen(said.all) : sizeof said.all;
    if (n < sizeof said.all)
        snprintf(said.all + n, sizeof said.all - n, "%s\n", line.text);
}

static bool read_text(struct options_json *j, const char *text, size_t n, uint32_t front_end, int chip)
{
    const struct options_request r = { .front_end = front_end, .chip = chip, .say = remember };
    memset(&said, 0, sizeof said);
    const bool is_good = options_json_read(j, text, n, &r);
    assert_int_equal(is_good, said.errors == 0);
    return is_good;
}

/* '...' stands for a valid output and the comma behind it. */
static bool read_case(struct options_json *j, const char *text, uint32_t front_end, int chip)
{
    char whole[8192];
    const char *const dots = strstr(text, "...");
    if (dots)
        snprintf(whole, sizeof whole, "%.*s\"output\":\".\",%s", (int)(dots - text), text, dots + 3);
    else
        snprintf(whole, sizeof whole, "%s", text);
    return read_text(j, whole, strlen(whole), front_end, chip);
}

static int no_work_path(void **state)
{
    (void)state;
    unsetenv("ASCEND_WORK_PATH");
    return 0;
}

/* Section 8 of the reference's behaviour: what is accepted, what is refused and with which message. */
static void cases_of_the_vendors_checks(void **state)
{
    static const struct {
        const char *text, *code; /* NULL: accepted */
        int chip;                /* 0: 910B */
    } row[] = {
        { "", "EK0001", 0 },
        { "{bad", "E10001", 0 },
        { "[]", "E10001", 0 },
        { "\"on\"", "E10001", 0 },
        { "null", "E10001", 0 },
        { "{\"output\":\".\",}", "E10001", 0 },
        { "{\"output\":\".\"} x", "E10001", 0 },
        { "{\"unsupported\":\"on\"}", "EK0001", 0 },
        { "{\"switch\":\"on\"}", "EK0001", 0 },
        { "{\"ascendcl\":\"on\"}", "EK0001", 0 },
        { "{\"task-time\":\"on\"}", "EK0001", 0 },
        { "{}", "", 0 },
        { "{\"output\":\"\"}", "", 0 },
        { "{\"output\":\"p\\n\"}", "EK0003", 0 },
        { "{\"output\":\"a;b\"}", "EK0003", 0 },
        { "{\"output\":\"/proc/self/status/x\"}", "EK0003", 0 },
        { "{\"output\":\".\"}", NULL, 0 },
        { "{... \"aic_metrics\":\"ArithmeticUtilization\",\"aicpu\":\"on\",\"l2\":\"on\"}", NULL, 0 },
        { "{... \"l2\":\"xx\"}", "EK0001", 0 },
        { "{... \"l2\":true}", "EK0001", 0 },
        { "{... \"l2\":1}", "EK0001", 0 },
        { "{... \"l2\":null}", "EK0001", 0 },
        { "{... \"l2\":\"On\"}", "EK0001", 0 },
        { "{... \"aiv_metrics\":\"Memory\"}", "EK0001", 0 },
        { "{... \"aiv-mode\":\"on\"}", "EK0001", 0 },
        { "{... \"training_trace\":\"on\"}", NULL, 0 },
        { "{... \"training_trace\":\"\"}", NULL, 0 },
        { "{... \"training_trace\":\"off\"}", "E10001", 0 },
        { "{... \"training_trace\":1}", "E10001", 0 },
        { "{... \"training_trace\":\"on\",\"fp_point\":1}", "E10001", 0 },
        { "{... \"fp_point\":1}", NULL, 0 },
        { "{... \"aic_metrics\":\"Custom:0x500,0x502,0x504,0x506,0x508,0x50a,0xc,0xd\"}", NULL, 0 },
        { "{... \"aic_metrics\":\"Custom:0x1,0x2,0x3,0x4,0x5,0x6,0x7,0x8,0x9\"}", "EK0001", 0 },
        { "{... \"aic_metrics\":\"Custom:0x1,0x2,0x3,0x4,0x5,0x6,0x7,0x8,0x9\"}", NULL, C950 },
        { "{... \"aic_metrics\":\"Custom:0x1,0x2,0x3,0x4,0x5,0x6,0x7,0x8,0x9,0xa,0xb\"}", "EK0001", C950 },
        { "{... \"aic_metrics\":\"Custom:0x500,0xpp\"}", "EK0001", 0 },
        { "{... \"aic_metrics\":\"Custom:\"}", "EK0001", 0 },
        { "{... \"aic_metrics\":\"Custom:0x1,\"}", "EK0001", 0 },
        { "{... \"aic_metrics\":\"Custom:0x\"}", "EK0001", 0 },
        { "{... \"aic_metrics\":\"Custom:-1\"}", "EK0001", 0 },
        { "{... \"aic_metrics\":\"custom:0x1\"}", "EK0001", 0 },
        { "{... \"aic_metrics\":\"Custom:2147483648\"}", "EK0001", 0 },
        { "{... \"aic_metrics\":\"Custom:0x00000000000000000000000000000000000000000000000000000000000001\"}", "EK0001",
          0 }, /* 71 characters */
        { "{... \"aic_metrics\":\"Custom:0x0000000000000000000000000000000000000000000000000000000000001\"}", NULL, 0 },
        { "{... \"aic_metrics\":\"Custom:0x500,100,0x123,200\"}", NULL, 0 },
        { "{... \"aic_metrics\":\"Custom: 0x1, 0x2\"}", NULL, 0 },
        { "{... \"aic_metrics\":123}", "EK0001", 0 },
        { "{... \"aic_metrics\":\"\"}", NULL, 0 },
        { "{... \"task_trace\":\"on\",\"ge_api\":\"off\"}", NULL, 0 },
        { "{... \"task_trace\":\"off\",\"task_time\":\"l0\"}", NULL, 0 },
        { "{... \"task_trace\":\"L1\"}", "EK0001", 0 },
        { "{... \"task_time\":\"L0\"}", "EK0001", 0 },
        { "{... \"ge_api\":\"L1\"}", "EK0001", 0 },
        { "{... \"ge_api\":\"on\"}", "EK0001", 0 },
        { "{... \"task_memory\":\"on\"}", NULL, 0 },
        { "{... \"task_memory\":\"off\"}", NULL, 0 },
        { "{... \"task_memory\":\"tasktask\"}", "EK0001", 0 },
        { "{... \"task_block\":\"\"}", "EK0001", 0 },
        { "{... \"task_block\":\"all\"}", NULL, 0 },
        { "{... \"task_block\":\"on\"}", "EK0001", 0 },
        { "{... \"task_block\":\"on\"}", NULL, C950 },
        { "{... \"dvpp_freq\":\"50\"}", "EK0001", 0 },
        { "{... \"dvpp_freq\":50.0}", "EK0001", 0 },
        { "{... \"dvpp_freq\":true}", "EK0001", 0 },
        { "{... \"dvpp_freq\":null}", "EK0001", 0 },
        { "{... \"dvpp_freq\":-1}", "EK0001", 0 },
        { "{... \"dvpp_freq\":18446744073709551617}", "EK0001", 0 },
        { "{... \"dvpp_freq\":100}", NULL, 0 },
        { "{... \"sys_interconnection_freq\":51}", "EK0001", 0 },
        { "{... \"sys_io_sampling_freq\":101}", "EK0001", 0 },
        { "{... \"host_sys_usage_freq\":0}", "EK0001", 0 },
        { "{... \"instr_profiling\":\"on\",\"instr_profiling_freq\":299}", "EK0003", 0 },
        { "{... \"instr_profiling\":\"on\",\"instr_profiling_freq\":300}", NULL, 0 },
        { "{... \"instr_profiling\":\"on\",\"instr_profiling_freq\":30000}", NULL, 0 },
        { "{... \"instr_profiling\":\"on\",\"instr_profiling_freq\":30001}", "EK0003", 0 },
        { "{... \"instr_profiling_freq\":299}", NULL, 0 },
        { "{... \"instr_profiling_freq\":\"299\"}", "EK0001", 0 },
        { "{... \"storage_limit\":\"199MB\"}", NULL, 0 },
        { "{... \"storage_limit\":\"1GB\"}", NULL, 0 },
        { "{... \"storage_limit\":200}", NULL, 0 },
        { "{... \"host_sys\":\"\"}", NULL, 0 },
        { "{... \"host_sys\":\"cpu,,mem\"}", "EK0001", 0 },
        { "{... \"host_sys\":\"cpu, mem\"}", "EK0001", 0 },
        { "{... \"host_sys\":\"cpu,\"}", "EK0001", 0 },
        { "{... \"host_sys\":\"CPU\"}", "EK0001", 0 },
        { "{... \"host_sys\":\"cpu,mem,cpu,numa\"}", NULL, 0 },
        { "{... \"host_sys_usage\":\"disk\"}", "EK0001", 0 },
        { "{... \"llc_profiling\":\"\"}", "EK0001", 0 },
        { "{... \"sys_mem_serviceflow\":\"\"}", "EK0001", 0 },
        { "{... \"optype\":\"MatMul,,Add\"}", "", C16 },
        { "{... \"fp_point\":\"\\u0000\"}", "EK0001", 0 },
    };
    for (size_t i = 0; i < COUNT(row); i++) {
        struct options_json j;
        print_message("  %s\n", row[i].text);
        const bool is_good = read_case(&j, row[i].text, TF, row[i].chip ? row[i].chip : -1);
        if (is_good != !row[i].code || (row[i].code && strcmp(row[i].code, said.code) != 0))
            print_message("    %s    expected %s\n", said.all, row[i].code ? row[i].code : "accepted");
        assert_int_equal(is_good, !row[i].code);
        assert_string_equal(said.code, row[i].code ? row[i].code : "");
        options_json_fini(&j);
    }
    (void)state;
}

static void cases_of_acl_json(void **state)
{
    static const struct {
        const char *text, *code; /* NULL: accepted */
        bool is_on;
    } row[] = {
        { "", NULL, false },
        { " \n", NULL, false },
        { "{}", NULL, false },
        { "{\"dump\":{}}", NULL, false },
        { "[]", "", false },
        { "{\"profiler\":[]}", "EK0003", false },
        { "{\"profiler\":{\"switch\":\"on\"}}", NULL, true },
        { "{\"profiler\":{\"switch\":\"off\"}}", NULL, false },
        { "{\"profiler\":{\"switch\":\"\"}}", NULL, false },
        { "{\"profiler\":{}}", NULL, false },
        { "{\"profiler\":{\"switch\":\"true\"}}", "EK0003", false },
        { "{\"profiler\":{\"switch\":1}}", "EK0003", false },
        { "{\"profiler\":{\"l2\":\"xx\"}}", "EK0003", false }, /* checked though the switch is off */
        { "{\"profiler\":{\"task_block\":\"all\"}}", "EK0005", false },
        { "{\"profiler\":{\"training_trace\":\"on\"}}", "EK0005", false },
        { "{\"profiler\":{\"task_trace\":\"on\"}}", "EK0005", false },
        { "{\"profiler\":{\"fp_point\":\"\"}}", "EK0005", false },
        { "{\"profiler\":{\"nonsense\":\"\"}}", "EK0005", false },
        { "{\"profiler\":{\"switch\":\"on\",\"storage_limit\":\"199MB\"}}", "EK0003", false },
        { "{\"profiler\":{\"switch\":\"on\",\"storage_limit\":\"200\"}}", "EK0003", false },
        { "{\"profiler\":{\"switch\":\"on\",\"storage_limit\":200}}", NULL, true },
        { "{\"profiler\":{\"switch\":\"on\",\"output\":\"a;b\"}}", "EK0003", false },
        { "{\"profiler\":{\"switch\":\"on\",\"output\":\"/proc/self/status/x\"}}", NULL, true },
        { "{\"profiler\":{\"switch\":\"off\"},\"profiler\":{\"switch\":\"on\"}}", NULL, true },
        { "\xEF\xBB\xBF{\"profiler\":{\"switch\":\"on\"}}", NULL, true },
    };
    for (size_t i = 0; i < COUNT(row); i++) {
        struct options_json j;
        print_message("  %s\n", row[i].text);
        const bool is_good = read_case(&j, row[i].text, ACL, -1);
        assert_int_equal(is_good, !row[i].code);
        assert_string_equal(said.code, row[i].code ? row[i].code : "");
        assert_int_equal(j.is_on, row[i].is_on);
        options_json_fini(&j);
    }
    (void)state;
}

/* Table 2.4: for each chip, accepted or not. */
static void chips_have_keys_of_their_own(void **state)
{
    static const int chip[] = { C310P, C910A, C910B, C310B, C950, C16 };
    static const struct {
        const char *member, *accepted; /* a sign for each chip of the row above */
    } row[] = {
        { "\"task_time\":\"l3\"", "..x.x." },
        { "\"task_trace\":\"l3\"", "..x.x." },
        { "\"task_block\":\"all\"", "..xxxx" },
        { "\"task_block\":\"off\"", "..xxxx" },
        { "\"task_block\":\"on\"", "....xx" },
        { "\"sys_hardware_mem_freq\":100", "xxxxxx" },
        { "\"sys_hardware_mem_freq\":101", "....xx" },
        { "\"sys_hardware_mem_freq\":10001", "......" },
        { "\"sys_mem_serviceflow\":\"a\"", "..x.xx" },
        { "\"sys_io_sampling_freq\":50", ".xxxxx" },
        { "\"sys_interconnection_freq\":50", "xxx.xx" },
        { "\"sys_cpu_freq\":50", ".....x" },
        { "\"instr_profiling\":\"on\"", "..x.xx" },
        { "\"instr_profiling_freq\":300", "..x..." },
        { "\"sys_lp_freq\":50", "....xx" },
        { "\"optype\":\"MatMul\"", ".....x" },
        { "\"dvpp_freq\":50", "xxxxxx" },
        { "\"aic_metrics\":\"PipeUtilization\"", "xxxxxx" },
        { "\"aic_metrics\":\"ArithmeticUtilization\"", "xxxxxx" },
        { "\"aic_metrics\":\"Memory\"", "xxxxxx" },
        { "\"aic_metrics\":\"MemoryL0\"", "xxxxxx" },
        { "\"aic_metrics\":\"MemoryUB\"", "xxxxxx" },
        { "\"aic_metrics\":\"ResourceConflictRatio\"", "xxxxxx" },
        { "\"aic_metrics\":\"L2Cache\"", "..xxxx" },
        { "\"aic_metrics\":\"MemoryAccess\"", "..x..." },
        { "\"aic_metrics\":\"PipelineExecuteUtilization\"", "...x.." },
        { "\"aic_metrics\":\"PipeUtilizationExct\"", "..x.xx" },
    };
    for (size_t i = 0; i < COUNT(row); i++)
        for (size_t c = 0; c < COUNT(chip); c++) {
            char text[200];
            struct options_json j;
            snprintf(text, sizeof text, "{... %s}", row[i].member);
            print_message("  %s on %d\n", row[i].member, chip[c]);
            assert_int_equal(read_case(&j, text, TF, chip[c]), row[i].accepted[c] == 'x');
            options_json_fini(&j);
        }
    (void)state;
}

static void settings_become_the_vendors_mask(void **state)
{
    static const struct {
        const char *text;
        uint32_t front_end;
        uint64_t mask;
        int chip;
    } row[] = {
        { "{\"output\":\".\"}", TF, 0x803, 0 },
        { "{... \"task_time\":\"l0\"}", TF, 0x801, 0 },
        { "{... \"task_time\":\"\"}", TF, 0x801, 0 },
        { "{... \"task_time\":\"l2\"}", TF, 0x2803, 0 },
        { "{... \"task_time\":\"l3\"}", TF, 0xa803, 0 },
        { "{... \"task_time\":\"off\"}", TF, 0x1, 0 },
        { "{... \"task_trace\":\"off\"}", TF, 0x803, 0 },
        { "{... \"training_trace\":\"on\"}", TF, 0x843, 0 },
        { "{... \"training_trace\":\"\"}", TF, 0x843, 0 },
        { "{... \"aic_metrics\":\"\"}", TF, 0x807, 0 },
        { "{... \"aicpu\":\"on\"}", TF, 0x80b, 0 },
        { "{... \"l2\":\"on\"}", TF, 0x813, 0 },
        { "{... \"l2\":\"on\",\"l2\":\"off\"}", TF, 0x803, 0 },
        { "{... \"hccl\":\"on\"}", TF, 0x823, 0 },
        { "{... \"hccl\":\"on\",\"task_time\":\"off\"}", TF, 0x21, 0 },
        { "{... \"runtime_api\":\"on\"}", TF, 0x903, 0 },
        { "{... \"ge_api\":\"l0\"}", TF, 0xa03, 0 },
        { "{... \"ge_api\":\"l1\"}", TF, 0x1000a03, 0 },
        { "{... \"task_tsfw\":\"on\"}", TF, 0xc03, 0 },
        { "{... \"task_memory\":\"on\"}", TF, 0x1803, 0 },
        { "{... \"instr_profiling\":\"on\"}", TF, 0x800803, 0 },
        { "{... \"msproftx\":\"on\"}", TF, 0x803, 0 },
        { "{... \"optype\":\"MatMul\"}", TF, 0x200000803, C16 },
        { "{\"profiler\":{\"switch\":\"on\"}}", ACL, 0x947, 0 },
        { "{\"profiler\":{\"switch\":\"on\",\"task_time\":\"off\"}}", ACL, 0x145, 0 },
        { "{\"profiler\":{\"switch\":\"on\",\"ascendcl\":\"off\"}}", ACL, 0x946, 0 },
        { "{\"profiler\":{\"switch\":\"on\",\"ascendcl\":\"\"}}", ACL, 0x947, 0 },
        { "{\"profiler\":{\"switch\":\"on\",\"runtime_api\":\"off\"}}", ACL, 0x847, 0 },
        /* the texts that frameworks use when there is none */
        { "{\"output\":\"./\",\"training_trace\":\"on\",\"task_time\":\"on\",\"hccl\":\"on\",\"aicpu\":\"on\",\"aic_metrics\":"
          "\"PipeUtilization\",\"msproftx\":\"off\"}",
          TF, 0x86f, 0 },
        { "{\"output\":\".\\/\",  \"training_trace\":\"on\",   \"task_time\":\"on\", \"hccl\":\"on\", \"aicpu\":\"on\","
          "   \"aic_metrics\":\"PipeUtilization\", \"msproftx\":\"off\"}",
          TF, 0x86f, 0 },
    };
    for (size_t i = 0; i < COUNT(row); i++) {
        struct options_json j;
        print_message("  %s\n", row[i].text);
        assert_true(read_case(&j, row[i].text, row[i].front_end, row[i].chip ? row[i].chip : -1));
        assert_int_equal(options_json_mask(&j), row[i].mask);
        options_json_fini(&j);
    }
    (void)state;
}

static void values_reach_the_recorder(void **state)
{
    static const struct {
        const char *text, *option, *value; /* NULL: not set */
    } row[] = {
        { "{\"output\":\".\\/\"}", "parent_dir", "./" },
        { "{... \"storage_limit\":\"300MB\"}", "storage_limit", "300" },
        { "{... \"storage_limit\":\"199MB\"}", "storage_limit", "200" },
        { "{... \"storage_limit\":\"0MB\"}", "storage_limit", "200" },
        { "{... \"storage_limit\":\"200\"}", "storage_limit", NULL },
        { "{... \"storage_limit\":\"200mb\"}", "storage_limit", NULL },
        { "{... \"storage_limit\":\"4294967296MB\"}", "storage_limit", NULL },
        { "{... \"training_trace\":\"on\",\"fp_point\":\"conv1\",\"bp_point\":\"\"}", "fp_point", "conv1" },
        { "{... \"fp_point\":\"conv1\"}", "fp_point", NULL },
        { "{... \"l2\":\"on\"}", "l2_cache", "true" },
        { "{... \"msproftx\":\"on\"}", "mstx", "true" },
        { "{... \"aic_metrics\":\"PipeUtilizationExct\"}", "aic_metrics", "PipeUtilization" },
        { "{... \"sys_hardware_mem_freq\":33}", "sys_hardware_mem_freq", "33" },
        { "{\"output\":\".\"}", "sys_hardware_mem_freq", NULL },
        { "{... \"sys_hardware_mem_freq\":33,\"llc_profiling\":\"write\"}", "llc_profiling", "write" },
        { "{... \"sys_io_sampling_freq\":20}", "sys_io_sampling_freq", "20" },
        { "{... \"sys_interconnection_freq\":10}", "sys_interconnection_freq", "10" },
        { "{... \"dvpp_freq\":5}", "dvpp_freq", "5" },
        { "{... \"host_sys\":\"cpu,osrt\"}", "host_sys", "cpu,osrt" },
        { "{... \"host_sys_usage\":\"mem\",\"host_sys_usage_freq\":7}", "host_sys_usage_freq", "7" },
        { "{... \"host_sys_usage_freq\":7}", "host_sys_usage_freq", NULL },
        { "{... \"instr_profiling\":\"on\"}", "instr_profiling_freq", "1000" },
        { "{... \"instr_profiling\":\"on\",\"instr_profiling_freq\":400}", "instr_profiling_freq", "400" },
        { "{... \"instr_profiling_freq\":400}", "instr_profiling_freq", NULL },
        { "{... \"task_block\":\"all\"}", "task_block", "all" },
        { "{... \"sys_mem_serviceflow\":\"a,b\"}", "sys_mem_serviceflow", "a,b" },
    };
    for (size_t i = 0; i < COUNT(row); i++) {
        struct options_json j;
        print_message("  %s: %s\n", row[i].text, row[i].option);
        assert_true(read_case(&j, row[i].text, TF, -1));
        char *const value = ascope_options_get(&j.o, row[i].option);
        if (row[i].value)
            assert_string_equal(value ? value : "nothing", row[i].value);
        else
            assert_null(value);
        free(value);
        options_json_fini(&j);
    }
    (void)state;
}

static void custom_events_lose_their_blanks(void **state)
{
    struct options_json j;
    assert_true(read_case(&j, "{... \"aic_metrics\":\"Custom: 0x1 ,12,  0xFf\"}", TF, -1));
    assert_string_equal(j.o.custom_events, "0x1,12,0xFf");
    assert_int_equal(j.o.metrics, ASCOPE_NO_METRICS);
    options_json_fini(&j);
    assert_true(read_case(&j, "{... \"optype\":\"b,a,b\"}", TF, C16));
    assert_string_equal(j.o.op_types, "a,b");
    options_json_fini(&j);
    (void)state;
}

/* Where it is, what it is, what is accepted; each difference between the vendor's code and reference has its words. */
static void messages_name_place_key_and_value(void **state)
{
    static const struct {
        const char *text, *line;
        uint32_t front_end;
    } row[] = {
        { "{\n  \"output\": \".\",\n  \"l2\": \"xx\"\n}",
          "o:3:9: l2: invalid value \"xx\"; expected on, off, or an empty text [EK0001]", TF },
        { "{\"output\":\"\xC3\xA4\", \"dvpp_freq\":\"50\"}",
          "o:1:28: dvpp_freq: invalid value \"50\" (not an integer); expected an integer from 1 to 100 [EK0001]", TF },
        { "{... \"nonsense\": 1}", "nonsense: unknown key; remove it [EK0001]", TF },
        { "{... \"non\\nsense\": 1}", "non?sense: unknown key; remove it [EK0001]", TF },
        { "{... \"switch\": \"on\"}", "switch: unknown key of profiling_options (acl.json has it)", TF },
        { "{\"profiler\":{\"task_block\":\"all\"}}", "task_block: unknown key of acl.json (profiling_options has it)",
          0 },
        { "{... \"training_trace\":\"off\"}", "the graph engine refuses it, though the option reference has it", TF },
        { "{... \"training_trace\":\"\"}", "leaves the iteration trace on in the collector", TF },
        { "{... \"task_trace\":\"off\"}", "its value is ignored, task_time decides (on); the option reference", TF },
        { "{... \"task_trace\":\"on\"}", "task_trace: deprecated: use task_time", TF },
        { "{... \"hccl\":\"on\"}", "hccl: deprecated: task_time from l1 on includes it", TF },
        { "{... \"task_time\":\"l2\"}", "task_time: l2 is accepted, but not in the option reference", TF },
        { "{... \"task_memory\":\"on\"}", "task_memory: accepted, but not in the option reference", TF },
        { "{... \"host_sys\":\"numa\"}", "numa is accepted, but not in the option reference", TF },
        { "{\"output\":\".\"}", "o: aic_metrics: not given, so no counters are recorded; the option reference", TF },
        { "{... \"instr_profiling\":\"on\"}", "accepted, but the option reference has it for the 950 only", TF },
        { "{... \"instr_profiling\":\"on\",\"l2\":\"on\"}", "l2: accepted together with instr_profiling", TF },
        { "{... \"instr_profiling_freq\":299}", "no effect: instr_profiling is not on; the option reference", TF },
        { "{... \"aic_metrics\":\"Custom:0x6F\"}",
          "event 0x6f is accepted, but the option reference has events from 0x1", TF },
        { "{... \"fp_point\":\"x\"}", "fp_point: no effect: training_trace is not on", TF },
        { "{... \"llc_profiling\":\"read\"}", "no effect: sys_hardware_mem_freq is not given", TF },
        { "{... \"host_sys_usage_freq\":5}", "no effect: host_sys_usage is not given", TF },
        { "{... \"task_time\":\"l0\",\"aic_metrics\":\"Memory\"}", "no effect: counters need task_time on, l1 or l2",
          TF },
        { "{... \"l2\":\"on\",\"l2\":\"off\"}", "l2: given again; the last one counts", TF },
        { "{\"output\":\"a;b\"}", "(the option reference forbids control characters only)", TF },
        { "{\"profiler\":{\"switch\":\"true\"}}", "switch: invalid value \"true\" (the vendor's page calls it off)",
          0 },
        { "{... \"storage_limit\":\"199MB\"}", "200MB to 4294967295MB, with the unit; using 200MB [EK0001]", TF },
        { "{... \"storage_limit\":\"1GB\"}", "with the unit; no limit is used [EK0001]", TF },
        { "{... \"sys_cpu_freq\":5}", "sys_cpu_freq: not supported by chip 5; remove the key [EK0005, EK0001]", TF },
        { "{... \"aic_metrics\":\"Pipe\"}", "expected PipeUtilization, ArithmeticUtilization, Memory", TF },
        /* texts that are no JSON */
        { "\xEF\xBB\xBF{}", "o:1:1: the text begins with a byte order mark; save it as UTF-8 without one [E10001]",
          TF },
        { "\xFF\xFE{", "o:1:1: the text is UTF-16 or UTF-32; save it as UTF-8", TF },
        { "{\n// no\n\"l2\":\"on\"}", "o:2:1: comments are not JSON; remove it", TF },
        { "{\"a\":1} # end", "o:1:9: comments are not JSON; remove it", TF },
        { "{\"dvpp_freq\": NaN}", "o:1:15: NaN is not JSON here; expected a value", TF },
        { "{\"dvpp_freq\": -Infinity}", "o:1:16: Infinity is not JSON here; expected a digit", TF },
        { "{'l2':'on'}", "o:1:2: single quotes are not JSON; use double quotes", TF },
        { "{l2:1}", "o:1:2: l2 is not JSON here; expected a key in double quotes", TF },
        { "{\"l2\":\"on\",}", "o:1:11: a comma before '}' is not JSON; remove it", TF },
        { "{\"l2\" \"on\"}", "o:1:7: '\"'; expected ':' after the key", TF },
        { "{\"l2\":\"on\"", "the text ends here; expected ',' or '}'", TF },
        { "{\"l2\":\"on", "o:1:7: a string without a closing quote", TF },
        { "{\"l2\":\"o\nn\"}", "byte 0x0a in a string; strings must end in the line in which they begin", TF },
        { "{\"l2\":\"\\x\"}", "o:1:8: invalid escape in a string", TF },
        { "{\"l2\":\"\\ud800\"}", "\\ud800 is half of a pair", TF },
        { "{\"l2\":\"\xFF\"}", "o:1:8: byte 0xff is not UTF-8", TF },
        { "{\"l2\":01}", "o:1:7: a number must not begin with 0", TF },
        { "{\"a\":[[[[[[[[[[[]]]]]]]]]]]}", "more than 10 arrays nested", ACL },
    };
    for (size_t i = 0; i < COUNT(row); i++) {
        struct options_json j;
        print_message("  %s\n", row[i].line);
        read_case(&j, row[i].text, row[i].front_end, -1);
        if (!strstr(said.all, row[i].line))
            print_message("    reported: %s", said.all);
        assert_non_null(strstr(said.all, row[i].line));
        options_json_fini(&j);
    }
    (void)state;
}

static void every_fault_is_reported(void **state)
{
    struct options_json j;
    assert_false(read_case(&j, "{... \"l2\":\"x\", \"nonsense\":1, \"dvpp_freq\":0, \"host_sys\":\"x\"}", TF, -1));
    assert_int_equal(said.errors, 4);
    options_json_fini(&j);
    (void)state;
}

static void sizes_have_limits(void **state)
{
    struct options_json j;
    char text[4096];
    for (size_t n = 2046; n <= 2048; n++) { /* the vendor's structure has room for 2047 bytes and a NUL */
        const int used = snprintf(text, sizeof text, "{\"output\":\".\"");
        snprintf(text + used, sizeof text - (size_t)used, "%*s}", (int)n - used - 1, "");
        assert_int_equal(strlen(text), n);
        assert_int_equal(read_text(&j, text, n, TF, -1), n <= 2047);
        options_json_fini(&j);
    }
    const size_t large = (1 << 20) + 100;
    char *const acl = malloc(large + 100);
    const int used = sprintf(acl, "{\"profiler\":{\"switch\":\"on\"");
    memset(acl + used, ' ', large);
    strcpy(acl + large, "}}");
    assert_false(read_text(&j, acl, large + 2, ACL, -1));
    assert_string_equal(said.code, "EK0003");
    options_json_fini(&j);
    free(acl);
    (void)state;
}

static void many_faults_cost_one_walk(void **state)
{
    enum { KEYS = 50000, EACH = 18 };
    char *const text = malloc(KEYS * EACH + 100), *at = text + sprintf(text, "{\"profiler\":{\"l2\":\"on\"");
    struct options_json j;
    for (int i = 0; i < KEYS; i++)
        at += sprintf(at, ",\n\"key%07d\":1", i);
    at += sprintf(at, "}}");
    assert_false(read_text(&j, text, (size_t)(at - text), ACL, -1));
    assert_int_equal(said.errors, KEYS);
    assert_non_null(strstr(said.error.text, "o:2:1: key0000000: unknown key"));
    options_json_fini(&j);
    free(text);
    (void)state;
}

static void deep_texts_are_refused_in_one_line(void **state)
{
    char text[2000];
    struct options_json j;
    int used = snprintf(text, sizeof text, "{\"output\":");
    memset(text + used, '[', 900);
    text[used + 900] = '\0';
    assert_false(read_text(&j, text, strlen(text), TF, -1));
    assert_non_null(strstr(said.error.text, "more than 64 arrays nested"));
    options_json_fini(&j);
    (void)state;
}

/* Every beginning of a good text, and every byte of it changed: refused or read, with a reason. */
static void damaged_texts_have_a_reason(void **state)
{
    static const char good[] = "{\"profiler\":{\"switch\":\"on\",\"output\":\".\",\"aic_metrics\":\"Custom:0x1,2\","
                               "\"dvpp_freq\":50,\"host_sys\":\"cpu,mem\",\"optype\":\"\\u00e4\\ud83d\\ude00\"}}";
    struct options_json j;
    for (size_t n = 0; n < sizeof good; n++) {
        char *const part = malloc(n + 1); /* its end is where the sanitizer sees it */
        memcpy(part, good, n);
        read_text(&j, part, n, 0, -1);
        options_json_fini(&j);
        free(part);
    }
    for (size_t i = 0; i < sizeof good - 1; i++)
        for (int c = 0; c < 256; c += 3) {
            char text[sizeof good];
            memcpy(text, good, sizeof good);
            text[i] = (char)c;
            read_text(&j, text, sizeof good - 1, 0, C16);
            options_json_fini(&j);
        }
    (void)state;
}

static void programs_load_a_file(void **state)
{
    char name[] = "/tmp/ascope-acl-XXXXXX";
    struct ascope_error e = { "" };
    struct ascope_options o;
    bool is_on = false;
    const int fd = mkstemp(name);
    static const char acl[] = "{\"profiler\":{\"switch\":\"on\",\"output\":\".\",\"l2\":\"on\",\"host_sys\":\"cpu\"}}",
                      bad[] = "{\"profiler\":\n {\"switch\":\"on\",\"l2\":\"x\"}}";
    assert_true(fd >= 0 && write(fd, acl, sizeof acl - 1) == sizeof acl - 1);
    ascope_options_init(&o);
    o.device = "sim";
    o.slice_kb = 128;
    assert_true(ascope_options_load(&o, name, 0, &is_on, &e));
    assert_true(is_on && o.l2_cache && o.layout == ASCOPE_LAYOUT_PROF && o.host_sys == ASCOPE_HOST_CPU);
    assert_int_equal(o.metrics, ASCOPE_PIPE_UTILIZATION);
    assert_string_equal(o.parent_dir, ".");
    assert_string_equal(o.device, "sim"); /* what the file has no key for stays */
    assert_int_equal(o.slice_kb, 128);
    assert_true(ftruncate(fd, 0) == 0 && pwrite(fd, bad, sizeof bad - 1, 0) == sizeof bad - 1);
    assert_false(ascope_options_load(&o, name, ASCOPE_FRONT_END_ACL_JSON, &is_on, &e));
    assert_non_null(strstr(e.text, ":2:22: l2: invalid value \"x\"; expected on, off"));
    assert_true(o.l2_cache); /* as before */
    assert_false(ascope_options_load(&o, "/nowhere", 0, NULL, &e));
    assert_non_null(strstr(e.text, "/nowhere: "));
    assert_false(ascope_options_load(&o, "/dev/null", 0, NULL, NULL));
    assert_false(ascope_options_load_text(&o, "{}", 2, ASCOPE_FRONT_END_MSPROF, NULL, &e));
    o.size = 0;
    assert_false(ascope_options_load_text(&o, acl, sizeof acl - 1, 0, NULL, &e));
    close(fd);
    unlink(name);
    (void)state;
}

static void without_an_output_there_is_a_work_path(void **state)
{
    struct options_json j;
    setenv("ASCEND_WORK_PATH", "/tmp", 1);
    assert_true(read_case(&j, "{}", TF, -1));
    assert_string_equal(j.o.parent_dir, "/tmp/profiling_data");
    options_json_fini(&j);
    assert_true(read_case(&j, "{\"output\": 5}", TF, -1));
    options_json_fini(&j);
    unsetenv("ASCEND_WORK_PATH");
    const struct options_request r = { .front_end = ACL, .chip = -1, .program_dir = "/opt/app", .say = remember };
    assert_true(options_json_read(&j, "{\"profiler\":{\"switch\":\"on\"}}", 28, &r));
    assert_string_equal(j.o.parent_dir, "/opt/app");
    options_json_fini(&j);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_of_the_vendors_checks),
        cmocka_unit_test(cases_of_acl_json),
        cmocka_unit_test(chips_have_keys_of_their_own),
        cmocka_unit_test(settings_become_the_vendors_mask),
        cmocka_unit_test(values_reach_the_recorder),
        cmocka_unit_test(custom_events_lose_their_blanks),
        cmocka_unit_test(messages_name_place_key_and_value),
        cmocka_unit_test(every_fault_is_reported),
        cmocka_unit_test(sizes_have_limits),
        cmocka_unit_test(many_faults_cost_one_walk),
        cmocka_unit_test(deep_texts_are_refused_in_one_line),
        cmocka_unit_test(damaged_texts_have_a_reason),
        cmocka_unit_test(programs_load_a_file),
        cmocka_unit_test(without_an_output_there_is_a_work_path),
    };
    return cmocka_run_group_tests(tests, no_work_path, NULL);
}
