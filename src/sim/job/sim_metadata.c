/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/job/sim_metadata.h"

#include <stdio.h>
#include <stdlib.h>

/* The groups of a single process: of eight ranks, of which only this one exists. */
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

/* Groups of one rank are left out: they do not communicate. */
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

void front_metadata_write(struct sim_front *f)
{
    const struct sim_process *p = f->of;
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out) {
        error_no_memory(&f->writer.error, "profiler_metadata.json");
        return;
    }
    fprintf(out,
            "{\"simulated\": \"by ascope sim, seed %llu: no such job has run\", "
            "\"ENV_VARIABLES\": {\"ASCEND_GLOBAL_LOG_LEVEL\": \"3\", \"HCCL_ALGO\": \"\"}, "
            "\"parallel_group_info\": {",
            (unsigned long long)p->o->seed);
    if (p->job)
        groups_of_job(out, p);
    else
        groups_alone(out, p);
    fputs("}", out);
    if (p->job)
        sizes_of_job(out, p);
    fprintf(out, ", \"trace_id\": \"%016llX\"}", (unsigned long long)(p->o->seed * 0x9E3779B97F4A7C15 + p->index));
    if (fclose(out) == 0)
        folder_file(&f->writer, FOLDER_SESSION, "profiler_metadata.json", text, n);
    else
        error_no_memory(&f->writer.error, "profiler_metadata.json");
    free(text);
}
