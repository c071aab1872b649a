/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/msprof/msprof_rows.h"

#include <string.h>

#include "cli/msprof/msprof_line.h"

/* ---- sets of chips, by platform number ---- */

#define C(n) (UINT32_C(1) << (n))
enum { MOST_CHIPS = 32 };
/* The chips for which the reference lists accepted options. */
#define LISTED   (C(0) | C(1) | C(2) | C(4) | C(5) | C(7) | C(8) | C(11) | C(12) | C(15) | C(16) | C(17) | C(18))
#define VEHICLES (C(2) | C(8) | C(11) | C(12)) /* without a host that parses */
#define NEXT     (C(17) | C(18))
#define NEWEST   (C(15) | C(16) | NEXT)

#define NO_IO            (VEHICLES | C(4))
#define NO_LINKS         (VEHICLES | C(0) | C(7))
#define NO_BLOCKS        (VEHICLES | C(0) | C(1) | C(4))
#define NO_INSTRUCTIONS  (VEHICLES | C(0) | C(1) | C(4) | C(7))
#define NO_CONTROL       (VEHICLES | C(0) | NEXT) /* dynamic, pid, delay, duration */
#define NO_LOW_POWER     (LISTED & ~NEWEST)
#define NO_SERVICEFLOW   (VEHICLES | C(0) | C(1) | C(4) | C(7))
#define NO_VECTOR_OPTION (LISTED & ~C(2))
#define NO_IMAGES        (C(16) | NEXT)

/* torch_npu searches the output of `msprof --help`: if it contains "--type", databases are exported; if it contains
 * the words up to ")", which must not be wrapped, a database is expected beside the text files. */
#define TYPE_HELP "text(which will also export the database), the default, or db: the database only"

/* clang-format off */
static const struct msprof_word types[] = { { "text", 0 }, { "db", 0 }, { NULL, 0 } };
static const struct msprof_word ge_levels[] = { { "off", 0 }, { "l0", 0 }, { "l1", 0 }, { NULL, 0 } };
static const struct msprof_word task_levels[] = {
    { "on", 0 }, { "off", 0 }, { "l0", 0 }, { "l1", 0 }, { "l2", 0 }, { "l3", C(5) | C(15) }, { NULL, 0 } };
static const struct msprof_word blocks[] = { { "all", 0 }, { "off", 0 }, { "on", C(15) | C(16) | C(17) }, { NULL, 0 } };
static const struct msprof_word ways[] = { { "task-based", 0 }, { "sample-based", 0 }, { NULL, 0 } };
static const struct msprof_word cache_counts[] = {
    { "read", ~C(0) }, { "write", ~C(0) }, { "capacity", C(0) }, { "bandwidth", C(0) }, { NULL, 0 } };
static const struct msprof_word host_parts[] = {
    { "cpu", 0 }, { "mem", 0 }, { "disk", 0 }, { "network", 0 }, { "osrt", 0 }, { "numa", 0 }, { NULL, 0 } };
static const struct msprof_word host_usages[] = { { "cpu", 0 }, { "mem", 0 }, { NULL, 0 } };
static const struct msprof_word rules[] = { { "communication", 0 }, { "communication_matrix", 0 }, { NULL, 0 } };
static const struct msprof_word formats[] = { { "csv", 0 }, { "json", 0 }, { NULL, 0 } };
static const struct msprof_word dialects[] = { { "documented", 0 }, { "current", 0 }, { "seed", 0 }, { NULL, 0 } };

enum {
    APP = MSPROF_IN_APPLICATION, SYS = MSPROF_IN_SYSTEM, BOTH = MSPROF_COLLECTS,
    ANY = MSPROF_COLLECTS | MSPROF_PARSES, TEXT_EXPORT = MSPROF_IN_EXPORT, ANALYZE = MSPROF_IN_ANALYZE,
};
#define SWITCH          .kind = MSPROF_SWITCH
#define CHOICE(words)   .kind = MSPROF_CHOICE, .word = (words)
#define LIST_OF(words)  .kind = MSPROF_LIST, .word = (words)
#define FROM(from, to)  .kind = MSPROF_NUMBER, .low = (from), .high = (to)
#define HZ(to)          FROM(1, to), .value = "HZ"
#define UP_TO(n, what)  .kind = MSPROF_TEXT, .high = (n), .value = (what)
#define NAMES_UP_TO(n)  .kind = MSPROF_NAMES, .high = (n), .value = "NAME,..."
#define LONGEST         4096

const struct msprof_row msprof_rows[MSPROF_OPTIONS] = {
    /* general */
    [MSPROF_OUTPUT] = { "output", .friendly = "out", UP_TO(1024, "DIR"), .modes = ANY,
        .help = "directory of the results, created if missing; to parse: a PROF_XXX directory, or one that contains some" },
    [MSPROF_APPLICATION] = { "application", UP_TO(2048, "\"PROGRAM ARGUMENTS\""), .modes = APP, .check = msprof_check_application,
        .help = "program to run, split at blanks; old form: write the program after the options" },
    [MSPROF_ENVIRONMENT] = { "environment", .friendly = "env", UP_TO(LONGEST, "\"A=1;B=2\""), .modes = APP,
        .help = "additional environment variables for the program" },
    [MSPROF_STORAGE_LIMIT] = { "storage-limit", UP_TO(12, "NMB"), .modes = BOTH, .refused = C(0), .recorder = "storage_limit",
        .check = msprof_check_storage_limit,
        .help = "beyond it the oldest records are deleted: 200MB or more" },
    [MSPROF_PYTHON_PATH] = { "python-path", UP_TO(1024, "FILE"), .modes = ANY, .refused = VEHICLES, .check = msprof_check_program_file,
        .help = "accepted and ignored: ascope does not need Python" },
    [MSPROF_TYPE] = { "type", CHOICE(types), .modes = APP | MSPROF_EXPORTS | ANALYZE,
        .help = TYPE_HELP },
    [MSPROF_REPORTS] = { "reports", UP_TO(LONGEST, "FILE"), .modes = TEXT_EXPORT,
        .help = "processes shown in the timeline, as a JSON file" },
    [MSPROF_DELAY] = { "delay", FROM(1, UINT32_MAX), .value = "S", .modes = APP, .refused = NO_CONTROL,
        .help = "start recording this many seconds after the program" },
    [MSPROF_DURATION] = { "duration", FROM(1, UINT32_MAX), .value = "S", .modes = APP, .refused = NO_CONTROL,
        .help = "record for this many seconds" },
    [MSPROF_DYNAMIC] = { "dynamic", .friendly = "interactive", SWITCH, .modes = APP, .refused = NO_CONTROL,
        .help = "record on demand: start, stop and quit are read from standard input" },
    [MSPROF_PID] = { "pid", UP_TO(LONGEST, "N,..."), .modes = APP, .refused = NO_CONTROL, .check = msprof_check_pids,
        .help = "running processes to record; requires --dynamic=on" },
    [MSPROF_HELP] = { "help", .kind = MSPROF_FLAG, .modes = ANY, .help = "print this text" },

    /* of an application */
    [MSPROF_ASCENDCL] = { "ascendcl", SWITCH, .modes = APP, .recorder = "ascendcl", .help = "ACL calls; default: on" },
    [MSPROF_MODEL_EXECUTION] = { "model-execution", SWITCH, .modes = APP, .refused = C(8) | C(11) | NEXT,
        .check = msprof_check_going_away, .help = "accepted, without effect" },
    [MSPROF_RUNTIME_API] = { "runtime-api", SWITCH, .modes = APP, .recorder = "runtime_api", .help = "runtime calls; default: off" },
    [MSPROF_GE_API] = { "ge-api", CHOICE(ge_levels), .modes = APP, .recorder = "ge_api", .help = "calls of the graph engine; default: off" },
    [MSPROF_TASK_TIME] = { "task-time", CHOICE(task_levels), .modes = APP, .recorder = "task_time",
        .help = "times of tasks, by level; default: on, which is l1" },
    [MSPROF_AICORE_SHAPE] = { "aicore-shape", SWITCH, .modes = APP, .recorder = "aicore_shape", .help = "shapes of tensors at level l0; default: off" },
    [MSPROF_TASK_MEMORY] = { "task-memory", SWITCH, .modes = APP, .recorder = "task_memory", .help = "memory of operators; default: off" },
    [MSPROF_TASK_TSFW] = { "task-tsfw", SWITCH, .modes = APP, .recorder = "task_tsfw", .help = "steps of the task scheduler; default: off" },
    [MSPROF_AICPU] = { "aicpu", SWITCH, .modes = APP, .refused = VEHICLES | NEXT, .recorder = "aicpu", .help = "AI CPU operators; default: off" },
    [MSPROF_HCCL] = { "hccl", SWITCH, .modes = APP, .refused = NEXT, .check = msprof_check_going_away,
        .help = "collective communication, which levels from l1 on include" },
    [MSPROF_MSPROFTX] = { "msproftx", SWITCH, .modes = APP, .recorder = "msproftx", .help = "marks of the program; default: off" },
    [MSPROF_DOMAIN_INCLUDE] = { "mstx-domain-include", NAMES_UP_TO(LONGEST), .modes = APP, .recorder = "mstx_domain_include", .may_be_empty = true,
        .help = "marks of these domains only; requires --msproftx=on; default is the unnamed domain" },
    [MSPROF_DOMAIN_EXCLUDE] = { "mstx-domain-exclude", NAMES_UP_TO(LONGEST), .modes = APP, .recorder = "mstx_domain_exclude", .may_be_empty = true,
        .help = "marks of all but these domains; requires --msproftx=on" },
    [MSPROF_OPTYPE] = { "optype", NAMES_UP_TO(256), .modes = APP, .refused = LISTED & ~C(16), .recorder = "optype",
        .check = msprof_check_sorted_names, .help = "details of these types of operators only" },
    [MSPROF_L2] = { "l2", SWITCH, .modes = APP, .refused = C(0), .recorder = "l2_cache", .help = "counters of the L2 cache; default: off" },
    [MSPROF_NPU_EVENTS] = { "npu-events", UP_TO(LONGEST, "EVENTS"), .modes = APP, .refused = C(0), .recorder = "npu_events", .may_be_empty = true,
        .check = msprof_check_npu_events, .help = "counters of the SoC: 0x1,0x2 or HA:0x1;MATA:0x2;SMMU:0x3;NOC:0x4" },
    [MSPROF_TASK_BLOCK] = { "task-block", CHOICE(blocks), .modes = APP, .refused = NO_BLOCKS, .recorder = "task_block",
        .help = "blocks of tasks, core by core; default: off" },
    [MSPROF_INSTR_PROFILING] = { "instr-profiling", SWITCH, .modes = BOTH, .refused = NO_INSTRUCTIONS, .recorder = "instr_profiling",
        .help = "samples of instructions; default: off" },
    [MSPROF_INSTR_FREQ] = { "instr-profiling-freq", FROM(300, 30000), .value = "CYCLES", .modes = BOTH, .refused = NO_INSTRUCTIONS | NEWEST,
        .recorder = "instr_profiling_freq", .with = MSPROF_INSTR_PROFILING, .help = "their interval; default: 1000" },
    [MSPROF_NTS_METRICS] = { "nts-metrics", UP_TO(LONGEST, "GROUP"), .modes = APP, .refused = LISTED & ~C(17), .recorder = "nts_metrics",
        .check = msprof_check_nts_metrics, .help = "counters of the scheduler: PipeUtilization or Custom:0x1,..." },

    /* counters of the AI cores */
    [MSPROF_AI_CORE] = { "ai-core", SWITCH, .modes = BOTH, .help = "counters of the AI cores; default: on, without a program off" },
    [MSPROF_AIC_MODE] = { "aic-mode", CHOICE(ways), .modes = BOTH, .recorder = "aic_mode",
        .help = "counted by task or sampled by time; default: task-based, without a program always sample-based" },
    [MSPROF_AIC_FREQ] = { "aic-freq", HZ(100), .modes = BOTH, .recorder = "aic_freq", .help = "rate of sample-based counters; default: 100" },
    [MSPROF_AIC_METRICS] = { "aic-metrics", .friendly = "metrics", UP_TO(70, "GROUP"), .modes = BOTH, .check = msprof_check_core_metrics,
        .help = "group of counters, or Custom:0x8,0xa,...; default: PipeUtilization" },
    [MSPROF_AI_VECTOR_CORE] = { "ai-vector-core", SWITCH, .modes = BOTH, .refused = NO_VECTOR_OPTION, .help = "as --ai-core, for the vector cores" },
    [MSPROF_AIV_MODE] = { "aiv-mode", CHOICE(ways), .modes = BOTH, .refused = NO_VECTOR_OPTION, .help = "as --aic-mode, for the vector cores" },
    [MSPROF_AIV_FREQ] = { "aiv-freq", HZ(100), .modes = BOTH, .refused = NO_VECTOR_OPTION, .help = "as --aic-freq, for the vector cores" },
    [MSPROF_AIV_METRICS] = { "aiv-metrics", UP_TO(70, "GROUP"), .modes = BOTH, .refused = NO_VECTOR_OPTION, .check = msprof_check_core_metrics,
        .help = "as --aic-metrics, for the vector cores" },

    /* of the machine's devices */
    [MSPROF_SYS_PERIOD] = { "sys-period", .friendly = "period", FROM(1, 2592000), .value = "S", .modes = SYS, .help = "seconds to record without a program" },
    [MSPROF_SYS_DEVICES] = { "sys-devices", UP_TO(LONGEST, "all|N,..."), .modes = SYS, .check = msprof_check_devices,
        .help = "devices to record without a program: all, or numbers from 0 to 63" },
    [MSPROF_HARDWARE_MEM] = { "sys-hardware-mem", SWITCH, .modes = BOTH, .recorder = "sys_hardware_mem",
        .help = "memory and caches of the devices; default: off" },
    [MSPROF_HARDWARE_MEM_FREQ] = { "sys-hardware-mem-freq", HZ(10000), .modes = BOTH, .recorder = "sys_hardware_mem_freq",
        .with = MSPROF_HARDWARE_MEM, .check = msprof_check_memory_rate, .help = "its rate; default: 50" },
    [MSPROF_LLC] = { "llc-profiling", CHOICE(cache_counts), .modes = BOTH, .recorder = "llc_profiling",
        .help = "what is counted of the last-level cache, with --sys-hardware-mem=on; default: read" },
    [MSPROF_SERVICEFLOW] = { "sys-mem-serviceflow", UP_TO(LONGEST, "GROUPS"), .modes = BOTH, .refused = NO_SERVICEFLOW,
        .recorder = "sys_mem_serviceflow", .help = "memory flows to count" },
    [MSPROF_CPU] = { "sys-cpu-profiling", SWITCH, .modes = BOTH, .recorder = "sys_cpu_profiling", .help = "counters of the devices' CPUs; default: off" },
    [MSPROF_CPU_FREQ] = { "sys-cpu-freq", HZ(50), .modes = BOTH, .recorder = "sys_cpu_freq", .with = MSPROF_CPU, .help = "their rate; default: 50" },
    [MSPROF_SYS] = { "sys-profiling", SWITCH, .modes = BOTH, .recorder = "sys_profiling", .help = "use of the devices' CPUs and memory; default: off" },
    [MSPROF_SYS_FREQ] = { "sys-sampling-freq", HZ(10), .modes = BOTH, .recorder = "sys_sampling_freq", .with = MSPROF_SYS, .help = "its rate; default: 10" },
    [MSPROF_SYS_PID] = { "sys-pid-profiling", SWITCH, .modes = BOTH, .recorder = "sys_pid_profiling", .help = "the same by process; default: off" },
    [MSPROF_SYS_PID_FREQ] = { "sys-pid-sampling-freq", HZ(10), .modes = BOTH, .recorder = "sys_pid_sampling_freq", .with = MSPROF_SYS_PID,
        .help = "its rate; default: 10" },
    [MSPROF_IO] = { "sys-io-profiling", SWITCH, .modes = BOTH, .refused = NO_IO | NEXT, .recorder = "sys_io_profiling",
        .help = "network of the devices; default: off" },
    [MSPROF_IO_FREQ] = { "sys-io-sampling-freq", HZ(100), .modes = BOTH, .refused = NO_IO, .recorder = "sys_io_sampling_freq", .with = MSPROF_IO,
        .help = "its rate; default: 100" },
    [MSPROF_INTERCONNECTION] = { "sys-interconnection-profiling", SWITCH, .modes = BOTH, .refused = NO_LINKS,
        .recorder = "sys_interconnection_profiling", .help = "links of the devices: PCIe, HCCS; default: off" },
    [MSPROF_INTERCONNECTION_FREQ] = { "sys-interconnection-freq", HZ(50), .modes = BOTH, .refused = NO_LINKS,
        .recorder = "sys_interconnection_freq", .with = MSPROF_INTERCONNECTION, .help = "their rate; default: 50" },
    [MSPROF_DVPP] = { "dvpp-profiling", SWITCH, .modes = BOTH, .refused = NO_IMAGES, .recorder = "dvpp_profiling",
        .help = "image units of the devices; default: off" },
    [MSPROF_DVPP_FREQ] = { "dvpp-freq", HZ(100), .modes = BOTH, .refused = NO_IMAGES, .recorder = "dvpp_freq", .with = MSPROF_DVPP,
        .help = "their rate; default: 50" },
    [MSPROF_LOW_POWER] = { "sys-lp", SWITCH, .modes = BOTH, .refused = NO_LOW_POWER, .recorder = "sys_lp", .help = "power; default: on" },
    [MSPROF_LOW_POWER_FREQ] = { "sys-lp-freq", HZ(100), .modes = SYS, .refused = NO_LOW_POWER, .recorder = "sys_lp_freq",
        .help = "its rate; default: 100" },

    /* of the host */
    [MSPROF_HOST_SYS] = { "host-sys", LIST_OF(host_parts), .modes = BOTH, .refused = C(8) | C(11), .recorder = "host_sys",
        .help = "what is sampled of the program's processes: their CPUs, memory and disk, the network, system calls, NUMA nodes" },
    [MSPROF_HOST_SYS_PID] = { "host-sys-pid", .friendly = "pid", FROM(1, UINT32_MAX), .value = "N", .modes = SYS, .refused = C(8) | C(11), .check = msprof_check_live_pid,
        .help = "the process that --host-sys samples without a program" },
    [MSPROF_HOST_USAGE] = { "host-sys-usage", LIST_OF(host_usages), .modes = SYS, .recorder = "host_sys_usage", .may_be_empty = true,
        .help = "use of CPUs and memory by each process of the host" },
    [MSPROF_HOST_USAGE_FREQ] = { "host-sys-usage-freq", HZ(50), .modes = SYS, .recorder = "host_sys_usage_freq", .help = "its rate; default: 50" },

    /* of parsing */
    [MSPROF_PARSE] = { "parse", SWITCH, .modes = MSPROF_IN_PARSE, .refused = VEHICLES, .help = "read and check everything, write nothing" },
    [MSPROF_QUERY] = { "query", SWITCH, .modes = MSPROF_IN_QUERY, .refused = VEHICLES, .help = "list models and iterations" },
    [MSPROF_EXPORT] = { "export", SWITCH, .modes = MSPROF_EXPORTS, .refused = VEHICLES, .help = "write timeline, tables and database" },
    [MSPROF_ANALYZE] = { "analyze", SWITCH, .modes = ANALYZE, .refused = VEHICLES,
        .help = "analyse communication: time and bytes by collective, link and pair of ranks" },
    [MSPROF_RULE] = { "rule", LIST_OF(rules), .modes = ANALYZE, .refused = VEHICLES, .help = "what is analysed; default: both" },
    [MSPROF_CLEAR] = { "clear", SWITCH, .modes = TEXT_EXPORT | ANALYZE, .help = "remove intermediate sqlite directories of other tools" },
    [MSPROF_ITERATION_ID] = { "iteration-id", FROM(0, UINT32_MAX), .value = "N", .modes = TEXT_EXPORT, .refused = VEHICLES,
        .help = "first iteration to export; requires --model-id" },
    [MSPROF_MODEL_ID] = { "model-id", FROM(0, UINT32_MAX), .value = "N", .modes = TEXT_EXPORT, .refused = VEHICLES,
        .help = "model whose iterations are exported; 4294967295 selects training steps" },
    [MSPROF_SUMMARY_FORMAT] = { "summary-format", CHOICE(formats), .modes = TEXT_EXPORT, .refused = VEHICLES,
        .help = "format of the summary tables; default: csv" },
    [MSPROF_DIALECT] = { "dialect", CHOICE(dialects), .modes = ANY,
        .help = "names of files and columns: as documented (default) or as in current releases of msprof" },
};
/* clang-format on */

const struct msprof_row *msprof_find(const char *word)
{
    const char *const name = strncmp(word, "--", 2) == 0 ? word + 2 : word;
    const size_t n = strcspn(name, "=");
    for (size_t i = 0; i < MSPROF_OPTIONS; i++)
        if (strlen(msprof_rows[i].name) == n && strncmp(msprof_rows[i].name, name, n) == 0)
            return &msprof_rows[i];
    return NULL;
}

bool msprof_is_refused(const struct msprof_row *r, int chip)
{
    return chip >= 0 && chip < MOST_CHIPS && (r->refused >> chip & 1) != 0;
}
