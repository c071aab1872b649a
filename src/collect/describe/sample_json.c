/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/describe/recording_files.h"

#include <stdio.h>
#include <string.h>

#include "collect/options/options.h"
#include "raw/core_events.h"

/* What members depend on, one bit each. */
enum when {
    WHEN_PROGRAM = 1,   /* a program is recorded, not only the machine */
    WHEN_TASKS = 2,     /* times of tasks */
    WHEN_CORES = 4,     /* counters of the cores */
    WHEN_FREQUENCY = 8, /* and how fast they run */
    WHEN_STARS = 16,    /* tasks, in the log that this chip has */
    WHEN_HWTS = 32,     /* the same, of older chips */
    WHEN_MEMORY = 64,   /* of the devices */
    WHEN_QOS = 128,     /* the same, in the file of a device */
    WHEN_IO = 256,
    WHEN_LINKS = 512,
    WHEN_CPU = 1024,
    WHEN_HOST = 2048, /* the file of the host */
    WHEN_BLOCKS = 4096,
    WHEN_SHORT_BLOCKS = 8192,
    WHEN_CACHE = 16384, /* reads of the last-level cache: always but for the host alone */
    WHEN_ALL_CPU = 32768,
    WHEN_ALL_MEMORY = 65536,
};

/* What the members of sample.json are made of. */
struct sample_json_sampled {
    const struct ascope_options *o;
    const struct sample_command *command; /* NULL: the program opened the session itself */
    const struct chip *chip;
    const struct core_events *events;
    const char *result_dir, *app, *job;
    pid_t pid;
    int device; /* HOST: none */
    uint64_t mask;
    unsigned when;
    bool is_environment;
};
enum { HOST = 64 };

/* Where "" stands for "off": msprof leaves a member empty when its option was not given. */
enum blank { BLANK_NEVER, BLANK_IN_SYSTEM, BLANK_IN_COMMANDS };

struct sample_row {
    const char *key;
    void (*put)(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r);
    uint64_t is;      /* bits of the mask or of enum when; or a number */
    size_t at;        /* in struct ascope_options, struct sample_command or struct sampled */
    const char *text; /* the value when `when` holds; NULL: "on" */
    enum blank blank;
    bool is_ours; /* a member that only ascope reads: the vendor's libraries do not get it */
};

static const void *option_at(const struct sample_json_sampled *x, const struct sample_row *r)
{
    return (const char *)x->o + r->at;
}

static void sample_json_put_text(struct json_text *t, const char *text)
{
    json_text_string(t, text ? text : "");
}

static const char *on_off(bool is_on)
{
    return is_on ? "on" : "off";
}

static void put_on_off(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r, bool is_on)
{
    const bool is_blank =
        x->command && (r->blank == BLANK_IN_COMMANDS || (r->blank == BLANK_IN_SYSTEM && x->command->is_system));
    sample_json_put_text(t, is_blank && !is_on ? "" : on_off(is_on));
}

/* Converts a rate to a period. msprof rounds periods down, the interface of the other front ends rounds up. */
static uint32_t every_ms(const struct sample_json_sampled *x, uint32_t hz, uint32_t otherwise)
{
    return !hz ? otherwise : x->command ? 1000 / hz : (1000 + hz - 1) / hz;
}

static void put_fixed(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    json_text_add(t, "%s", r->text);
    (void)x;
}

static void put_bits(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    put_on_off(t, x, r, x->mask & r->is);
}

static void put_when(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    sample_json_put_text(t, !(x->when & r->is) ? "" : r->text ? r->text : "on");
}

static void put_is_so(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    put_on_off(t, x, r, x->when & r->is);
}

/* Profiler levels include HCCL; for msprof the value of its own option is written. */
static void put_hccl(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    put_on_off(t, x, r, (x->command ? x->o->more_data : x->mask) & DATA_HCCL);
}

static void put_flag(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    put_on_off(t, x, r, *(const bool *)option_at(x, r));
}

static void put_rate_flag(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    put_on_off(t, x, r, *(const uint32_t *)option_at(x, r) > 0);
}

static void put_every_ms(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    json_text_add(t, "%u", every_ms(x, *(const uint32_t *)option_at(x, r), (uint32_t)r->is));
}

static void put_option(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    sample_json_put_text(t, *(const char *const *)option_at(x, r));
}

/* Of the device's memory: at least 10 ms, though it is asked for in us. */
static void put_memory_ms(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    enum { LEAST_MS = 10 };
    const uint32_t ms = every_ms(x, x->o->hardware_mem_hz, (uint32_t)r->is);
    json_text_add(t, "%u", ms > LEAST_MS ? ms : LEAST_MS);
}

static void put_every_us(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    const uint32_t hz = *(const uint32_t *)option_at(x, r);
    json_text_add(t, "%u", hz ? 1000000 / hz : (uint32_t)r->is);
}

/* Both kinds of links have units of this one. */
static void put_ub_ms(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    const uint32_t hz = x->o->interconnection_hz ? x->o->interconnection_hz : x->o->io_hz;
    json_text_add(t, "%u", every_ms(x, hz, (uint32_t)r->is));
}

static void put_own(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    const char *text;
    memcpy(&text, (const char *)x + r->at, sizeof text);
    sample_json_put_text(t, text);
}

/* A value of msprof's command line; empty in sessions without one. */
static void put_command(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    const char *text = NULL;
    if (x->command)
        memcpy(&text, (const char *)x->command + r->at, sizeof text);
    sample_json_put_text(t, text);
}

static void put_seconds(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    uint32_t s = 0;
    if (x->command)
        memcpy(&s, (const char *)x->command + r->at, sizeof s);
    json_text_add(t, s ? "\"%u\"" : "\"\"", s);
}

static void put_period(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    json_text_add(t, "%lld", x->command && x->command->period_s ? (long long)x->command->period_s : -1LL);
    (void)r;
}

static void put_mode(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    sample_json_put_text(t, x->command ? "" : r->text);
}

static void put_collector(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    json_text_add(t, "%d", x->command ? (int)x->command->collector : -1);
    (void)r;
}

static void put_device(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    json_text_add(t, "\"%d\"", x->device);
    (void)r;
}

static void put_mask(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    json_text_add(t, "\"0x%llx\"", (unsigned long long)x->mask);
    (void)r;
}

static void put_counting(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    sample_json_put_text(t, x->o->sample_based ? "sample-based" : "task-based");
    (void)r;
}

/* Of the group of events that is counted. */
static const char *core_text(const struct sample_json_sampled *x, const struct sample_row *r)
{
    const char *text = NULL;
    if (x->events)
        memcpy(&text, (const char *)x->events + r->at, sizeof text);
    return text ? text : "";
}

static void put_metrics(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    const char *const custom = x->o->custom_events;
    json_text_add(t, "\"%s%s\"", custom ? "Custom:" : "", custom ? custom : core_text(x, r));
}

static void put_events(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    sample_json_put_text(t, x->o->custom_events ? x->o->custom_events : core_text(x, r));
}

static void put_core_ms(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    json_text_add(t, "%u", x->o->aic_hz ? 1000 / x->o->aic_hz : (uint32_t)r->is); /* rounded down in any case */
}

static unsigned task_level(const struct sample_json_sampled *x)
{
    return x->mask & DATA_TASK_L3 ? 3 : x->mask & DATA_TASK_L2 ? 2 : x->mask & DATA_TASK_L1 ? 1 : 0;
}

/* As the libraries know it: l1; and as they write it down themselves: level1. What they get they decide upon by
 * taskTime. */
static void put_level(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    const bool is_off = x->command && !(x->when & WHEN_TASKS);
    if (is_off)
        sample_json_put_text(t, "off");
    else
        json_text_add(t, x->command && !r->is_ours && !x->is_environment ? "\"level%u\"" : "\"l%u\"", task_level(x));
}

static void put_task_time(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    static const char *const level[] = { "l0", "on", "l2", "l3" };
    const bool is_on = x->when & WHEN_TASKS || (x->command && x->command->is_system); /* there nobody asks */
    sample_json_put_text(t, !is_on ? "off" : !x->command || x->command->is_system ? "on" : level[task_level(x)]);
    (void)r;
}

static void put_ge(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    sample_json_put_text(t, x->mask & DATA_GE_API_L1 ? "l1" : x->mask & DATA_GE_API_L0 ? "l0" : "off");
    (void)r;
}

static void put_l2_events(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    sample_json_put_text(t, !x->o->l2_cache ? "" : x->o->npu_events ? x->o->npu_events : x->chip->l2_events);
    (void)r;
}

static void put_npu_events(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    const bool has_own = x->chip->smmu.of[RATE_REQUEST][0] != 0;
    sample_json_put_text(t, x->o->npu_events ? x->o->npu_events : x->o->l2_cache && has_own ? r->text : "");
}

/* "Custom:0x1,0x2" has the list behind its name. */
static void put_nts(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    const char *const metrics = x->o->nts_metrics, *const list = metrics ? strchr(metrics, ':') : NULL;
    sample_json_put_text(t, r->is ? (list ? list + 1 : "") : metrics);
}

static void put_llc(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    const bool is_old = x->chip->group == ON_310;
    sample_json_put_text(t, !(x->when & WHEN_CACHE) ? ""
                            : x->o->llc_write       ? (is_old ? "bandwidth" : "write")
                                                    : (is_old ? "capacity" : "read"));
    (void)r;
}

static void put_hz(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    const uint32_t hz = *(const uint32_t *)option_at(x, r);
    json_text_add(t, "%u", hz ? hz : (uint32_t)r->is);
}

static void put_is_host(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    json_text_add(t, "%s", x->when & WHEN_HOST ? "true" : "false");
    (void)r;
}

static void put_host_list(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    const uint32_t bits = *(const uint32_t *)option_at(x, r);
    json_text_add(t, "\"");
    for (unsigned i = 0, n = 0; options_host_sys_name(i); i++)
        if (bits & 1u << i)
            json_text_add(t, "%s%s", n++ > 0 ? "," : "", options_host_sys_name(i));
    json_text_add(t, "\"");
}

/* A member for each part of the host: its key is made here. */
static void put_host_flags(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    for (unsigned i = 0; options_host_sys_name(i); i++)
        json_text_add(t, "%s\"host_%s_profiling\":\"%s\"", i > 0 ? "," : "", options_host_sys_name(i),
                      on_off(x->o->host_sys & 1u << i));
    (void)r;
}

static void put_pid(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    json_text_add(t, "%d", (int)x->pid);
    (void)r;
}

static void put_limit(struct json_text *t, const struct sample_json_sampled *x, const struct sample_row *r)
{
    const uint32_t mb = x->o->storage_limit_mb;
    if (mb)
        json_text_add(t, "\"%uMB\"", mb);
    else
        sample_json_put_text(t, "");
    (void)r;
}

/* clang-format off */
#define OPTION(field)  .at = offsetof(struct ascope_options, field)
#define OF_CORE(field) .at = offsetof(struct core_events, field)
#define OF_COMMAND(field) .at = offsetof(struct sample_command, field)
#define OWN(field)     .put = put_own, .at = offsetof(struct sample_json_sampled, field)
#define WHEN(bits)     .put = put_when, .is = (bits)
#define ON_OFF_WHEN(bits) .put = put_is_so, .is = (bits)
#define BLANK          .blank = BLANK_IN_COMMANDS
#define EMPTY          .put = put_fixed, .text = "\"\""
#define OFF            .put = put_fixed, .text = "\"off\""
#define MS(hz, usual)  .put = put_every_ms, .is = (usual), OPTION(hz)
#define MEMORY_MS      .put = put_memory_ms, .is = 20
static const struct sample_row rows[] = {
    /* general */
    { "result_dir", OWN(result_dir) },
    { "storageLimit", .put = put_limit },
    { "profiling_mode", .put = put_mode, .text = "def_mode" },
    { "profMode", .put = put_command, OF_COMMAND(mode) },
    { "devices", .put = put_device },
    { "job_id", OWN(job) },
    { "jobInfo", EMPTY },
    { "app", OWN(app) },
    { "app_dir", .put = put_command, OF_COMMAND(app_dir) },
    { "app_parameters", .put = put_command, OF_COMMAND(app_parameters) },
    { "app_location", EMPTY },
    { "app_env", .put = put_command, OF_COMMAND(app_env) },
    { "profiling_options", EMPTY },
    { "isCancel", .put = put_fixed, .text = "false" },
    { "profiling_period", .put = put_period },
    { "msprofBinPid", .put = put_collector },
    { "delayTime", .put = put_seconds, OF_COMMAND(delay_s) },
    { "durationTime", .put = put_seconds, OF_COMMAND(duration_s) },
    { "dynamic", OFF, .is_ours = true },
    { "profSwitch", .put = put_mask, .is_ours = true },
    /* levels */
    { "acl", .put = put_bits, .is = DATA_ACL_API, .blank = BLANK_IN_SYSTEM },
    { "runtimeApi", .put = put_bits, .is = DATA_RUNTIME_API },
    { "runtimeTrace", WHEN(WHEN_PROGRAM) },
    { "aicpuTrace", .put = put_bits, .is = DATA_AICPU, BLANK },
    { "hcclTrace", .put = put_hccl, BLANK },
    { "geApi", .put = put_ge },
    { "taskTime", .put = put_task_time },
    { "taskTrace", .put = put_fixed, .text = "\"on\"" },
    { "prof_level", .put = put_level },
    { "profLevel", .put = put_level, .is_ours = true },
    { "taskMemory", .put = put_bits, .is = DATA_TASK_MEMORY },
    { "taskTsfw", .put = put_bits, .is = DATA_SCHEDULER },
    { "aicoreShape", .put = put_bits, .is = DATA_AICORE_SHAPE },
    { "opType", .put = put_option, OPTION(op_types) },
    { "msprof", OFF },
    { "msproftx", .put = put_bits, .is = DATA_MARKS },
    { "mstxDomainInclude", .put = put_option, OPTION(mstx_domain_include) },
    { "mstxDomainExclude", .put = put_option, OPTION(mstx_domain_exclude) },
    /* cores */
    { "ai_core_profiling", ON_OFF_WHEN(WHEN_CORES), BLANK },
    { "ai_core_profiling_mode", .put = put_counting },
    { "ai_core_metrics", .put = put_metrics, OF_CORE(cube_name) },
    { "ai_core_profiling_events", .put = put_events, OF_CORE(cube_events) },
    { "ai_core_profiling_metrics", EMPTY },
    { "ai_core_status", EMPTY },
    { "ai_core_lpm", ON_OFF_WHEN(WHEN_FREQUENCY) },
    { "aicore_sampling_interval", .put = put_core_ms, .is = 10 },
    { "aiv_profiling", ON_OFF_WHEN(WHEN_CORES), BLANK },
    { "aiv_profiling_mode", .put = put_counting },
    { "aiv_metrics", .put = put_metrics, OF_CORE(vector_name) },
    { "aiv_profiling_events", .put = put_events, OF_CORE(vector_events) },
    { "aiv_profiling_metrics", EMPTY },
    { "ai_vector_status", EMPTY },
    { "aiv_sampling_interval", .put = put_core_ms, .is = 10 },
    { "npuEvents", .put = put_npu_events, .text = "SMMU:0x8a,0x8c,0x8d,0x2,0x8b" },
    { "ntsMetrics", .put = put_nts },
    { "ntsPmuEvents", .put = put_nts, .is = true },
    { "l2CacheTaskProfiling", .put = put_flag, OPTION(l2_cache), BLANK },
    { "l2CacheTaskProfilingEvents", .put = put_l2_events },
    /* scheduler */
    { "ts_task_track", EMPTY },
    { "ts_task_time", EMPTY },
    { "ts_cpu_usage", EMPTY },
    { "ts_cpu_hot_function", EMPTY },
    { "ts_timeline", EMPTY },
    { "ts_keypoint", WHEN(WHEN_PROGRAM) },
    { "ts_memcpy", WHEN(WHEN_STARS | WHEN_HWTS) },
    { "ts_fw_training", EMPTY },
    { "hwts_log", WHEN(WHEN_HWTS) },
    { "hwts_log1", WHEN(WHEN_HWTS) },
    { "stars_acsq_task", WHEN(WHEN_STARS) },
    { "taskBlock", ON_OFF_WHEN(WHEN_BLOCKS), BLANK },
    { "taskBlockShink", ON_OFF_WHEN(WHEN_SHORT_BLOCKS), BLANK },
    { "sysLp", .put = put_rate_flag, OPTION(low_power_hz) },
    { "sysLpFreq", .put = put_every_us, .is = 10000, OPTION(low_power_hz) },
    { "aicScale", .put = put_fixed, .text = "\"all\"" },
    { "ccuInstr", OFF },
    /* devices */
    { "cpu_profiling", .put = put_rate_flag, OPTION(cpu_hz) },
    { "cpu_sampling_interval", MS(cpu_hz, 20) },
    { "hscb", OFF },
    { "aiCtrlCpuProfiling", ON_OFF_WHEN(WHEN_CPU) },
    { "tsCpuProfiling", ON_OFF_WHEN(WHEN_CPU) },
    { "ai_ctrl_cpu_profiling_events", WHEN(WHEN_CPU), .text = "0x8,0x11" },
    { "ts_cpu_profiling_events", WHEN(WHEN_CPU), .text = "0x8,0x11" },
    { "sys_profiling", .put = put_rate_flag, OPTION(device_usage_hz) },
    { "sys_sampling_interval", MS(device_usage_hz, 100) },
    { "pid_profiling", .put = put_rate_flag, OPTION(device_process_hz) },
    { "pid_sampling_interval", MS(device_process_hz, 100) },
    { "hardware_mem", .put = put_rate_flag, OPTION(hardware_mem_hz) },
    { "hardware_mem_sampling_interval", .put = put_every_us, .is = 20000, OPTION(hardware_mem_hz) },
    { "memServiceflow", .put = put_option, OPTION(mem_serviceflow) },
    { "io_profiling", .put = put_rate_flag, OPTION(io_hz) },
    { "io_sampling_interval", MS(io_hz, 10) },
    { "interconnection_profiling", .put = put_rate_flag, OPTION(interconnection_hz) },
    { "interconnection_sampling_interval", MS(interconnection_hz, 20) },
    { "dvpp_profiling", .put = put_rate_flag, OPTION(dvpp_hz) },
    { "dvpp_sampling_interval", MS(dvpp_hz, 20) },
    { "nicProfiling", ON_OFF_WHEN(WHEN_IO) },
    { "nicInterval", MS(io_hz, 10) },
    { "roceProfiling", ON_OFF_WHEN(WHEN_IO) },
    { "roceInterval", MS(io_hz, 10) },
    { "hccsProfiling", ON_OFF_WHEN(WHEN_LINKS) },
    { "hccsInterval", MS(interconnection_hz, 20) },
    { "pcieProfiling", WHEN(WHEN_LINKS) },
    { "pcieInterval", MS(interconnection_hz, 20) },
    { "ubProfiling", ON_OFF_WHEN(WHEN_IO | WHEN_LINKS) },
    { "ubInterval", .put = put_ub_ms, .is = 20 },
    { "llc_profiling", .put = put_llc },
    { "msprof_llc_profiling", WHEN(WHEN_MEMORY) },
    { "llc_profiling_events", .put = put_llc },
    { "llc_interval", MEMORY_MS },
    { "memProfiling", ON_OFF_WHEN(WHEN_MEMORY) },
    { "memInterval", MEMORY_MS },
    { "appMemProfiling", .put = put_fixed, .text = "\"on\"" },
    { "ddr_profiling", WHEN(WHEN_MEMORY) },
    { "ddr_profiling_events", WHEN(WHEN_MEMORY), .text = "read,write" },
    { "ddr_interval", MEMORY_MS },
    { "ddr_master_id", .put = put_fixed, .text = "0" },
    { "hbmProfiling", WHEN(WHEN_MEMORY) },
    { "hbm_profiling_events", WHEN(WHEN_MEMORY), .text = "read,write" },
    { "hbmInterval", MEMORY_MS },
    { "qosProfiling", WHEN(WHEN_QOS) },
    { "qosEvents", EMPTY },
    { "pcSampling", OFF },
    { "instrProfiling", .put = put_rate_flag, OPTION(instr_hz), BLANK },
    { "instrProfilingFreq", .put = put_hz, .is = 1000, OPTION(instr_hz) },
    /* host */
    { "hostProfiling", .put = put_is_host },
    { "host_sys", .put = put_host_list, OPTION(host_sys) },
    { "host_sys_pid", .put = put_pid },
    { NULL, .put = put_host_flags },
    { "host_disk_freq", .put = put_fixed, .text = "50" },
    { "hostSysUsage", .put = put_host_list, OPTION(host_usage) },
    { "hostProfilingSamplingInterval", MS(host_usage_hz, 20) },
    { "hostAllPidCpuProfiling", ON_OFF_WHEN(WHEN_ALL_CPU) },
    { "hostAllPidMemProfiling", ON_OFF_WHEN(WHEN_ALL_MEMORY) },
    { "pureCpu", OFF },
};
/* clang-format on */

static unsigned when_of(const struct sample_json_sampled *x)
{
    const struct ascope_options *const o = x->o;
    const bool has_program = !x->command || !x->command->is_system;
    const bool has_tasks = has_program && x->mask & (DATA_TASK_L0 | DATA_TASK_L1);
    const bool has_cores = x->mask & DATA_METRICS;
    const struct {
        bool is_so;
        unsigned bit;
    } all[] = {
        { has_program, WHEN_PROGRAM },
        { has_tasks, WHEN_TASKS },
        { has_cores, WHEN_CORES },
        { has_cores && x->chip->is_stars && (!o->sample_based || !has_program), WHEN_FREQUENCY },
        { has_tasks && x->chip->is_stars, WHEN_STARS },
        { has_tasks && x->chip->task_log == TASK_LOG_HWTS, WHEN_HWTS },
        { o->hardware_mem_hz > 0, WHEN_MEMORY },
        { o->hardware_mem_hz > 0 && x->device != HOST, WHEN_QOS },
        { o->io_hz > 0, WHEN_IO },
        { o->interconnection_hz > 0, WHEN_LINKS },
        { o->cpu_hz > 0, WHEN_CPU },
        { x->device == HOST, WHEN_HOST },
        { o->task_block, WHEN_BLOCKS },
        { o->task_block && o->task_block_shrink, WHEN_SHORT_BLOCKS },
        { has_program || o->hardware_mem_hz > 0, WHEN_CACHE },
        { o->host_usage & ASCOPE_HOST_CPU, WHEN_ALL_CPU },
        { o->host_usage & ASCOPE_HOST_MEM, WHEN_ALL_MEMORY },
    };
    unsigned when = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        when |= all[i].is_so ? all[i].bit : 0;
    return when;
}

static void rows_put(struct json_text *t, struct sample_json_sampled *x, bool is_simulated)
{
    const char *const metrics = options_metrics_name(x->o->metrics);
    x->events = !metrics       ? NULL
                : is_simulated ? core_events_find(metrics, x->chip)
                               : core_events_asked(metrics, x->chip);
    x->mask = options_data_mask(x->o);
    x->when = when_of(x);
    json_text_add(t, "{");
    for (size_t i = 0, n = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].is_ours && x->is_environment)
            continue;
        json_text_add(t, n++ > 0 ? "," : "");
        if (rows[i].key)
            json_text_add(t, "\"%s\":", rows[i].key);
        rows[i].put(t, x, &rows[i]);
    }
    json_text_add(t, "}");
}

void sample_json_put(struct json_text *t, const struct ascope_session *s, const struct session_device *d)
{
    const struct sample_command *const c = s->command;
    char place[PATH_MAX + 40], job[32];
    snprintf(place, sizeof place, d ? "%s/device_%d/" : "%s/host/", s->prof, d ? d->is.id : 0);
    snprintf(job, sizeof job, "%d", d ? d->is.id : HOST);
    struct sample_json_sampled x = { .o = &s->o,
                                     .command = c,
                                     .chip = info_chip(s),
                                     .result_dir = !c             ? s->prof
                                                   : c->is_system ? c->root
                                                                  : place,
                                     .app = c && (c->app || c->is_system) ? c->app : s->process,
                                     .job = info_is_simulated(s) ? "simulated"
                                            : c                  ? job
                                                                 : "64",
                                     .pid = s->pid,
                                     .device = d ? d->is.id : HOST };
    rows_put(t, &x, info_is_simulated(s));
}

void sample_json_request(struct json_text *t, const struct ascope_options *o, const struct chip *chip,
                         const struct sample_command *c)
{
    struct sample_json_sampled x = { .o = o,
                                     .command = c,
                                     .chip = chip,
                                     .result_dir = c->root,
                                     .app = c->app,
                                     .pid = c->host_pid,
                                     .device = HOST,
                                     .is_environment = true };
    rows_put(t, &x, false);
}
