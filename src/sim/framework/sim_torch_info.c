/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/framework/sim_torch_info.h"

#include <stdio.h>
#include <string.h>

#include "sim/job/sim_metadata.h"

enum { INFO_MOST = 4096 };

static const char *metrics_name(const char *group)
{
    static const char *const name[][2] = {
        { "PipeUtilization", "ACL_AICORE_PIPE_UTILIZATION" },
        { "ArithmeticUtilization", "ACL_AICORE_ARITHMETIC_UTILIZATION" },
        { "Memory", "ACL_AICORE_MEMORY_BANDWIDTH" },
        { "MemoryL0", "ACL_AICORE_L0B_AND_WIDTH" },
        { "MemoryUB", "ACL_AICORE_MEMORY_UB" },
        { "ResourceConflictRatio", "ACL_AICORE_RESOURCE_CONFLICT_RATIO" },
        { "L2Cache", "ACL_AICORE_L2_CACHE" },
        { "MemoryAccess", "ACL_AICORE_MEMORY_ACCESS" },
    };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (strcmp(name[i][0], group) == 0)
            return name[i][1];
    return "ACL_AICORE_NONE";
}

static const char *boolean(bool is_true)
{
    return is_true ? "true" : "false";
}

static void info_json(struct sim_torch *t)
{
    const struct sim_process *p = t->base.of;
    const struct sim_options *o = p->o;
    const bool has_npu = o->kernels > 0;
    const uint64_t past_ns = (p->end - p->cnt) * NS_PER_HOST_TICK;
    char text[INFO_MOST], name[64];
    const int n = snprintf(
        text, sizeof text,
        "{\n    \"config\": {\n        \"common_config\": {\n            \"activities\": [\n"
        "                \"ProfilerActivity.CPU\"%s\n            ],\n"
        "            \"schedule\": {\n                \"wait\": 0,\n                \"active\": %u,\n"
        "                \"warmup\": 0,\n                \"repeat\": 1,\n                \"skip_first\": 0,\n"
        "                \"skip_first_wait\": 0\n            },\n"
        "            \"record_shapes\": true,\n            \"profile_memory\": true,\n            \"with_stack\": true,\n"
        "            \"with_flops\": false,\n            \"with_modules\": true\n        },\n"
        "        \"experimental_config\": {\n            \"_profiler_level\": \"%s\",\n"
        "            \"_aic_metrics\": \"%s\",\n            \"_l2_cache\": %s,\n            \"_msprof_tx\": %s,\n"
        "            \"_mstx\": %s,\n            \"_data_simplification\": false,\n            \"record_op_args\": false,\n"
        "            \"_export_type\": [\n                \"text\"\n            ],\n            \"_host_sys\": [],\n"
        "            \"_op_attr\": false,\n            \"_gc_detect_threshold\": 0.1,\n"
        "            \"_mstx_domain_include\": [],\n            \"_mstx_domain_exclude\": [],\n"
        "            \"_sys_io\": %s,\n            \"_sys_interconnection\": %s\n        }\n    },\n"
        "    \"start_info\": {\n        \"syscnt_enable\": true,\n        \"freq\": %d.0,\n        \"start_cnt\": %llu,\n"
        "        \"start_monotonic\": %llu\n    },\n"
        "    \"end_info\": {\n        \"collectionTimeEnd\": %llu,\n        \"MonotonicTimeEnd\": %llu\n    },\n"
        "    \"torch_npu_version\": \"2.6.0\",\n    \"cann_version\": \"8.3.RC1\",\n    \"rank_id\": %u,\n"
        "    \"simulated\": true\n}",
        has_npu ? ",\n                \"ProfilerActivity.NPU\"" : "", o->steps, o->level0 ? "Level0" : "Level2",
        metrics_name(o->metrics), boolean(has_npu && o->samplers), boolean(o->marks), boolean(o->marks),
        boolean(has_npu && o->samplers), boolean(has_npu && o->samplers), HOST_MHZ, (unsigned long long)p->cnt,
        (unsigned long long)p->mono_ns, (unsigned long long)(p->wall_us * 1000 + past_ns),
        (unsigned long long)(p->mono_ns + past_ns), p->index);
    snprintf(name, sizeof name, "profiler_info_%u.json", p->index);
    folder_file(&t->base.writer, FOLDER_SESSION, name, text, (size_t)n);
}

void torch_info_write(struct sim_torch *t)
{
    info_json(t);
    front_metadata_write(&t->base);
}
