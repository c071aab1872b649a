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

#include "cli/msprof/msprof_line.h"
#include "collect/options/options.h"
#include "folder.h"
#include "run/run.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

enum { WORDS = 600, VALUES = 14, NO_CHIP = -1 };

/* What was said, all of it. */
static char said[20000];

static void keep(void *to, enum msprof_severity severity, const char *text)
{
    static const char *const prefix[] = { "info", "warning", "error", "unknown" };
    const size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%s: %s\n", prefix[severity], text);
    (void)to;
}

static struct msprof_line line_new(int chip)
{
    static const unsigned device[] = { 0, 1, 10 };
    said[0] = '\0';
    return (struct msprof_line){ .on = { .chip = chip, .device = device, .n_devices = COUNT(device) },
                                 .say = keep,
                                 .mem = arena_new() };
}

/* Words with blanks between them; "_" is a blank inside a word, and "''" an empty word. */
static enum msprof_verdict read_words(struct msprof_line *l, const char *words, char *copy, size_t size)
{
    char *argv[WORDS + 1] = { (char *)"msprof" }, *rest = copy;
    int argc = 1;
    snprintf(copy, size, "%s", words);
    for (char *word; *words && argc < WORDS && (word = strsep(&rest, " "));) {
        for (char *c = word; *c; c++)
            *c = *c == '_' ? ' ' : *c;
        argv[argc++] = strcmp(word, "''") == 0 ? word + 2 : word;
    }
    return msprof_read(l, argc, argv);
}

/* ---- each option alone ---- */

#define ON_OFF                                                                                                         \
    { "on", "off" },                                                                                                   \
    {                                                                                                                  \
        "", "On", "true", "1", "on,off", " on"                                                                         \
    }
#define RATE(low, high, below, above)                                                                                  \
    { #low, #high, "0" #high },                                                                                        \
    {                                                                                                                  \
#below, #above, "", "-1", "+1", "1.5", "0x5", " 5", "5 ", "a", "99999999999999999999"                          \
    }
#define METRICS                                                                                                        \
    { "PipeUtilization",                                                                                               \
      "ArithmeticUtilization",                                                                                         \
      "Memory",                                                                                                        \
      "MemoryL0",                                                                                                      \
      "MemoryUB",                                                                                                      \
      "ResourceConflictRatio",                                                                                         \
      "L2Cache",                                                                                                       \
      "MemoryAccess",                                                                                                  \
      "PipelineExecuteUtilization",                                                                                    \
      "Custom:0x8",                                                                                                    \
      "Custom:8,0XA,0x416",                                                                                            \
      "Custom:1,2,3,4,5,6,7,8,9,10" },                                                                                 \
    {                                                                                                                  \
        "", "pipeUtilization", "custom:0x8", "Custom:", "Custom:0x8,", "Custom:0xg", "Custom:1,2,3,4,5,6,7,8,9,10,11", \
            "Memory,MemoryL0", "AiCoreNone",                                                                           \
            "Custom:0x000000000000000001,0x000000000000000002,0x000000000000000003,0x4"                                \
    }

/* clang-format off */
static const struct {
    const char *good[VALUES], *bad[VALUES];
} values[MSPROF_OPTIONS] = {
    [MSPROF_OUTPUT] = { { "out", "./o u t", "a/b/c", "*?()[]{}#@~!=,:+" }, { "" } },
    [MSPROF_APPLICATION] = { { "/bin/cat", "/bin/cat a  b", " /bin/cat ", "sh -c x", "python3 -m x", "/bin/sh x", "python3.11 nowhere.py", "./bare", "./bare a" },
                             { "", " ", "cat", "bare", "bare a", "nowhere", "/bin", "sh", "python3", "/nowhere/python3 x", "link", "not-executable", "od,d" } },
    [MSPROF_ENVIRONMENT] = { { "A=1", "A=1;B=2", "nothing", "A=;" }, { "" } },
    [MSPROF_STORAGE_LIMIT] = { { "200MB", "4294967295MB", "0000000200MB" },
                               { "", "200", "200mb", "200 MB", "199MB", "4294967296MB", "00000000200MB", "MB", "-200MB", "1GB", "200MBB" } },
    [MSPROF_PYTHON_PATH] = { { "/bin/sh" }, { "", "python3", "/bin", "/nowhere", "not-executable" } },
    [MSPROF_TYPE] = { { "text", "db" }, { "", "Text", "text,db", "json" } },
    [MSPROF_REPORTS] = { { "nowhere.json" }, { "" } },
    [MSPROF_DELAY] = { RATE(1, 4294967295, 0, 4294967296) },
    [MSPROF_DURATION] = { RATE(1, 4294967295, 0, 4294967296) },
    [MSPROF_DYNAMIC] = { ON_OFF },
    [MSPROF_PID] = { { "1", "1,1", "0001", "1,2147483647" }, { "", "0", "1,", ",1", "a", "1,a", "-1", "2147483648", "2147483647" } },
    [MSPROF_HELP] = { { NULL }, { NULL } },
    [MSPROF_ASCENDCL] = { ON_OFF },
    [MSPROF_MODEL_EXECUTION] = { ON_OFF },
    [MSPROF_RUNTIME_API] = { ON_OFF },
    [MSPROF_GE_API] = { { "off", "l0", "l1" }, { "", "on", "l2", "L0" } },
    [MSPROF_TASK_TIME] = { { "on", "off", "l0", "l1", "l2", "l3" }, { "", "l4", "L1", "0", "level1" } },
    [MSPROF_AICORE_SHAPE] = { ON_OFF },
    [MSPROF_TASK_MEMORY] = { ON_OFF },
    [MSPROF_TASK_TSFW] = { ON_OFF },
    [MSPROF_AICPU] = { ON_OFF },
    [MSPROF_HCCL] = { ON_OFF },
    [MSPROF_MSPROFTX] = { ON_OFF },
    [MSPROF_DOMAIN_INCLUDE] = { { "", "default", "a,b", "a b" }, { ",", "a,", ",a", "a,,b" } },
    [MSPROF_DOMAIN_EXCLUDE] = { { "", "default", "a,b", "a b" }, { ",", "a,", ",a", "a,,b" } },
    [MSPROF_OPTYPE] = { { "MatMul", "B,A,B" }, { "", ",", "MatMul,", "A,,B" } },
    [MSPROF_L2] = { ON_OFF },
    [MSPROF_NPU_EVENTS] = { { "", "0x1", "0x1,0xff", "HA:0x1", "HA:0x1;MATA:0x2;SMMU:0x808;NOC:0x3f", "0x1,0x2,0x3,0x4,0x5,0x6,0x7,0x8" },
                            { "1", "0x100", "0x1,", "HA:", "HA:0x1;HA:0x2", "SMMU:0x809", "NOC:0x40", "NOC:0x1,0x2,0x3,0x4,0x5", "XX:0x1", "0x1;0x2", "HA:0x1;0x2",
                              "0x1,0x2,0x3,0x4,0x5,0x6,0x7,0x8,0x9", "ha:0x1" } },
    [MSPROF_TASK_BLOCK] = { { "all", "off", "on" }, { "", "All" } },
    [MSPROF_INSTR_PROFILING] = { ON_OFF },
    [MSPROF_INSTR_FREQ] = { RATE(300, 30000, 299, 30001) },
    [MSPROF_NTS_METRICS] = { { "PipeUtilization", "Custom:1", "Custom:0x71b,0,1,2,3,4,5,6,7,8" },
                             { "", "Memory", "Custom:", "Custom:0x71c", "Custom:1,", "Custom:0,1,2,3,4,5,6,7,8,9,10", "custom:1" } },
    [MSPROF_AI_CORE] = { ON_OFF },
    [MSPROF_AIC_MODE] = { { "task-based", "sample-based" }, { "", "task" } },
    [MSPROF_AIC_FREQ] = { RATE(1, 100, 0, 101) },
    [MSPROF_AIC_METRICS] = { METRICS },
    [MSPROF_AI_VECTOR_CORE] = { ON_OFF },
    [MSPROF_AIV_MODE] = { { "task-based", "sample-based" }, { "", "task" } },
    [MSPROF_AIV_FREQ] = { RATE(1, 100, 0, 101) },
    [MSPROF_AIV_METRICS] = { METRICS },
    [MSPROF_SYS_PERIOD] = { RATE(1, 2592000, 0, 2592001) },
    [MSPROF_SYS_DEVICES] = { { "all", "0", "0,63", "00,0" }, { "", "64", "0,", ",0", "all,0", "-1", "a" } },
    [MSPROF_HARDWARE_MEM] = { ON_OFF },
    [MSPROF_HARDWARE_MEM_FREQ] = { RATE(1, 10000, 0, 10001) },
    [MSPROF_LLC] = { { "read", "write", "capacity", "bandwidth" }, { "", "Read", "read,write" } },
    [MSPROF_SERVICEFLOW] = { { "anything" }, { "" } },
    [MSPROF_CPU] = { ON_OFF },
    [MSPROF_CPU_FREQ] = { RATE(1, 50, 0, 51) },
    [MSPROF_SYS] = { ON_OFF },
    [MSPROF_SYS_FREQ] = { RATE(1, 10, 0, 11) },
    [MSPROF_SYS_PID] = { ON_OFF },
    [MSPROF_SYS_PID_FREQ] = { RATE(1, 10, 0, 11) },
    [MSPROF_IO] = { ON_OFF },
    [MSPROF_IO_FREQ] = { RATE(1, 100, 0, 101) },
    [MSPROF_INTERCONNECTION] = { ON_OFF },
    [MSPROF_INTERCONNECTION_FREQ] = { RATE(1, 50, 0, 51) },
    [MSPROF_DVPP] = { ON_OFF },
    [MSPROF_DVPP_FREQ] = { RATE(1, 100, 0, 101) },
    [MSPROF_LOW_POWER] = { ON_OFF },
    [MSPROF_LOW_POWER_FREQ] = { RATE(1, 100, 0, 101) },
    [MSPROF_HOST_SYS] = { { "cpu", "mem", "disk", "network", "osrt", "numa", "cpu,mem,disk,network,osrt,numa", "cpu,cpu" },
                          { "", "CPU", "cpu,", ",cpu", "cpu,,mem", "cpu mem", "gpu", "all" } },
    [MSPROF_HOST_SYS_PID] = { { "1", "0001" }, { "", "0", "4294967295", "a", "-1", "1,2" } },
    [MSPROF_HOST_USAGE] = { { "", "cpu", "mem", "cpu,mem" }, { "disk", "cpu,", "cpu mem" } },
    [MSPROF_HOST_USAGE_FREQ] = { RATE(1, 50, 0, 51) },
    [MSPROF_PARSE] = { ON_OFF },
    [MSPROF_QUERY] = { ON_OFF },
    [MSPROF_EXPORT] = { ON_OFF },
    [MSPROF_ANALYZE] = { ON_OFF },
    [MSPROF_RULE] = { { "communication", "communication_matrix", "communication,communication_matrix" }, { "", "all", "communication," } },
    [MSPROF_CLEAR] = { ON_OFF },
    [MSPROF_ITERATION_ID] = { RATE(0, 4294967295, -1, 4294967296) },
    [MSPROF_MODEL_ID] = { RATE(0, 4294967295, -1, 4294967296) },
    [MSPROF_SUMMARY_FORMAT] = { { "csv", "json" }, { "", "text", "CSV" } },
    [MSPROF_DIALECT] = { { "documented", "current" }, { "", "other" } },
};
/* clang-format on */

static enum msprof_verdict take_alone(int chip, const char *name, const char *value)
{
    char word[400];
    struct msprof_line l = line_new(chip);
    snprintf(word, sizeof word, "--%s%s%s", name, value ? "=" : "", value ? value : "");
    const enum msprof_verdict v = msprof_take(&l, word);
    arena_free(l.mem);
    return v;
}

/* Files that values name, in a folder that is the working directory. */
static void make_files(void)
{
    assert_int_equal(chdir(folder), 0);
    FILE *plain = fopen("not-executable", "w"), *odd = fopen("od,d", "w"), *bare = fopen("bare", "w");
    fclose(plain);
    fclose(odd);
    fclose(bare);
    assert_int_equal(chmod("od,d", 0755) + chmod("bare", 0755), 0);
    assert_int_equal(symlink("/bin/cat", "link"), 0);
}

static void each_option_accepts_its_values_alone(void **state)
{
    make_files();
    for (size_t i = 0; i < MSPROF_OPTIONS; i++) {
        const char *const name = msprof_rows[i].name;
        assert_non_null(name);
        if (i == MSPROF_HELP) {
            assert_int_equal(take_alone(NO_CHIP, name, NULL), MSPROF_WANTS_HELP);
            continue;
        }
        if (!values[i].good[0] || !values[i].bad[0])
            fail_msg("--%s has no row of values", name);
        for (size_t k = 0; k < VALUES && values[i].good[k]; k++)
            if (take_alone(NO_CHIP, name, values[i].good[k]) != MSPROF_GOOD)
                fail_msg("--%s=%s was refused: %s", name, values[i].good[k], said);
        for (size_t k = 0; k < VALUES && values[i].bad[k]; k++) {
            if (take_alone(NO_CHIP, name, values[i].bad[k]) != MSPROF_REFUSED)
                fail_msg("--%s=%s was accepted", name, values[i].bad[k]);
            if (strncmp(said, "error: --", 9) != 0 && strncmp(said, "warning: --pid: process", 23) != 0)
                fail_msg("--%s=%s: \"%s\" is no message", name, values[i].bad[k], said);
        }
        const enum msprof_verdict alone = i == MSPROF_STORAGE_LIMIT ? MSPROF_GOOD : MSPROF_REFUSED;
        if (take_alone(NO_CHIP, name, NULL) != alone)
            fail_msg("--%s without a value: %s", name, said);
    }
    assert_int_equal(chdir("/"), 0);
    (void)state;
}

/* ---- chips ---- */

/* As the page of the command has them: what is refused as unknown on each number. */
/* clang-format off */
#define AIV    "ai-vector-core aiv-mode aiv-freq aiv-metrics "
#define LP     "sys-lp sys-lp-freq "
#define INSTR  "instr-profiling instr-profiling-freq "
#define LINKS  "sys-interconnection-profiling sys-interconnection-freq "
#define IO     "sys-io-profiling sys-io-sampling-freq "
#define IMAGES "dvpp-profiling dvpp-freq "
#define CONTROL "dynamic pid delay duration "
#define PARSING "python-path summary-format parse query export iteration-id model-id analyze rule "
#define CAR    IO LINKS "aicpu task-block " PARSING INSTR CONTROL LP "sys-mem-serviceflow optype nts-metrics "
#define NEXT_CAR AIV "aicpu sys-io-profiling " CONTROL IMAGES "hccl model-execution instr-profiling-freq optype "
static const struct {
    int chip;
    const char *refused;
} of_chip[] = {
    { NO_CHIP, "" },
    { 0, LINKS "l2 storage-limit task-block " INSTR CONTROL "npu-events " LP "sys-mem-serviceflow optype nts-metrics " AIV },
    { 1, "task-block " LP INSTR "sys-mem-serviceflow optype nts-metrics " AIV },
    { 2, CAR },
    { 3, "" },
    { 4, IO "task-block " INSTR LP "sys-mem-serviceflow optype nts-metrics " AIV },
    { 5, LP AIV "optype nts-metrics " },
    { 7, LINKS INSTR LP "sys-mem-serviceflow optype nts-metrics " AIV },
    { 8, CAR "model-execution host-sys host-sys-pid " AIV },
    { 9, "" },
    { 11, CAR "model-execution host-sys host-sys-pid " AIV },
    { 12, CAR AIV },
    { 15, AIV "instr-profiling-freq optype nts-metrics " },
    { 16, AIV "instr-profiling-freq nts-metrics " IMAGES },
    { 17, NEXT_CAR },
    { 18, NEXT_CAR "nts-metrics " },
    { 21, "" },
    { 99, "" },
};
/* clang-format on */

static void each_chip_refuses_what_it_does_not_have(void **state)
{
    for (size_t c = 0; c < COUNT(of_chip); c++)
        for (size_t i = 0; i < MSPROF_OPTIONS; i++) {
            char name[64], list[1200];
            snprintf(name, sizeof name, " %s ", msprof_rows[i].name);
            snprintf(list, sizeof list, " %s", of_chip[c].refused);
            const bool is_refused = strstr(list, name) != NULL;
            if (msprof_is_refused(&msprof_rows[i], of_chip[c].chip) != is_refused)
                fail_msg("chip %d and --%s: %s", of_chip[c].chip, msprof_rows[i].name,
                         is_refused ? "accepted" : "refused");
            if (!is_refused)
                continue;
            assert_int_equal(take_alone(of_chip[c].chip, msprof_rows[i].name, "off"), MSPROF_NEEDS_USAGE);
            snprintf(name, sizeof name, "chip %d", of_chip[c].chip);
            assert_non_null(strstr(said, msprof_rows[i].name));
            assert_non_null(strstr(said, name));
        }
    (void)state;
}

static void some_values_are_for_some_chips(void **state)
{
    static const struct {
        const char *name, *value;
        const char *chips; /* that accept it */
        const char *others;
    } row[] = {
        { "task-time", "l3", "-1 5 15 ", "0 1 2 4 7 11 12 16 17 18 " },
        { "task-time", "l2", "-1 0 1 2 4 5 7 11 12 15 16 17 18 ", "" },
        { "task-block", "on", "-1 15 16 17 ", "5 7 18 " },
        { "task-block", "all", "-1 5 7 15 16 17 18 ", "" },
        { "llc-profiling", "read", "-1 1 2 4 5 7 15 16 17 ", "0 " },
        { "llc-profiling", "capacity", "-1 0 ", "1 2 4 5 7 15 16 17 " },
        { "llc-profiling", "bandwidth", "-1 0 ", "1 2 4 5 7 15 16 17 " },
        { "sys-hardware-mem-freq", "100", "-1 0 1 5 15 16 ", "" },
        { "sys-hardware-mem-freq", "101", "-1 15 16 17 18 ", "0 1 2 4 5 7 " },
        { "npu-events", "NOC:0x1", "-1 15 ", "1 5 16 17 " },
        { "aic-metrics", "PipeUtilization", "-1 0 1 4 5 7 15 16 ", "" },
        { "aic-metrics", "PipeUtilizationExct", "5 ", "1 4 7 15 16 -1 " },
        { "aic-metrics", "PipelineExecuteUtilization", "-1 7 ", "1 4 5 15 16 " },
        { "aic-metrics", "L2Cache", "-1 5 7 15 16 ", "1 4 " },
        { "aic-metrics", "MemoryAccess", "-1 5 ", "1 4 7 15 16 " },
        { "aic-metrics", "Custom:1,2,3,4,5,6,7,8,9", "-1 15 ", "1 5 7 16 " },
    };
    for (size_t i = 0; i < COUNT(row); i++)
        for (int accepts = 0; accepts < 2; accepts++) {
            char *end = (char *)(accepts ? row[i].chips : row[i].others);
            while (*end) {
                const int chip = (int)strtol(end, &end, 10);
                end += *end == ' ';
                const enum msprof_verdict v = take_alone(chip, row[i].name, row[i].value);
                if (v != (accepts ? MSPROF_GOOD : MSPROF_REFUSED))
                    fail_msg("--%s=%s on chip %d: %s%s", row[i].name, row[i].value, chip, v ? "refused" : "accepted",
                             said);
            }
        }
    (void)state;
}

/* ---- whole lines ---- */

static void lines_have_modes_and_limits(void **state)
{
    enum { GOOD = MSPROF_GOOD, BAD = MSPROF_REFUSED, USAGE = MSPROF_NEEDS_USAGE, HELP = MSPROF_WANTS_HELP };
    enum { APP = MSPROF_IN_APPLICATION, SYS = MSPROF_IN_SYSTEM };
    static const struct {
        const char *words;
        unsigned v, mode;
        const char *part; /* of what is said; "": nothing is said; NULL: anything */
        int chip;         /* + 1; 0: unknown */
    } row[] = {
        { "", USAGE, 0, "", 0 },
        { "--help", HELP, 0, "", 0 },
        { "--help --nonsense", HELP, 0, "", 0 },
        { "--ascendcl=maybe --help", BAD, 0, "--ascendcl=maybe", 0 },
        { "--nonsense=1", USAGE, 0, "unknown: --nonsense: unknown option", 0 },
        { "--task-trace=on app", USAGE, 0, "--task-trace: unknown option", 0 },
        { "--sys-cpu=on app", USAGE, 0, "ambiguous", 0 },
        { "--ascend=on app", GOOD, APP, "", 0 }, /* short, and unique */
        { "--dev=0 app", USAGE, 0, "unknown", 0 },
        { "--host-sys=cpu app", GOOD, APP, "", 0 }, /* another one begins with it */
        { "app", GOOD, APP, "", 0 },
        { "-h", GOOD, APP, "", 0 },
        { "app --help --ascendcl=maybe", GOOD, APP, "", 0 },
        { "--l2 on app", BAD, 0, "--l2: missing value, as in --name=value", 0 },
        { "--l2 --ascendcl=on app", BAD, 0, "--l2: missing value", 0 },
        { "--aicore-shape on app", GOOD, APP, "", 0 },
        { "--aicore-shape maybe app", BAD, 0, "--aicore-shape=maybe", 0 },
        { "--aicore-shape", BAD, 0, "--aicore-shape: missing value", 0 },
        { "--storage-limit 200MB app", GOOD, APP, "warning: --storage-limit", 0 },
        { "-- x --nonsense=1 app", GOOD, APP, "", 0 },
        { "--ascendcl=x --runtime-api=y app", BAD, 0, "--ascendcl=x", 0 }, /* the first one */
        { "--output=%bad --ascendcl=x app", BAD, 0, "--ascendcl=x", 0 },   /* which is checked last */
        { "--output=%bad app", BAD, 0, "--output: character 0x25", 0 },
        { "--output=%bad --msproftx=off --mstx-domain-include=a app", BAD, 0, "requires --msproftx=on", 0 },
        { "--output=not-executable app", BAD, 0, "not a directory", 0 },
        { "--output=to-dir app", BAD, 0, "symbolic link", 0 },
        { "--output=to-dir/ app", BAD, 0, "symbolic link", 0 },
        { "--output=new/er app", GOOD, APP, "", 0 },
        /* marks */
        { "--mstx-domain-include=a app", BAD, 0, "requires --msproftx=on", 0 },
        { "--mstx-domain-exclude=a --msproftx=off app", BAD, 0, "requires --msproftx=on", 0 },
        { "--msproftx=on --mstx-domain-exclude=a --mstx-domain-include=b app", BAD, 0, "not together", 0 },
        { "--mstx-domain-exclude=a --msproftx=on app", GOOD, APP, "", 0 },
        { "--mstx-domain-include= app", GOOD, APP, "", 0 }, /* an empty list is none */
        { "--mstx-domain-exclude=a --mstx-domain-exclude= app", GOOD, APP, "", 0 },
        { "--msproftx=on --mstx-domain-exclude=a --mstx-domain-include= app", GOOD, APP, "", 0 },
        /* on demand */
        { "--dynamic=on", BAD, 0, "give a program or --pid", 0 },
        { "--dynamic=on app", GOOD, APP, "", 0 },
        { "--dynamic=on --pid=1", GOOD, APP, "", 0 },
        { "--dynamic=on --pid=1 app", BAD, 0, "--pid: not together with a program", 0 },
        { "--pid=1", BAD, 0, "requires --dynamic=on", 0 },
        { "--pid=1 app", BAD, 0, "requires --dynamic=on", 0 },
        { "--dynamic=off --pid=1", BAD, 0, "requires --dynamic=on", 0 },
        { "--dynamic=on --sys-devices=0 app", BAD, 0, "not together with --sys-devices", 0 },
        { "--dynamic=on --sys-period=1 app", BAD, 0, "not together with --sys-period", 0 },
        { "--dynamic=on --sys-cpu-profiling=off app", BAD, 0, "not together with --sys-cpu-profiling", 0 },
        { "--dynamic=on --delay=1 app", GOOD, APP, "", 0 },
        { "--dynamic=on --pid=1,2147483647", GOOD, APP, "2147483647 does not exist", 0 },
        /* without a program */
        { "--sys-devices=0 --sys-period=1", BAD, SYS, "nothing to record", 0 },
        { "--sys-devices=0 --sys-period=1 --output=o", BAD, SYS, "nothing to record", 0 },
        { "--sys-devices=0 --sys-period=1 --ai-core=off", GOOD, SYS, "", 0 },
        { "--sys-devices=0 --sys-period=1 --python-path=/bin/sh", GOOD, SYS, "", 0 },
        { "--sys-devices=0 --ai-core=on", BAD, SYS, "requires --sys-period", 0 },
        { "--sys-devices=2 --sys-period=1 --ai-core=on", BAD, SYS, "device 2 is not online", 0 },
        { "--sys-devices=2,1 --sys-period=1 --ai-core=on", GOOD, SYS, "device 2 is not online", 0 },
        { "--sys-devices=2 --sys-period=1 --host-sys-usage=cpu", GOOD, SYS, "", 0 },
        { "--sys-devices=all --sys-period=1 --ai-core=on", GOOD, SYS, "", 0 },
        { "--host-sys=cpu --sys-period=1", BAD, SYS, "--host-sys-pid", 0 },
        { "--host-sys=cpu --sys-period=1 --host-sys-pid=1", GOOD, SYS, "", 0 },
        { "--host-sys=cpu --host-sys-pid=1", BAD, SYS, "requires --sys-period", 0 },
        { "--host-sys-usage=cpu,mem --sys-period=1", GOOD, SYS, "", 0 },
        { "--host-sys-usage=cpu,mem", BAD, SYS, "requires --sys-period", 0 },
        { "--host-sys-usage= --sys-period=1", USAGE, 0, "nothing to do", 0 },
        { "--sys-period=1", USAGE, 0, "nothing to do", 0 },
        { "--output=o", USAGE, 0, "nothing to do", 0 },
        { "--dynamic=off", USAGE, 0, "nothing to do", 0 },
        { "--export=off", USAGE, 0, "nothing to do", 0 },
        /* what has no effect is named, and does no harm */
        { "--sys-devices=0 app", GOOD, APP, "no effect here: --sys-devices", 0 },
        { "--sys-period=1 --host-sys-pid=1 app", GOOD, APP, "no effect here: --sys-period, --host-sys-pid", 0 },
        { "--sys-lp-freq=10 app", GOOD, APP, "no effect here: --sys-lp-freq", 0 },
        { "--type=db --python-path=/bin/sh app", GOOD, APP, "", 0 },
        { "--clear=on --reports=x --summary-format=json app", GOOD, APP, "no effect here", 0 },
        { "--host-sys-usage=cpu --sys-period=1 --delay=1", GOOD, SYS, "no effect here: --delay", 0 },
        /* parsing */
        { "--export=on", BAD, MSPROF_IN_EXPORT, "requires --output=DIR", 0 },
        { "--export=on --output=nowhere", BAD, 0, "no such directory", 0 },
        { "--export=on --output=to-dir", BAD, 0, "symbolic link", 0 },
        { "--export=on --output=.", GOOD, MSPROF_IN_EXPORT, "", 0 },
        { "--export=on --output=nowhere app", BAD, 0, "no such directory", 0 },
        { "--export=on --type=db --output=.", GOOD, MSPROF_IN_EXPORT_DB, "", 0 },
        { "--export=on --type=db --clear=off --output=.", BAD, MSPROF_IN_EXPORT_DB, "--clear: not allowed", 0 },
        { "--export=on --type=db --model-id=1 --output=.", BAD, MSPROF_IN_EXPORT_DB, "--model-id: not allowed", 0 },
        { "--export=on --rule=communication --output=.", BAD, MSPROF_IN_EXPORT, "--rule: not allowed", 0 },
        { "--query=on --export=off --output=.", BAD, MSPROF_IN_QUERY, "--export: not allowed", 0 },
        { "--query=on --export=off", BAD, MSPROF_IN_QUERY, "--export: not allowed", 0 }, /* before what is required */
        { "--query=on --output=.", GOOD, MSPROF_IN_QUERY, "", 0 },
        { "--parse=on --clear=on --output=.", BAD, MSPROF_IN_PARSE, "--clear: not allowed", 0 },
        { "--parse=on --output=.", GOOD, MSPROF_IN_PARSE, "", 0 },
        { "--parse=on --ascendcl=on --output=.", GOOD, MSPROF_IN_PARSE, "no effect here: --ascendcl", 0 },
        { "--analyze=on --rule=communication --clear=on --type=db --output=.", GOOD, MSPROF_IN_ANALYZE, "", 0 },
        { "--analyze=on --parse=off --output=.", BAD, MSPROF_IN_ANALYZE, "--parse: not allowed", 0 },
        { "--export=on --output=. app", GOOD, APP, "no effect here: --export", 0 },
        /* chips */
        { "--task-block=all app", BAD, 0, "requires --optype", 16 + 1 },
        { "--task-block=all --optype=MatMul app", GOOD, APP, "", 16 + 1 },
        { "--task-block=all app", GOOD, APP, "", 15 + 1 },
        { "--l2=on app", USAGE, 0, "not available on chip 0", 0 + 1 },
    };
    make_files();
    assert_int_equal(mkdir("dir", 0755) + symlink("dir", "to-dir"), 0);
    for (size_t i = 0; i < COUNT(row); i++) {
        char copy[4000];
        struct msprof_line l = line_new(row[i].chip - 1);
        const enum msprof_verdict v = read_words(&l, row[i].words, copy, sizeof copy);
        const bool says = !row[i].part || (*row[i].part ? strstr(said, row[i].part) != NULL : !*said);
        if ((unsigned)v != row[i].v || (unsigned)l.mode != row[i].mode || !says)
            fail_msg("%s: verdict %d, mode %d, \"%s\"", row[i].words, (int)v, (int)l.mode, said);
        arena_free(l.mem);
    }
    struct stat s;
    assert_int_equal(stat("new/er", &s), 0);
    assert_int_equal(s.st_mode & 0027, 0);
    assert_int_equal(stat("%bad", &s), -1);
    assert_int_equal(chdir("/"), 0);
    (void)state;
}

static void a_part_of_a_device_is_not_recorded_without_a_program(void **state)
{
    char copy[200];
    struct msprof_line l = line_new(5);
    l.on.is_virtual_device = true;
    assert_int_equal(read_words(&l, "--sys-devices=all --sys-period=1 --ai-core=on", copy, sizeof copy),
                     MSPROF_NOT_HERE);
    arena_free(l.mem);
    l = line_new(5);
    l.on.is_virtual_device = true;
    assert_int_equal(read_words(&l, "app", copy, sizeof copy), MSPROF_GOOD);
    arena_free(l.mem);
    (void)state;
}

static void words_are_counted(void **state)
{
    static char *argv[WORDS];
    static char long_path[600];
    for (size_t i = 0; i < WORDS; i++)
        argv[i] = (char *)"app";
    for (int n = 511; n <= 513; n++) {
        struct msprof_line l = line_new(NO_CHIP);
        assert_int_equal(msprof_read(&l, n, argv), n <= 512 ? MSPROF_GOOD : MSPROF_REFUSED);
        arena_free(l.mem);
    }
    memset(long_path, 'a', sizeof long_path - 1);
    for (size_t n = 512; n <= 513; n++) {
        struct msprof_line l = line_new(NO_CHIP);
        argv[0] = long_path + sizeof long_path - 1 - n;
        assert_int_equal(msprof_read(&l, 2, argv), n == 512 ? MSPROF_GOOD : MSPROF_REFUSED);
        arena_free(l.mem);
    }
    (void)state;
}

static void programs_are_split(void **state)
{
    static const struct {
        const char *words, *program;
    } row[] = {
        { "./a --x b", "./a|--x|b" },
        { "a '' b", "a|b" },
        { "--l2=on a --l2=off", "a|--l2=off" },
        { "--application=/bin/cat_a__b_\"c_d\"_\\e", "/bin/cat|a|b|\"c|d\"|\\e" },
        { "--application=_/bin/cat_", "/bin/cat" },
        { "--application=sh_-c_x other", "sh|-c|x" },
        { "--application=~/cat", "/bin/cat" },
        { "--application=bin/cat", "//bin/cat" },
    };
    assert_int_equal(chdir("/") + setenv("HOME", "/bin", 1), 0);
    for (size_t i = 0; i < COUNT(row); i++) {
        char copy[400], joined[400] = "";
        struct msprof_line l = line_new(NO_CHIP);
        assert_int_equal(read_words(&l, row[i].words, copy, sizeof copy), MSPROF_GOOD);
        for (char *const *w = l.program; *w; w++)
            snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%s", w > l.program ? "|" : "", *w);
        assert_string_equal(joined, row[i].program);
        arena_free(l.mem);
    }
    (void)state;
}

/* ---- what the recorder is asked for ---- */

static void lines_become_requests(void **state)
{
#define O(field) offsetof(struct recorded_run, recorder.field), sizeof(((struct recorded_run *)0)->recorder.field)
#define R(field) offsetof(struct recorded_run, field), sizeof(((struct recorded_run *)0)->field)
    static const struct {
        const char *words;
        size_t at, size;
        uint64_t number;
        const char *text; /* instead of a number */
    } row[] = {
        { "app", O(layout), ASCOPE_LAYOUT_PROF, NULL },
        { "app", O(level), ASCOPE_LEVEL1, NULL },
        { "app", O(metrics), ASCOPE_PIPE_UTILIZATION, NULL },
        { "app", O(sample_based), false, NULL },
        { "app", O(mstx), false, NULL },
        { "app", O(host_sys), 0, NULL },
        { "app", O(low_power_hz), 100, NULL },
        { "app", O(storage_limit_mb), 0, NULL },
        { "app", O(device), 0, "auto" },
        { "app", R(delay_s), 0, NULL },
        { "--delay=3 app", R(delay_s), 3, NULL },
        { "--duration=010 app", R(duration_s), 10, NULL },
        { "--dynamic=on app", R(is_interactive), true, NULL },
        { "--dynamic=on --pid=1,1", R(n_pids), 2, NULL },
        { "--environment=A=1;B app", R(environment), 0, "A=1;B" },
        { "--storage-limit=0300MB app", O(storage_limit_mb), 300, NULL },
        { "--task-time=l0 app", O(level), ASCOPE_LEVEL0, NULL },
        { "--task-time=l2 app", O(more_data), DATA_ACL_API | DATA_TASK_L2, NULL },
        { "--task-time=off app", O(less_data), DATA_TASK_L0, NULL },
        { "--ascendcl=off app", O(less_data), DATA_ACL_API, NULL },
        { "--runtime-api=on app", O(more_data), DATA_ACL_API | DATA_RUNTIME_API, NULL },
        { "--ge-api=l1 app", O(more_data), DATA_ACL_API | DATA_GE_API_L0 | DATA_GE_API_L1, NULL },
        { "--aicore-shape on app", O(more_data), DATA_ACL_API | DATA_AICORE_SHAPE, NULL },
        { "--task-memory=on app", O(more_data), DATA_ACL_API | DATA_TASK_MEMORY, NULL },
        { "--task-tsfw=on app", O(more_data), DATA_ACL_API | DATA_SCHEDULER, NULL },
        { "--aicpu=on app", O(more_data), DATA_ACL_API | DATA_AICPU, NULL },
        { "--hccl=on app", O(more_data), DATA_ACL_API | DATA_HCCL, NULL },
        { "--hccl=off app", O(less_data), 0, NULL },
        { "--model-execution=on app", O(more_data), DATA_ACL_API, NULL },
        { "--msproftx=on app", O(mstx), true, NULL },
        { "--msproftx=on --mstx-domain-include=a,b app", O(mstx_domain_include), 0, "a,b" },
        { "--msproftx=on --mstx-domain-exclude=a app", O(mstx_domain_exclude), 0, "a" },
        { "--msproftx=on --mstx-domain-include= app", O(mstx_domain_include), 0, NULL },
        { "--optype=MatMul,Add,MatMul app", O(op_types), 0, "Add,MatMul" },
        { "--l2=on app", O(l2_cache), true, NULL },
        { "--npu-events=HA:0x1 app", O(npu_events), 0, "HA:0x1" },
        { "--npu-events=HA:0x1 app", O(l2_cache), true, NULL },
        { "--npu-events=HA:0x1 --l2=on app", O(npu_events), 0, NULL },
        { "--npu-events= app", O(l2_cache), false, NULL },
        { "--task-block=all app", O(task_block), true, NULL },
        { "--task-block=all app", O(task_block_shrink), 0, NULL },
        { "--task-block=on app", O(task_block_shrink), 1, NULL },
        { "--instr-profiling=on app", O(instr_hz), 1000, NULL },
        { "--instr-profiling-freq=300 --instr-profiling=on app", O(instr_hz), 300, NULL },
        { "--instr-profiling-freq=300 app", O(instr_hz), 0, NULL },
        { "--nts-metrics=Custom:0X1F,7 app", O(nts_metrics), 0, "Custom:0x1f,0x7" },
        { "--ai-core=off app", O(less_data), DATA_METRICS | DATA_AIC_SAMPLING | DATA_AIV_SAMPLING, NULL },
        { "--ai-core=off app", O(metrics), ASCOPE_PIPE_UTILIZATION, NULL },
        { "--aic-mode=sample-based app", O(sample_based), true, NULL },
        { "--aic-freq=7 app", O(aic_hz), 7, NULL },
        { "--aic-metrics=MemoryUB app", O(metrics), ASCOPE_MEMORY_UB, NULL },
        { "--aic-metrics=Custom:8,0xa app", O(custom_events), 0, "8,0xa" },
        { "--sys-hardware-mem=on app", O(hardware_mem_hz), 50, NULL },
        { "--sys-hardware-mem=on --sys-hardware-mem-freq=7 app", O(hardware_mem_hz), 7, NULL },
        { "--sys-hardware-mem-freq=7 app", O(hardware_mem_hz), 0, NULL },
        { "--llc-profiling=write app", O(llc_write), true, NULL },
        { "--sys-mem-serviceflow=x app", O(mem_serviceflow), 0, "x" },
        { "--sys-cpu-profiling=on app", O(cpu_hz), 50, NULL },
        { "--sys-cpu-profiling=on --sys-cpu-freq=3 app", O(cpu_hz), 3, NULL },
        { "--sys-profiling=on app", O(device_usage_hz), 10, NULL },
        { "--sys-profiling=on --sys-sampling-freq=3 app", O(device_usage_hz), 3, NULL },
        { "--sys-pid-profiling=on app", O(device_process_hz), 10, NULL },
        { "--sys-pid-profiling=on --sys-pid-sampling-freq=3 app", O(device_process_hz), 3, NULL },
        { "--sys-io-profiling=on app", O(io_hz), 100, NULL },
        { "--sys-io-profiling=on --sys-io-sampling-freq=3 app", O(io_hz), 3, NULL },
        { "--sys-interconnection-profiling=on app", O(interconnection_hz), 50, NULL },
        { "--sys-interconnection-profiling=on --sys-interconnection-freq=3 app", O(interconnection_hz), 3, NULL },
        { "--dvpp-profiling=on app", O(dvpp_hz), 50, NULL },
        { "--dvpp-profiling=on --dvpp-freq=3 app", O(dvpp_hz), 3, NULL },
        { "--sys-lp=off app", O(low_power_hz), 0, NULL },
        { "--sys-lp-freq=5 app", O(low_power_hz), 5, NULL },
        { "--host-sys=cpu,mem app", O(host_sys), ASCOPE_HOST_CPU | ASCOPE_HOST_MEM, NULL },
        { "--host-sys=cpu --host-sys=numa app", O(host_sys), ASCOPE_HOST_CPU | ASCOPE_HOST_NUMA, NULL },
        { "--l2=on --l2=off app", O(l2_cache), false, NULL },
        { "--host-sys-usage=cpu,mem --sys-period=3", O(host_usage), ASCOPE_HOST_CPU | ASCOPE_HOST_MEM, NULL },
        { "--host-sys-usage=mem --host-sys-usage-freq=5 --sys-period=3", O(host_usage_hz), 5, NULL },
        { "--host-sys-usage=mem --sys-period=3", R(period_s), 3, NULL },
        { "--host-sys=cpu --host-sys-pid=01 --sys-period=3", R(host_pid), 1, NULL },
        { "--sys-devices=10,1,1 --sys-period=3 --ai-core=on", O(device_ids), 0, "1,10" },
        { "--sys-devices=all --sys-period=3 --ai-core=on", O(device_ids), 0, NULL },
        { "--sys-devices=all --sys-period=3 --aic-mode=task-based", O(sample_based), true, NULL },
        { "--sys-devices=all --sys-period=3 --ai-core=on", O(less_data), DATA_ACL_API | DATA_TASK_L0, NULL },
        { "--sys-devices=all --sys-period=3 --l2=on", O(l2_cache), true, NULL },
    };
#undef O
#undef R
    for (size_t i = 0; i < COUNT(row); i++) {
        char copy[400];
        uint64_t number = 0;
        struct msprof_line l = line_new(NO_CHIP);
        if (read_words(&l, row[i].words, copy, sizeof copy) != MSPROF_GOOD)
            fail_msg("%s: %s", row[i].words, said);
        const struct recorded_run r = msprof_request(&l);
        memcpy(&number, (const char *)&r + row[i].at, row[i].size);
        if (row[i].text) {
            const char *const text = (const char *)(uintptr_t)number;
            assert_non_null(text);
            assert_string_equal(text, row[i].text);
        } else if (number != row[i].number) {
            fail_msg("row %zu: %s: 0x%llx", i, row[i].words, (unsigned long long)number);
        }
        arena_free(l.mem);
    }
    (void)state;
}

/* ---- what the vendor's libraries are asked for ---- */

/* The value of a member: "text", or 5. */
static const char *member(const char *json, const char *key)
{
    static char value[200];
    char wanted[80];
    snprintf(wanted, sizeof wanted, "\"%s\":", key);
    const char *const at = strstr(json, wanted);
    if (!at)
        fail_msg("no member %s", key);
    const char *const from = at + strlen(wanted), *const text = *from == '"' ? from + 1 : from;
    snprintf(value, sizeof value, "%.*s", (int)strcspn(text, *from == '"' ? "\"" : ",}"), text);
    return value;
}

static void each_chip_is_asked_for_its_own_events(void **state)
{
#define PIPES  "0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55"
#define MEMORY "0x15,0x16,0x31,0x32,0xf,0x10,0x12,0x13"
    static const struct {
        const char *words;
        int chip;
        const char *key, *value;
    } row[] = {
        { "app", 1, "ai_core_metrics", "PipeUtilization" },
        { "app", 1, "ai_core_profiling_events", PIPES },
        { "app", 5, "ai_core_metrics", "PipeUtilizationExct" },
        { "app", 5, "ai_core_profiling_events", "0x416,0x417,0x9,0x302,0xc,0x303,0x54,0x55" },
        { "app", 5, "aiv_metrics", "PipeUtilization" },
        { "app", 5, "aiv_profiling_events", PIPES },
        { "--aic-metrics=PipeUtilizationExct app", 5, "aiv_metrics", "PipeUtilization" },
        { "app", 7, "ai_core_metrics", "PipelineExecuteUtilization" },
        { "app", 7, "ai_core_profiling_events", "0x12c,0x49,0x4a,0x9,0x302,0xc,0xd,0x303" },
        { "app", 15, "ai_core_profiling_events", "0x501,0x301,0x1,0x701,0x202,0x203,0x34,0x35,0x714" },
        { "--aic-metrics=Memory app", 4, "ai_core_profiling_events", MEMORY },
        { "--aic-metrics=Memory app", 16, "ai_core_profiling_events",
          "0x422,0x423,0x56f,0x571,0x570,0x572,0x707,0x709" },
        { "--aic-metrics=MemoryUB app", 7, "ai_core_profiling_events", "0x37,0x38,0x1a5,0x1a6,0x17f,0x180,0x191" },
        { "--aic-metrics=L2Cache app", 15, "aiv_profiling_events", "0x424,0x425,0x426,0x42a,0x42b,0x42c" },
        { "--ai-core=off app", 5, "ai_core_metrics", "PipeUtilizationExct" },
        { "app", 1, "hwts_log", "on" },
        { "app", 1, "stars_acsq_task", "" },
        { "app", 1, "ai_core_lpm", "off" },
        { "app", 5, "hwts_log", "" },
        { "app", 5, "stars_acsq_task", "on" },
        { "--task-time=off app", 1, "hwts_log", "" },
        { "--l2=on app", 1, "l2CacheTaskProfilingEvents", "0x59,0x7d,0x7e,0x5b,0x71,0x5c,0x79,0x7c" },
        { "--l2=on app", 1, "npuEvents", "" },
        { "--l2=on app", 15, "npuEvents", "SMMU:0x8a,0x8c,0x8d,0x2,0x8b" },
        { "app", 0, "llc_profiling", "capacity" },
        { "--llc-profiling=bandwidth app", 0, "llc_profiling", "bandwidth" },
        { "--sys-devices=0 --sys-period=2592000 --ai-core=on", 5, "ai_core_lpm", "on" },
        { "--sys-devices=0 --sys-period=2592000 --ai-core=on", 5, "profiling_period", "2592000" },
        { "--sys-devices=0 --sys-period=1 --ai-core=on", 5, "ai_core_profiling_mode", "sample-based" },
        { "--sys-devices=0 --sys-period=1 --ai-core=off", 5, "ai_core_profiling", "" },
    };
    for (size_t i = 0; i < COUNT(row); i++) {
        char copy[400];
        struct error e = { 0 };
        struct msprof_line l = line_new(row[i].chip);
        if (read_words(&l, row[i].words, copy, sizeof copy) != MSPROF_GOOD)
            fail_msg("%s: %s", row[i].words, said);
        const struct recorded_run r = msprof_request(&l);
        char *const json = run_sample_config(&r, row[i].chip, &e);
        assert_non_null(json);
        print_message("  chip %d: %s: %s\n", row[i].chip, row[i].words, row[i].key);
        assert_string_equal(member(json, row[i].key), row[i].value);
        free(json);
        arena_free(l.mem);
    }
    (void)state;
}

static void results_are_beside_an_application(void **state)
{
    static const struct {
        const char *words, *work_path, *parent;
    } row[] = {
        { "--application=/bin/cat", NULL, "/bin" },
        { "--application=/bin/cat", "/x", NULL },
        { "--application=sh_x", NULL, NULL },
        { "/bin/cat", NULL, NULL },
        { "--output=/tmp --application=/bin/cat", NULL, "/tmp" },
    };
    for (size_t i = 0; i < COUNT(row); i++) {
        char copy[200];
        struct msprof_line l = line_new(NO_CHIP);
        assert_int_equal(
            row[i].work_path ? setenv("ASCEND_WORK_PATH", row[i].work_path, 1) : unsetenv("ASCEND_WORK_PATH"), 0);
        assert_int_equal(read_words(&l, row[i].words, copy, sizeof copy), MSPROF_GOOD);
        const struct recorded_run r = msprof_request(&l);
        if (row[i].parent)
            assert_string_equal(r.recorder.parent_dir, row[i].parent);
        else
            assert_null(r.recorder.parent_dir);
        arena_free(l.mem);
    }
    (void)state;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_option_accepts_its_values_alone, folder_make, folder_remove),
        cmocka_unit_test(each_chip_refuses_what_it_does_not_have),
        cmocka_unit_test(some_values_are_for_some_chips),
        cmocka_unit_test_setup_teardown(lines_have_modes_and_limits, folder_make, folder_remove),
        cmocka_unit_test(a_part_of_a_device_is_not_recorded_without_a_program),
        cmocka_unit_test(words_are_counted),
        cmocka_unit_test(programs_are_split),
        cmocka_unit_test(lines_become_requests),
        cmocka_unit_test(each_chip_is_asked_for_its_own_events),
        cmocka_unit_test(results_are_beside_an_application),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
