/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/options/option_rows.h"

#include <stddef.h>
#include <string.h>

#include "collect/options/option_values.h"
#include "collect/options/options.h"

/* ---- names of values ---- */

/* clang-format off */
static const struct ascope_choice true_false[] = {
    { "true", 1 }, { "on", 1 }, { "yes", 1 }, { "1", 1 }, { "false", 0 }, { "off", 0 }, { "no", 0 }, { "0", 0 }, { NULL, 0 } };
static const struct ascope_choice on_off[] = {
    { "on", 1 }, { "true", 1 }, { "yes", 1 }, { "1", 1 }, { "off", 0 }, { "false", 0 }, { "no", 0 }, { "0", 0 }, { NULL, 0 } };
static const struct ascope_choice osrts[] = {
    { "auto", ASCOPE_OSRT_AUTO }, { "libc", ASCOPE_OSRT_LIBC }, { "samples", ASCOPE_OSRT_SAMPLES }, { NULL, 0 } };
static const struct ascope_choice layouts[] = {
    { "pytorch", ASCOPE_LAYOUT_PYTORCH }, { "prof", ASCOPE_LAYOUT_PROF }, { "mindspore", ASCOPE_LAYOUT_MINDSPORE }, { NULL, 0 } };
static const struct ascope_choice activities[] = {
    { "CPU", ASCOPE_CPU }, { "NPU", ASCOPE_NPU }, { "ProfilerActivity.CPU", ASCOPE_CPU }, { "ProfilerActivity.NPU", ASCOPE_NPU }, { NULL, 0 } };
static const struct ascope_choice filed_activities[] = {
    { "ProfilerActivity.CPU", ASCOPE_CPU }, { "ProfilerActivity.NPU", ASCOPE_NPU }, { NULL, 0 } };
const struct ascope_choice option_levels[] = {
    { "Level0", ASCOPE_LEVEL0 }, { "Level1", ASCOPE_LEVEL1 }, { "Level2", ASCOPE_LEVEL2 }, { "Level_none", ASCOPE_LEVEL_NONE },
    { "LevelNone", ASCOPE_LEVEL_NONE }, { NULL, 0 } };
const struct ascope_choice option_metrics[] = {
    { "ArithmeticUtilization", ASCOPE_ARITHMETIC_UTILIZATION }, { "PipeUtilization", ASCOPE_PIPE_UTILIZATION },
    { "Memory", ASCOPE_MEMORY }, { "MemoryL0", ASCOPE_MEMORY_L0 }, { "ResourceConflictRatio", ASCOPE_RESOURCE_CONFLICT_RATIO },
    { "MemoryUB", ASCOPE_MEMORY_UB }, { "L2Cache", ASCOPE_L2_CACHE }, { "PipelineExecuteUtilization", ASCOPE_PIPELINE_EXECUTE },
    { "MemoryAccess", ASCOPE_MEMORY_ACCESS }, { "AiCoreNone", ASCOPE_NO_METRICS }, { NULL, 0 } };
const struct ascope_choice option_acl_metrics[] = {
    { "ACL_AICORE_ARITHMETIC_UTILIZATION", ASCOPE_ARITHMETIC_UTILIZATION }, { "ACL_AICORE_PIPE_UTILIZATION", ASCOPE_PIPE_UTILIZATION },
    { "ACL_AICORE_MEMORY_BANDWIDTH", ASCOPE_MEMORY }, { "ACL_AICORE_L0B_AND_WIDTH", ASCOPE_MEMORY_L0 },
    { "ACL_AICORE_RESOURCE_CONFLICT_RATIO", ASCOPE_RESOURCE_CONFLICT_RATIO }, { "ACL_AICORE_MEMORY_UB", ASCOPE_MEMORY_UB },
    { "ACL_AICORE_L2_CACHE", ASCOPE_L2_CACHE }, { "ACL_AICORE_PIPE_EXECUTE_UTILIZATION", ASCOPE_PIPELINE_EXECUTE },
    { "ACL_AICORE_MEMORY_ACCESS", ASCOPE_MEMORY_ACCESS }, { "ACL_AICORE_NONE", ASCOPE_NO_METRICS }, { NULL, 0 } };
const struct ascope_choice option_host_systems[] = {
    { "cpu", ASCOPE_HOST_CPU }, { "mem", ASCOPE_HOST_MEM }, { "disk", ASCOPE_HOST_DISK }, { "network", ASCOPE_HOST_NETWORK },
    { "osrt", ASCOPE_HOST_OSRT }, { "numa", ASCOPE_HOST_NUMA }, { NULL, 0 } };
static const struct ascope_choice host_usages[] = { { "cpu", ASCOPE_HOST_CPU }, { "mem", ASCOPE_HOST_MEM }, { NULL, 0 } };
static const struct ascope_choice exports[] = { { "text", EXPORT_TEXT }, { "db", EXPORT_DB }, { NULL, 0 } };
static const struct ascope_choice modes[] = { { "task-based", 0 }, { "sample-based", 1 }, { NULL, 0 } };
static const struct ascope_choice llc[] = { { "read", 0 }, { "write", 1 }, { "capacity", 0 }, { "bandwidth", 1 }, { NULL, 0 } };
static const struct ascope_choice blocks[] = { { "off", 0 }, { "on", 1 }, { "all", 2 }, { NULL, 0 } };
static const struct ascope_choice ge_levels[] = {
    { "off", 0 }, { "l0", DATA_GE_API_L0 }, { "on", DATA_GE_API_L0 }, { "l1", DATA_GE_API_L0 | DATA_GE_API_L1 }, { NULL, 0 } };
static const struct ascope_choice task_times[] = {
    { "off", 0 }, { "l0", 1 }, { "l1", 2 }, { "on", 2 }, { "l2", 3 }, { "l3", 4 }, { NULL, 0 } };
/* clang-format on */

/* ---- the options ---- */

#define PT  (ASCOPE_FRONT_END_PYTORCH | ASCOPE_FRONT_END_DYNAMIC)
#define MS  ASCOPE_FRONT_END_MINDSPORE
#define TF  ASCOPE_FRONT_END_TENSORFLOW
#define ACL ASCOPE_FRONT_END_ACL_JSON
#define CMD ASCOPE_FRONT_END_MSPROF

#define NAMES(...)                                                                                                     \
    .names = (const struct ascope_option_name[])                                                                       \
    {                                                                                                                  \
        __VA_ARGS__,                                                                                                   \
        {                                                                                                              \
            NULL, 0                                                                                                    \
        }                                                                                                              \
    }
#define IN(of) .size = sizeof(struct ascope_option), .group = (of)
#define WHERE  IN(ASCOPE_OPTIONS_WHERE)
#define WHAT   IN(ASCOPE_OPTIONS_WHAT)
#define DEVICE IN(ASCOPE_OPTIONS_DEVICE)
#define HOW    IN(ASCOPE_OPTIONS_HOW)

#define BOOLEAN                 .kind = ASCOPE_OPTION_BOOLEAN, .choices = true_false
#define ON_OFF                  .kind = ASCOPE_OPTION_BOOLEAN, .choices = on_off
#define ONE_OF(c)               .kind = ASCOPE_OPTION_CHOICE, .choices = (c)
#define LIST_OF(c)              .kind = ASCOPE_OPTION_LIST, .choices = (c)
#define NUMBER(from, to, units) .kind = ASCOPE_OPTION_NUMBER, .low = (from), .high = (to), .unit = (units)
#define MS_FROM_0               .kind = ASCOPE_OPTION_MS
#define TEXT                    .kind = ASCOPE_OPTION_TEXT
#define LIST_OF_NAMES           .kind = ASCOPE_OPTION_NAMES

#define COMMON(name)            .section = ASCOPE_SECTION_COMMON, .key = (name)
#define EXPERIMENTAL(name, nth) .section = ASCOPE_SECTION_EXPERIMENTAL, .key = (name), .parameter = (nth)

#define FIELD(name) .at = offsetof(struct ascope_options, name), .bytes = sizeof(((struct ascope_options *)0)->name)
#define RATE(name, hz)                                                                                                 \
    FIELD(name), .set = option_set_rate, .bits = (hz), .changes_others = true /* the option that is named ..._freq */
#define DATA(mask) FIELD(more_data), .set = option_set_data, .bits = (mask), .changes_others = true

/* In the order in which profiler_info.json has them. Numbers of parameters are an interface: a new one gets the next
 * number. */
/* clang-format off */
const struct recorder_option recorder_options[] = {
    { { WHERE, NAMES({ "parent_dir", 0 }, { "dir_name", ASCOPE_FRONT_END_PYTORCH | MS }, { "output_path", MS }, { "output", TF | ACL | CMD },
                     { "prof_dir", ASCOPE_FRONT_END_DYNAMIC }), TEXT,
        .help = "directory in which the collection is created", .values = "a path",
        .otherwise = "`$ASCEND_WORK_PATH/profiling_data`, or the working directory" },
      FIELD(parent_dir) },
    { { WHERE, NAMES({ "worker_name", ASCOPE_FRONT_END_PYTORCH | MS }), TEXT,
        .help = "prefix of the directory name", .values = "up to 219 bytes, no slash", .otherwise = "the host name" },
      FIELD(worker_name) },
    { { WHERE, NAMES({ "layout", 0 }), ONE_OF(layouts),
        .help = "pytorch: a `*_ascend_pt` directory; prof: a `PROF_*` directory alone; mindspore: a `*_ascend_ms` directory" },
      FIELD(layout), .initial = ASCOPE_LAYOUT_PYTORCH },
    { { WHERE, NAMES({ "rank", 0 }), NUMBER(0, 1 << 30, NULL),
        .help = "rank, in names and descriptions", .values = "a number from 0", .otherwise = "`$RANK`, or none; layout mindspore: `$RANK_ID`, or 0" },
      FIELD(rank), .initial = UINT32_MAX },

    { { WHAT, NAMES({ "activities", PT | MS }), LIST_OF(activities), COMMON("activities"),
        .help = "CPU: operators, memory, Python (FRAMEWORK/); NPU: the device (`PROF_*`)" },
      FIELD(activities), .initial = ASCOPE_CPU | ASCOPE_NPU, .filed = filed_activities },
    { { WHAT, NAMES({ "device", 0 }), TEXT,
        .help = "which devices: the real ones that the program uses, none, Ascend NPUs, NVIDIA GPUs, or the simulated NPU",
        .values = "auto, none, ascend, cuda, mspti, sim" },
      FIELD(device), .initial_text = "auto" },
    { { WHAT, NAMES({ "record_shapes", PT | MS }), BOOLEAN, COMMON("record_shapes"),
        .help = "types and shapes of the inputs of operators; at Level0 of kernels, too" },
      FIELD(record_shapes) },
    { { WHAT, NAMES({ "profile_memory", PT | MS }), BOOLEAN, COMMON("profile_memory"),
        .help = "allocations, memory of operators, memory of the device at 50 Hz" },
      FIELD(profile_memory) },
    { { WHAT, NAMES({ "with_stack", PT | MS }), BOOLEAN, COMMON("with_stack"),
        .help = "call stacks of operators, and Python calls" },
      FIELD(with_stack) },
    { { WHAT, NAMES({ "with_flops", PT }), BOOLEAN, COMMON("with_flops"),
        .help = "floating-point operations of products, convolutions and attention, as marks; requires mstx" },
      FIELD(with_flops) },
    { { WHAT, NAMES({ "with_modules", PT }), BOOLEAN, COMMON("with_modules"),
        .help = "modules of operators, and Python calls" },
      FIELD(with_modules) },
    { { WHAT, NAMES({ "profiler_level", PT | MS }), ONE_OF(option_levels), EXPERIMENTAL("_profiler_level", 1),
        .help = "Level0: tasks and ACL calls; Level1: also operators, communication, counters; Level2: also runtime calls and AI CPU "
                "tasks; Level_none: marks only, and enables them" },
      FIELD(level), .set = option_set_level },
    { { WHAT, NAMES({ "aic_metrics", PT | MS | TF | ACL | CMD }, { "aicore_metrics", MS }, { "aiv_metrics", CMD }),
        ONE_OF(option_metrics), EXPERIMENTAL("_aic_metrics", 2),
        .help = "counter group of the AI cores", .more_values = "Custom:0x8,0xa,... (up to 8 events), or a native name (ACL_AICORE_...)",
        .otherwise = "PipeUtilization from Level1 on, else AiCoreNone" },
      FIELD(metrics), .set = option_set_metrics, .initial = ASCOPE_METRICS_BY_LEVEL, .filed = option_acl_metrics },
    { { WHAT, NAMES({ "l2_cache", PT | MS }, { "l2", TF | ACL | CMD }), BOOLEAN, EXPERIMENTAL("_l2_cache", 3),
        .help = "counters of the L2 cache" },
      FIELD(l2_cache) },
    { { WHAT, NAMES({ "msprof_tx", PT }), BOOLEAN, EXPERIMENTAL("_msprof_tx", 4),
        .help = "old name of mstx", .is_old = true },
      FIELD(mstx), .set = option_set_old_marks },
    { { WHAT, NAMES({ "mstx", PT | MS }, { "msproftx", TF | ACL | CMD }), BOOLEAN, EXPERIMENTAL("_mstx", 5),
        .help = "marks of the program, of data loading, of saving, of communication; requires NPU in activities" },
      FIELD(mstx) },
    { { WHAT, NAMES({ "data_simplification", PT | MS }), BOOLEAN, EXPERIMENTAL("_data_simplification", 6),
        .help = "`ascope analyse` removes intermediate data" },
      FIELD(data_simplification), .initial = true },
    { { WHAT, NAMES({ "record_op_args", PT }), BOOLEAN, EXPERIMENTAL("record_op_args", 7),
        .help = "arguments of kernels, in `{collection}_op_args/{pid}`" },
      FIELD(record_op_args) },
    { { WHAT, NAMES({ "export_type", PT | MS }), LIST_OF(exports), EXPERIMENTAL("_export_type", 10),
        .help = "default output of `ascope analyse`: text (timeline and tables), db (databases)" },
      FIELD(export_text), .set = option_set_export, .get = option_get_export, .initial = EXPORT_TEXT },
    { { WHAT, NAMES({ "host_sys", PT | MS | TF | ACL | CMD }), LIST_OF(option_host_systems), EXPERIMENTAL("_host_sys", 11),
        .help = "samples of the host: CPU time, memory, disk traffic and memory nodes (numa) of the process and its descendants, network that it sees; osrt: its system calls and calls of the thread library", .otherwise = "none" },
      FIELD(host_sys) },
    { { WHAT, NAMES({ "op_attr", PT }), BOOLEAN, EXPERIMENTAL("_op_attr", 8),
        .help = "attributes of operators; requires db in export_type" },
      FIELD(op_attr) },
    { { WHAT, NAMES({ "gc_detect_threshold", PT }), MS_FROM_0, EXPERIMENTAL("_gc_detect_threshold", 9),
        .help = "Python garbage collections that take at least this many ms; 0: all", .otherwise = "none" },
      FIELD(gc_threshold_ms) },
    { { WHAT, NAMES({ "mstx_domain_include", PT | MS | CMD }), LIST_OF_NAMES, EXPERIMENTAL("_mstx_domain_include", 12),
        .help = "marks of these domains only; `default` is the unnamed one", .otherwise = "all" },
      FIELD(mstx_domain_include) },
    { { WHAT, NAMES({ "mstx_domain_exclude", PT | MS | CMD }), LIST_OF_NAMES, EXPERIMENTAL("_mstx_domain_exclude", 13),
        .help = "marks of all but these domains; not together with mstx_domain_include", .otherwise = "none" },
      FIELD(mstx_domain_exclude) },
    { { WHAT, NAMES({ "sys_io", PT | MS }), BOOLEAN, EXPERIMENTAL("_sys_io", 14),
        .help = "traffic of the devices' network cards, at 100 Hz" },
      FIELD(sys_io) },
    { { WHAT, NAMES({ "sys_interconnection", PT | MS }, { "pcie", MS }), BOOLEAN, EXPERIMENTAL("_sys_interconnection", 15),
        .help = "traffic between devices and to the host (HCCS, PCIe), at 50 Hz" },
      FIELD(sys_interconnection) },

    { { DEVICE, NAMES({ "task_time", TF | ACL | CMD }, { "task_trace", TF }), ONE_OF(task_times),
        .help = "Level0 without tasks, Level0, Level1, Level1 with attributes (0x2000), and more (0x8000)", .otherwise = "l0" },
      FIELD(level), .set = option_set_task_time, .changes_others = true },
    { { DEVICE, NAMES({ "ascendcl", ACL | CMD }), ON_OFF, .help = "ACL calls, 0x1", .otherwise = "by level" }, DATA(DATA_ACL_API) },
    { { DEVICE, NAMES({ "runtime_api", TF | ACL | CMD }), ON_OFF, .help = "runtime calls, 0x100", .otherwise = "by level" },
      DATA(DATA_RUNTIME_API) },
    { { DEVICE, NAMES({ "ge_api", TF | ACL | CMD }), ONE_OF(ge_levels), .help = "calls of the graph engine, 0x200, 0x1000000",
        .otherwise = "off" },
      FIELD(more_data), .set = option_set_ge, .changes_others = true },
    { { DEVICE, NAMES({ "hccl", TF | ACL | CMD }), ON_OFF, .help = "communication, 0x20", .otherwise = "by level" }, DATA(DATA_HCCL) },
    { { DEVICE, NAMES({ "aicpu", TF | ACL | CMD }), ON_OFF, .help = "AI CPU tasks, 0x8", .otherwise = "by level" }, DATA(DATA_AICPU) },
    { { DEVICE, NAMES({ "training_trace", TF }), ON_OFF, .help = "iterations, 0x40", .otherwise = "off" }, DATA(DATA_TRAINING) },
    { { DEVICE, NAMES({ "task_memory", TF | ACL | CMD }), ON_OFF, .help = "memory of operators, 0x1000", .otherwise = "off" },
      DATA(DATA_TASK_MEMORY) },
    { { DEVICE, NAMES({ "task_tsfw", TF | ACL | CMD }), ON_OFF, .help = "steps of the task scheduler, 0x400", .otherwise = "off" },
      DATA(DATA_SCHEDULER) },
    { { DEVICE, NAMES({ "aicore_shape", CMD }), ON_OFF, .help = "shapes of kernels at l0, 0x800000000", .otherwise = "off" },
      DATA(DATA_AICORE_SHAPE) },
    { { DEVICE, NAMES({ "task_block", TF | CMD }), ONE_OF(blocks), .help = "blocks of tasks; on: in short form where the device has one" },
      FIELD(task_block), .set = option_set_blocks, .get = option_get_blocks },
    { { DEVICE, NAMES({ "ai_core", CMD }), ON_OFF, .help = "off: no counters of the AI cores", .otherwise = "by level" },
      FIELD(metrics), .set = option_set_ai_core, .changes_others = true },
    { { DEVICE, NAMES({ "aic_mode", CMD }, { "aiv_mode", CMD }), ONE_OF(modes), .help = "counters of the AI cores by task, or by time" },
      FIELD(sample_based) },
    { { DEVICE, NAMES({ "aic_freq", CMD }, { "aiv_freq", CMD }), NUMBER(1, 100, "Hz"), .help = "rate of sample-based counters",
        .otherwise = "100" },
      FIELD(aic_hz) },
    { { DEVICE, NAMES({ "instr_profiling", TF | ACL | CMD }), ON_OFF, .help = "samples of instructions, 0x800000", .otherwise = "off" },
      RATE(instr_hz, 1000) },
    { { DEVICE, NAMES({ "instr_profiling_freq", TF | ACL | CMD }), NUMBER(300, 30000, "cycles"), .help = "interval of these samples",
        .otherwise = "1000" },
      FIELD(instr_hz) },
    { { DEVICE, NAMES({ "hbm_ddr", MS }), ON_OFF, .help = "memory of the device at 100 Hz", .otherwise = "off" },
      RATE(hardware_mem_hz, 100) },
    { { DEVICE, NAMES({ "sys_hardware_mem", CMD }), ON_OFF, .help = "memory of the device", .otherwise = "off" },
      RATE(hardware_mem_hz, 50) },
    { { DEVICE, NAMES({ "sys_hardware_mem_freq", TF | ACL | CMD }), NUMBER(1, 10000, "Hz"), .help = "the same at this rate",
        .otherwise = "50" },
      FIELD(hardware_mem_hz) },
    { { DEVICE, NAMES({ "llc_profiling", TF | ACL | CMD }), ONE_OF(llc), .help = "counters of the last-level cache" }, FIELD(llc_write) },
    { { DEVICE, NAMES({ "sys_mem_serviceflow", TF | ACL | CMD }), TEXT, .help = "memory flows to count",
        .otherwise = "none" },
      FIELD(mem_serviceflow) },
    { { DEVICE, NAMES({ "sys_io_profiling", CMD }), ON_OFF, .help = "network of the devices", .otherwise = "off" }, RATE(io_hz, 100) },
    { { DEVICE, NAMES({ "sys_io_sampling_freq", TF | ACL | CMD }), NUMBER(1, 100, "Hz"), .help = "the same at this rate",
        .otherwise = "100" },
      FIELD(io_hz) },
    { { DEVICE, NAMES({ "sys_interconnection_profiling", CMD }), ON_OFF, .help = "links of the devices", .otherwise = "off" },
      RATE(interconnection_hz, 50) },
    { { DEVICE, NAMES({ "sys_interconnection_freq", TF | ACL | CMD }), NUMBER(1, 50, "Hz"), .help = "the same at this rate",
        .otherwise = "50" },
      FIELD(interconnection_hz) },
    { { DEVICE, NAMES({ "dvpp_profiling", CMD }), ON_OFF, .help = "image units", .otherwise = "off" }, RATE(dvpp_hz, 50) },
    { { DEVICE, NAMES({ "dvpp_freq", TF | ACL | CMD }), NUMBER(1, 100, "Hz"), .help = "the same at this rate", .otherwise = "50" },
      FIELD(dvpp_hz) },
    { { DEVICE, NAMES({ "sys_cpu_profiling", CMD }), ON_OFF, .help = "CPUs of the device", .otherwise = "off" }, RATE(cpu_hz, 50) },
    { { DEVICE, NAMES({ "sys_cpu_freq", TF | ACL | CMD }), NUMBER(1, 50, "Hz"), .help = "the same at this rate", .otherwise = "50" },
      FIELD(cpu_hz) },
    { { DEVICE, NAMES({ "sys_profiling", CMD }), ON_OFF, .help = "utilisation and memory of the device's CPUs", .otherwise = "off" },
      RATE(device_usage_hz, 10) },
    { { DEVICE, NAMES({ "sys_sampling_freq", CMD }), NUMBER(1, 10, "Hz"), .help = "the same at this rate", .otherwise = "10" },
      FIELD(device_usage_hz) },
    { { DEVICE, NAMES({ "sys_pid_profiling", CMD }), ON_OFF, .help = "the same by process", .otherwise = "off" },
      RATE(device_process_hz, 10) },
    { { DEVICE, NAMES({ "sys_pid_sampling_freq", CMD }), NUMBER(1, 10, "Hz"), .help = "the same at this rate", .otherwise = "10" },
      FIELD(device_process_hz) },
    { { DEVICE, NAMES({ "sys_lp", CMD }), ON_OFF, .help = "power", .otherwise = "off" }, RATE(low_power_hz, 100) },
    { { DEVICE, NAMES({ "sys_lp_freq", TF | ACL | CMD }), NUMBER(1, 100, "Hz"), .help = "the same at this rate", .otherwise = "100" },
      FIELD(low_power_hz) },
    { { DEVICE, NAMES({ "host_sys_usage", TF | ACL | CMD }), LIST_OF(host_usages),
        .help = "CPU time and memory of the machine and of every process on it", .otherwise = "none" },
      FIELD(host_usage) },
    { { DEVICE, NAMES({ "host_sys_usage_freq", TF | ACL | CMD }), NUMBER(1, 50, "Hz"), .help = "the same at this rate",
        .otherwise = "50" },
      FIELD(host_usage_hz) },
    { { DEVICE, NAMES({ "npu_events", CMD }), TEXT, .help = "events of the SoC", .otherwise = "none" }, FIELD(npu_events) },
    { { DEVICE, NAMES({ "optype", TF | ACL | CMD }), LIST_OF_NAMES, .help = "operator types whose counters are recorded",
        .otherwise = "all" },
      FIELD(op_types) },
    { { DEVICE, NAMES({ "nts_metrics", CMD }), TEXT, .help = "counters of the task scheduler", .otherwise = "none" }, FIELD(nts_metrics) },
    { { DEVICE, NAMES({ "device_ids", 0 }, { "sys_devices", CMD }), LIST_OF_NAMES, .help = "numbers of the devices to record",
        .otherwise = "all" },
      FIELD(device_ids) },
    { { DEVICE, NAMES({ "fp_point", TF }), TEXT, .help = "operator at which an iteration's forward part begins", .otherwise = "none" },
      FIELD(fp_point) },
    { { DEVICE, NAMES({ "bp_point", TF }), TEXT, .help = "operator at which an iteration's backward part ends", .otherwise = "none" },
      FIELD(bp_point) },

    { { HOW, NAMES({ "osrt", 0 }), ONE_OF(osrts), .otherwise = "auto",
        .help = "how host_sys=osrt records system calls: all by the kernel where permitted (auto, some 2 us each), those through libc (less than 0.1 us), samples" },
      FIELD(osrt) },
    { { HOW, NAMES({ "storage_limit", TF | ACL | CMD }), NUMBER(200, UINT32_MAX, NULL), .values = "200MB or more",
        .help = "beyond it the oldest slices of repeating streams are deleted and counted", .otherwise = "none" },
      FIELD(storage_limit_mb), .set = option_set_limit },
    { { HOW, NAMES({ "slice_kb", 0 }), NUMBER(64, 1 << 20, "KiB"), .help = "size of a slice of a file", .otherwise = "2048" },
      FIELD(slice_kb) },
    { { HOW, NAMES({ "ring_kb", 0 }), NUMBER(64, 1 << 20, "KiB, a power of two"),
        .help = "memory for the records of each recording thread", .otherwise = "4096" },
      FIELD(ring_kb) },
    { { HOW, NAMES({ "ring_dir", 0 }), TEXT, .values = "a path", .otherwise = "the collection",
        .help = "directory of the file of that memory: a local one, such as /dev/shm, for collections on shared storage" },
      FIELD(ring_dir) },
    { { HOW, NAMES({ "framework_info", 0 }), TEXT, .values = "a JSON object", .otherwise = "none",
        .help = "layout mindspore: members of profiler_info that the front end knows better than the recorder" },
      FIELD(framework_info) },
    { { HOW, NAMES({ "sync", 0 }), BOOLEAN,
        .help = "the end of a recording waits until its files are on the disk; false: a power cut may take them back, which every analysis reports" },
      FIELD(sync), .initial = true },
};
/* clang-format on */
const size_t n_recorder_options = sizeof recorder_options / sizeof *recorder_options;

static bool is_name(const char *known, const char *asked)
{
    while (*known && (*known == *asked || (*known == '_' && *asked == '-')))
        known++, asked++;
    return *known == *asked;
}

const struct recorder_option *recorder_option_find(const char *name)
{
    name += strspn(name, "-");
    for (size_t i = 0; i < n_recorder_options; i++)
        for (const struct ascope_option_name *n = recorder_options[i].is.names; n->name; n++)
            if (is_name(n->name, name))
                return &recorder_options[i];
    return NULL;
}
