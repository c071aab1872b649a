/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/framework/sim_ms.h"

#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES_MOST = 64, INTERVAL_MS = 10 };

static const struct ms_node *nodes(const struct sim_ms *m)
{
    return m->base.of->o->kernels > 0 ? ms_nodes_sink : ms_nodes_iterator;
}

static void node_write(struct sim_ms *m, size_t i, uint64_t until)
{
    static const char *const info[] = { NULL, "TensorRowFlags:Data", "TensorRowFlags:Data;Worker:0",
                                        "TensorRowFlags:Data;Worker:1" };
    const struct ms_node *n = &nodes(m)[i];
    struct dice *d = &m->base.dice;
    const uint32_t gets = dice_between(d, 300, 6000), works = dice_between(d, 200, 4000), gap = dice_between(d, 20, 90);
    char name[40];
    snprintf(name, sizeof name, "%s(ID:%zu)", n->type, i);
    struct ms_range r = { .thread = m->base.of->pid + MS_THREAD_DATA + (uint32_t)i,
                          .begin = until - works - gap - gets,
                          .end = until - works - gap,
                          .flow = MS_NO_FLOW,
                          .form = MS_FORM_GRAPH_DATA,
                          .name = n->child[0] >= 0 ? "GetFromPreviousOp" : "WorkerGet",
                          .owner = "Dataset",
                          .node = name,
                          .custom_info = info[dice_below(d, 4)] };
    ms_range_write(m, &r);
    r.begin = until - works;
    r.end = until;
    r.name = "WorkerProcess";
    r.custom_info = info[dice_below(d, 4)];
    ms_range_write(m, &r);
}

/* Four lines a batch: pushing it to the device, all of it, the pipeline; then the queue. */
void ms_batch_times_write(struct sim_ms *m, uint64_t ticks)
{
    enum { QUEUE_LENGTH = 64, TICKS_PER_MS = 1000 * HOST_MHZ };
    struct slices *out = &m->out[MS_FILE_BATCHES];
    struct dice *d = &m->base.dice;
    const unsigned batch = m->base.step.number + 1, push = dice_between(d, 1, 8);
    const unsigned pipeline = dice_between(d, 4, 24) + (unsigned)(ticks / TICKS_PER_MS);
    const unsigned long long at =
        m->base.of->mono_ns / 1000000 + (m->now[MS_THREAD_MAIN] - m->base.of->cnt) / TICKS_PER_MS;
    if (m->base.of->o->kernels > 0)
        slices_text(out, "0 1 %u %u %llu\n", batch, push, at);
    slices_text(out, "0 2 %u %u %llu\n", batch, push + pipeline, at);
    slices_text(out, "0 0 %u %u %llu\n", batch, pipeline, at);
    slices_text(out, "1 %d %u %u %llu\n", QUEUE_LENGTH, batch, dice_below(d, QUEUE_LENGTH), at);
}

void ms_batch_write(struct sim_ms *m, uint64_t ticks)
{
    const uint64_t begin = m->now[MS_THREAD_MAIN] + 20, end = begin + ticks;
    for (size_t i = MS_NODES; i-- > 0;)
        if (nodes(m)[i].queue_length > 0)
            node_write(m, i, end - 40 * (i + 1));
    ms_range_write(m, &(struct ms_range){ .thread = m->base.of->pid + MS_THREAD_MAIN,
                                          .begin = begin,
                                          .end = end,
                                          .flow = MS_NO_FLOW,
                                          .form = MS_FORM_GRAPH_DATA,
                                          .level = 1,
                                          .name = "GetNextAsMap",
                                          .owner = "Dataset",
                                          .node = "IteratorConsumer",
                                          .custom_info = "TensorRowFlags:Data" });
    m->now[MS_THREAD_MAIN] = end;
}

static void numbers(FILE *f, struct dice *d, const char *key, uint32_t low, uint32_t high, size_t n)
{
    fprintf(f, "\"%s\": [", key);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s%u", i > 0 ? ", " : "", dice_between(d, low, high));
    fputs("]", f);
}

static size_t n_samples(const struct sim_ms *m)
{
    const size_t n = (m->base.of->end - m->base.of->cnt) / (INTERVAL_MS * 1000 * HOST_MHZ) + 4;
    return n < SAMPLES_MOST ? n : SAMPLES_MOST;
}

static void queues_json(struct sim_ms *m, FILE *f)
{
    struct dice *d = &m->base.dice;
    fprintf(f, "{\"sampling_interval\": %d, \"op_info\": [", INTERVAL_MS);
    for (size_t i = 0; i < MS_NODES; i++) {
        const struct ms_node *n = &nodes(m)[i];
        const uint32_t most = dice_one_in(d, 3) ? n->queue_length / 8u : n->queue_length;
        fprintf(f, "%s{\"op_id\": %zu, \"op_type\": \"%sOp\", \"num_workers\": %u, \"metrics\": ", i > 0 ? ", " : "", i,
                n->type, n->workers);
        if (n->queue_length > 0) {
            fprintf(f, "{\"output_queue\": {\"length\": %u, ", n->queue_length);
            numbers(f, d, "size", 0, most, n_samples(m));
            fputs("}}", f);
        } else {
            fputs("null", f);
        }
        if (n->child[0] >= 0 && n->child[1] >= 0)
            fprintf(f, ", \"children\": [%d, %d]}", n->child[0], n->child[1]);
        else if (n->child[0] >= 0)
            fprintf(f, ", \"children\": [%d]}", n->child[0]);
        else
            fputs("}", f);
    }
    fputs("]}", f);
}

static void groups(FILE *f, struct dice *d, const char *group, const char *const *key, size_t n_keys, uint32_t most,
                   size_t n)
{
    fprintf(f, "\"%s\": {", group);
    for (size_t i = 0; i < n_keys; i++) {
        fputs(i > 0 ? ", " : "", f);
        numbers(f, d, key[i], 0, most, n);
    }
    fputs("}, ", f);
}

static void usage_json(struct sim_ms *m, FILE *f)
{
    static const char *const device[] = { "context_switch_count", "idle_utilization", "io_utilization",
                                          "sys_utilization",      "user_utilization", "runnable_process" };
    static const char *const process[] = { "user_utilization", "sys_utilization" };
    static const char *const of_process[] = { "vss_mbytes", "rss_mbytes", "pss_mbytes" };
    static const char *const of_system[] = { "total_sys_memory_mbytes", "available_sys_memory_mbytes",
                                             "used_sys_memory_mbytes" };
    struct dice *d = &m->base.dice;
    const size_t n = n_samples(m);
    fputs("{\"cpu_processor_num\": 8, ", f);
    groups(f, d, "device_info", device, sizeof device / sizeof *device, 90, n);
    fputs("\"op_info\": [", f);
    for (int i = -1; i < MS_NODES; i++) {
        const uint32_t most = i < 0 ? 2 : 20u + 60u * nodes(m)[i].workers * dice_below(d, 2);
        fprintf(f, "%s{\"op_id\": %d, \"metrics\": {", i >= 0 ? ", " : "", i);
        numbers(f, d, "user_utilization", 0, most, n);
        fputs(", ", f);
        numbers(f, d, "sys_utilization", 0, most / 8, n);
        fputs("}}", f);
    }
    fputs("], ", f);
    groups(f, d, "process_info", process, sizeof process / sizeof *process, 400, n);
    groups(f, d, "process_memory_info", of_process, sizeof of_process / sizeof *of_process, 40000, n);
    groups(f, d, "system_memory_info", of_system, sizeof of_system / sizeof *of_system, 900000, n);
    fprintf(f, "\"sampling_interval\": %d, \"time_stamp\": [", INTERVAL_MS);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s%llu", i > 0 ? ", " : "", (unsigned long long)(m->base.of->wall_us / 1000 + i * INTERVAL_MS));
    fputs("]}", f);
}

void ms_pipeline_write(struct sim_ms *m)
{
    static const struct {
        const char *name;
        void (*write)(struct sim_ms *m, FILE *f);
    } file[] = {
        { "pipeline_profiling", queues_json },
        { "minddata_cpu_utilization", usage_json },
    };
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        char name[64], *text = NULL;
        size_t n = 0;
        FILE *f = open_memstream(&text, &n);
        snprintf(name, sizeof name, "%s_%u.json", file[i].name, m->base.of->index);
        if (f)
            file[i].write(m, f);
        if (f && fclose(f) == 0)
            folder_file(&m->base.writer, FOLDER_FRAMEWORK, name, text, n);
        else
            error_no_memory(&m->base.writer.error, name);
        free(text);
    }
}
