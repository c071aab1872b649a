/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/sample_json.h"

#include <string.h>

#include "collect/options.h"
#include "collect/prof_info.h"
#include "raw/core_events.h"

/* What the members of sample.json are made of. */
struct sampled {
    const struct ascope_session *s;
    const struct session_device *d; /* NULL: the host's file */
    const struct core_events *events;
    uint64_t mask;
};
struct sample_row {
    const char *key;
    void (*put)(struct json_text *t, const struct sampled *x, const struct sample_row *r);
    uint64_t is;      /* bits of the mask; or a number */
    size_t at;        /* in struct ascope_options */
    const char *text; /* as it is */
};

static const void *option_at(const struct sampled *x, const struct sample_row *r)
{
    return (const char *)&x->s->o + r->at;
}

static void put_text(struct json_text *t, const char *text)
{
    json_text_string(t, text ? text : "");
}

static const char *on_off(bool is_on)
{
    return is_on ? "on" : "off";
}

static uint32_t every_ms(uint32_t hz, uint32_t otherwise)
{
    return hz ? (1000 + hz - 1) / hz : otherwise;
}

static void put_fixed(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    json_text_add(t, "%s", r->text);
    (void)x;
}

static void put_bits(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    put_text(t, on_off(x->mask & r->is));
}

static void put_flag(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    put_text(t, on_off(*(const bool *)option_at(x, r)));
}

static void put_rate_flag(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    put_text(t, on_off(*(const uint32_t *)option_at(x, r)));
}

static void put_every_ms(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    json_text_add(t, "%u", every_ms(*(const uint32_t *)option_at(x, r), (uint32_t)r->is));
}

static void put_option(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    put_text(t, *(const char *const *)option_at(x, r));
}

static void put_path(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    put_text(t, x->s->prof);
    (void)r;
}

static void put_job(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    put_text(t, info_is_simulated(x->s) ? "simulated" : "64");
    (void)r;
}

static void put_process(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    put_text(t, x->s->process);
    (void)r;
}

static void put_device(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    enum { HOST = 64 };
    json_text_add(t, "\"%d\"", x->d ? x->d->is.id : HOST);
    (void)r;
}

static void put_mask(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    json_text_add(t, "\"0x%llx\"", (unsigned long long)x->mask);
    (void)r;
}

static void put_counted(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    put_text(t, on_off(x->events || x->s->o.custom_events));
    (void)r;
}

static void put_counting(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    put_text(t, x->s->o.sample_based ? "sample-based" : "task-based");
    (void)r;
}

/* Of the group of events that is counted. */
static const char *core_text(const struct sampled *x, const struct sample_row *r)
{
    const char *text = NULL;
    if (x->events)
        memcpy(&text, (const char *)x->events + r->at, sizeof text);
    return text ? text : "";
}

static void put_metrics(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    const char *const custom = x->s->o.custom_events;
    json_text_add(t, "\"%s%s\"", custom ? "Custom:" : "", custom ? custom : core_text(x, r));
}

static void put_events(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    put_text(t, x->s->o.custom_events ? x->s->o.custom_events : core_text(x, r));
}

static void put_core_ms(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    json_text_add(t, "%u",
                  x->s->o.aic_hz ? 1000 / x->s->o.aic_hz : (uint32_t)r->is); /* rounded down, unlike the others */
}

static void put_level(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    put_text(t, x->mask & DATA_TASK_L3 ? "l3" : x->mask & DATA_TASK_L2 ? "l2" : x->mask & DATA_TASK_L1 ? "l1" : "l0");
    (void)r;
}

static void put_ge(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    put_text(t, x->mask & DATA_GE_API_L1 ? "l1" : x->mask & DATA_GE_API_L0 ? "l0" : "off");
    (void)r;
}

static void put_l2_events(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    put_text(t, x->s->o.l2_cache ? info_chip(x->s)->l2_events : "");
    (void)r;
}

static void put_npu_events(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    const struct ascope_options *o = &x->s->o;
    put_text(t, o->npu_events ? o->npu_events : o->l2_cache ? r->text : "");
}

static void put_llc(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    put_text(t, x->s->o.llc_write ? "write" : "read");
    (void)r;
}

static void put_hbm_events(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    put_text(t, x->s->o.hardware_mem_hz ? r->text : "");
}

static void put_low_power_us(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    json_text_add(t, "%u", x->s->o.low_power_hz ? 1000000 / x->s->o.low_power_hz : (uint32_t)r->is);
}

static void put_hz(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    const uint32_t hz = *(const uint32_t *)option_at(x, r);
    json_text_add(t, "%u", hz ? hz : (uint32_t)r->is);
}

static void put_is_host(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    json_text_add(t, "%s", x->d ? "false" : "true");
    (void)r;
}

static void put_host_list(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    const uint32_t bits = *(const uint32_t *)option_at(x, r);
    json_text_add(t, "\"");
    for (unsigned i = 0, n = 0; options_host_sys_name(i); i++)
        if (bits & 1u << i)
            json_text_add(t, "%s%s", n++ > 0 ? "," : "", options_host_sys_name(i));
    json_text_add(t, "\"");
}

/* A member for each part of the host: its key is made here. */
static void put_host_flags(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    for (unsigned i = 0; options_host_sys_name(i); i++)
        json_text_add(t, "%s\"host_%s_profiling\":\"%s\"", i > 0 ? "," : "", options_host_sys_name(i),
                      on_off(x->s->o.host_sys & 1u << i));
    (void)r;
}

static void put_pid(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    json_text_add(t, "%d", (int)x->s->pid);
    (void)r;
}

static void put_limit(struct json_text *t, const struct sampled *x, const struct sample_row *r)
{
    const uint32_t mb = x->s->o.storage_limit_mb;
    if (mb)
        json_text_add(t, "\"%uMB\"", mb);
    else
        put_text(t, "");
    (void)r;
}

/* clang-format off */
#define OPTION(field) .at = offsetof(struct ascope_options, field)
#define OF_CORE(field) .at = offsetof(struct core_events, field)
static const struct sample_row rows[] = {
    { "result_dir", .put = put_path },
    { "job_id", .put = put_job },
    { "app", .put = put_process },
    { "app_dir", .put = put_fixed, .text = "\"\"" },
    { "app_parameters", .put = put_fixed, .text = "\"\"" },
    { "app_env", .put = put_fixed, .text = "\"\"" },
    { "profiling_mode", .put = put_fixed, .text = "\"def_mode\"" },
    { "devices", .put = put_device },
    { "profSwitch", .put = put_mask },
    { "ai_core_profiling", .put = put_counted },
    { "ai_core_profiling_mode", .put = put_counting },
    { "ai_core_metrics", .put = put_metrics, OF_CORE(cube_name) },
    { "ai_core_profiling_events", .put = put_events, OF_CORE(cube_events) },
    { "aiv_profiling", .put = put_counted },
    { "aiv_profiling_mode", .put = put_counting },
    { "aiv_metrics", .put = put_metrics, OF_CORE(vector_name) },
    { "aiv_profiling_events", .put = put_events, OF_CORE(vector_events) },
    { "aicore_sampling_interval", .put = put_core_ms, .is = 10 },
    { "aiv_sampling_interval", .put = put_core_ms, .is = 10 },
    { "prof_level", .put = put_level },
    { "profLevel", .put = put_level },
    { "taskTime", .put = put_bits, .is = DATA_TASK_L0 | DATA_TASK_L1 },
    { "acl", .put = put_bits, .is = DATA_ACL_API },
    { "runtimeApi", .put = put_bits, .is = DATA_RUNTIME_API },
    { "geApi", .put = put_ge },
    { "hcclTrace", .put = put_bits, .is = DATA_HCCL },
    { "aicpuTrace", .put = put_bits, .is = DATA_AICPU },
    { "taskMemory", .put = put_bits, .is = DATA_TASK_MEMORY },
    { "msproftx", .put = put_bits, .is = DATA_MARKS },
    { "taskTsfw", .put = put_bits, .is = DATA_SCHEDULER },
    { "taskBlock", .put = put_flag, OPTION(task_block) },
    { "aicoreShape", .put = put_bits, .is = DATA_AICORE_SHAPE },
    { "l2CacheTaskProfiling", .put = put_flag, OPTION(l2_cache) },
    { "l2CacheTaskProfilingEvents", .put = put_l2_events },
    { "mstxDomainInclude", .put = put_option, OPTION(mstx_domain_include) },
    { "mstxDomainExclude", .put = put_option, OPTION(mstx_domain_exclude) },
    { "opType", .put = put_option, OPTION(op_types) },
    { "npuEvents", .put = put_npu_events, .text = "SMMU:0x8a,0x8c,0x8d,0x2,0x8b" },
    { "memServiceflow", .put = put_option, OPTION(mem_serviceflow) },
    { "hardware_mem", .put = put_rate_flag, OPTION(hardware_mem_hz) },
    { "hbmInterval", .put = put_every_ms, .is = 20, OPTION(hardware_mem_hz) },
    { "ddr_interval", .put = put_every_ms, .is = 20, OPTION(hardware_mem_hz) },
    { "llc_interval", .put = put_every_ms, .is = 20, OPTION(hardware_mem_hz) },
    { "memInterval", .put = put_every_ms, .is = 20, OPTION(hardware_mem_hz) },
    { "llc_profiling", .put = put_llc },
    { "llc_profiling_events", .put = put_llc },
    { "hbm_profiling_events", .put = put_hbm_events, .text = "read,write" },
    { "ddr_profiling_events", .put = put_fixed, .text = "\"\"" },
    { "qosEvents", .put = put_fixed, .text = "\"\"" },
    { "io_profiling", .put = put_rate_flag, OPTION(io_hz) },
    { "nicInterval", .put = put_every_ms, .is = 10, OPTION(io_hz) },
    { "roceInterval", .put = put_every_ms, .is = 10, OPTION(io_hz) },
    { "interconnection_profiling", .put = put_rate_flag, OPTION(interconnection_hz) },
    { "pcieInterval", .put = put_every_ms, .is = 20, OPTION(interconnection_hz) },
    { "hccsInterval", .put = put_every_ms, .is = 20, OPTION(interconnection_hz) },
    { "dvpp_profiling", .put = put_rate_flag, OPTION(dvpp_hz) },
    { "dvpp_sampling_interval", .put = put_every_ms, .is = 20, OPTION(dvpp_hz) },
    { "cpu_profiling", .put = put_rate_flag, OPTION(cpu_hz) },
    { "cpu_sampling_interval", .put = put_every_ms, .is = 20, OPTION(cpu_hz) },
    { "sys_profiling", .put = put_rate_flag, OPTION(device_usage_hz) },
    { "sys_sampling_interval", .put = put_every_ms, .is = 100, OPTION(device_usage_hz) },
    { "pid_profiling", .put = put_rate_flag, OPTION(device_process_hz) },
    { "pid_sampling_interval", .put = put_every_ms, .is = 100, OPTION(device_process_hz) },
    { "sysLp", .put = put_rate_flag, OPTION(low_power_hz) },
    { "sysLpFreq", .put = put_low_power_us, .is = 10000 },
    { "instrProfiling", .put = put_rate_flag, OPTION(instr_hz) },
    { "instrProfilingFreq", .put = put_hz, .is = 1000, OPTION(instr_hz) },
    { "hostProfiling", .put = put_is_host },
    { "host_sys", .put = put_host_list, OPTION(host_sys) },
    { "hostSysUsage", .put = put_host_list, OPTION(host_usage) },
    { "hostProfilingSamplingInterval", .put = put_every_ms, .is = 20, OPTION(host_usage_hz) },
    { NULL, .put = put_host_flags },
    { "host_disk_freq", .put = put_fixed, .text = "50" },
    { "host_sys_pid", .put = put_pid },
    { "msprofBinPid", .put = put_fixed, .text = "-1" },
    { "storageLimit", .put = put_limit },
    { "profiling_period", .put = put_fixed, .text = "-1" },
    { "dynamic", .put = put_fixed, .text = "\"off\"" },
};
/* clang-format on */

void sample_json_put(struct json_text *t, const struct ascope_session *s, const struct session_device *d)
{
    const char *const metrics = options_metrics_name(s->o.metrics);
    const struct sampled x = { .s = s,
                               .d = d,
                               .events = metrics ? core_events_find(metrics, info_chip(s)) : NULL,
                               .mask = options_data_mask(&s->o) };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_text_add(t, i > 0 ? "," : "{");
        if (rows[i].key)
            json_text_add(t, "\"%s\":", rows[i].key);
        rows[i].put(t, &x, &rows[i]);
    }
    json_text_add(t, "}");
}
