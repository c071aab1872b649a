/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim_torch_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    const struct sim_process *p = t->of;
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
    folder_file(&t->writer, FOLDER_SESSION, name, text, (size_t)n);
}

/* Groups of eight that nobody else is in: a rank that is alone. */
static void groups_alone(FILE *f, const struct sim_process *p)
{
    static const char *const groups[] = { "hccl_world_group", "hccl_dp_group", "mc2_tp_group" };
    const uint32_t first = p->index / RANKS * RANKS;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        fprintf(f, "%s\"%s\": {\"group_name\": \"%s\", \"group_rank\": %u, \"global_ranks\": [", i > 0 ? ", " : "",
                groups[i], i > 0 ? groups[i] : "default_group", p->index % RANKS);
        for (uint32_t rank = 0; rank < RANKS; rank++)
            fprintf(f, "%s%u", rank > 0 ? ", " : "", first + rank);
        fputs("]}", f);
    }
}

/* A group of one needs nobody to talk to, and is not known. */
static void groups_of_job(FILE *f, const struct sim_process *p)
{
    for (unsigned axis = 0; axis < AXES; axis++) {
        const struct job_group g = job_group(p->job, (enum job_axis)axis, p->index);
        char id[JOB_GROUP_BYTES];
        if (axis != AXIS_WORLD && g.size == 1)
            continue;
        job_group_id(p->job, &g, id);
        fprintf(f, "%s\"%s\": {\"group_name\": \"%s\", \"group_rank\": %u, \"global_ranks\": [",
                axis != AXIS_WORLD ? ", " : "", id, job_group_name((enum job_axis)axis), g.place);
        for (uint32_t i = 0; i < g.size; i++)
            fprintf(f, "%s%u", i > 0 ? ", " : "", g.first + i * g.stride);
        fputs("]}", f);
    }
}

static void sizes_of_job(FILE *f, const struct sim_process *p)
{
    const struct sim_job *j = p->job;
    fprintf(f,
            ", \"distributed_args\": {\"tensor_model_parallel_size\": %u, \"pipeline_model_parallel_size\": %u, "
            "\"data_parallel_size\": %u, \"context_parallel_size\": 1, \"expert_model_parallel_size\": 1, "
            "\"sequence_parallel\": false, \"rank\": %u, \"world_size\": %u}",
            j->size[AXIS_TP], j->size[AXIS_PP], j->size[AXIS_DP], p->index, j->ranks);
}

static void metadata_json(struct sim_torch *t)
{
    const struct sim_process *p = t->of;
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f) {
        error_no_memory(&t->writer.error, "profiler_metadata.json");
        return;
    }
    fprintf(f,
            "{\"simulated\": \"by ascope sim, seed %llu: no such job has run\", "
            "\"ENV_VARIABLES\": {\"ASCEND_GLOBAL_LOG_LEVEL\": \"3\", \"HCCL_ALGO\": \"\"}, "
            "\"parallel_group_info\": {",
            (unsigned long long)p->o->seed);
    if (p->job)
        groups_of_job(f, p);
    else
        groups_alone(f, p);
    fputs("}", f);
    if (p->job)
        sizes_of_job(f, p);
    fprintf(f, ", \"trace_id\": \"%016llX\"}", (unsigned long long)(p->o->seed * 0x9E3779B97F4A7C15 + p->index));
    if (fclose(f) == 0)
        folder_file(&t->writer, FOLDER_SESSION, "profiler_metadata.json", text, n);
    else
        error_no_memory(&t->writer.error, "profiler_metadata.json");
    free(text);
}

void torch_info_write(struct sim_torch *t)
{
    info_json(t);
    metadata_json(t);
}
