/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/framework/sim_ms.h"

#include <stdio.h>
#include <string.h>

#include "sim/device/sim_records.h"
#include "sim/framework/sim_tlv.h"

enum { TEXT_MOST = 640 };

/* %u is the rank. An empty name: the generation has no such file. */
static const char *const file_names[SIM_MS_GENERATIONS][MS_FILES] = {
    [SIM_MS_N] = {
        [MS_FILE_RANGES] = "mindspore.op_range",
        [MS_FILE_MEMORY] = "mindspore.memory_usage",
        [MS_FILE_MEMORY_TOTALS] = "cpu_ms_memory_record_%u.txt",
        [MS_FILE_SHAPES] = "mindspore.record_shapes",
        [MS_FILE_HOST_KERNELS] = "cpu_op_execute_timestamp_%u.txt",
    },
    [SIM_MS_S] = {
        [MS_FILE_RANGES] = "op_range_%u",
        [MS_FILE_MEMORY] = "operator_memory_%u.csv",
        [MS_FILE_MEMORY_TOTALS] = "cpu_ms_memory_record_%u.txt",
        [MS_FILE_HOST_KERNELS] = "cpu_op_execute_timestamp_%u.txt",
    },
};

void ms_files_open(struct sim_ms *m)
{
    const struct sim_process *p = m->base.of;
    folder_create(&m->base.writer, FOLDER_FRAMEWORK);
    for (size_t i = 0; i < MS_FILES; i++) {
        const char *const form = i == MS_FILE_BATCHES ? p->o->kernels > 0 ? "device_queue_profiling_%u.txt"
                                                                          : "dataset_iterator_profiling_%u.txt"
                                                      : file_names[p->o->ms_generation][i];
        const char *const number = form ? strchr(form, '%') : NULL;
        char name[64];
        snprintf(name, sizeof name, "%s", form ? form : "none");
        if (number)
            snprintf(name + (number - form), sizeof name - (size_t)(number - form), "%u%s", p->index, number + 2);
        slices_init(&m->out[i], &m->base.writer, FOLDER_FRAMEWORK, name, CUT_NEVER);
    }
}

uint64_t ms_wall_ns(const struct sim_ms *m, uint64_t host_tick)
{
    const struct sim_process *p = m->base.of;
    return p->wall_us * 1000 + (host_tick - p->cnt) * NS_PER_HOST_TICK;
}

static void sim_ms_records_text_put(struct sim_tlv *r, uint8_t type, const char *text)
{
    tlv_text(r, type, text, strlen(text));
}

static void range_n(struct sim_ms *m, const struct ms_range *r)
{
    const struct layout *l = &ms_range_layout;
    struct sim_tlv out;
    uint8_t *rec = tlv_begin(&out, l, MS_RECORD_RANGE);
    record_fill(l, rec, { MS_RANGE_THREAD, r->thread }, { MS_RANGE_FLOW, r->flow },
                { MS_RANGE_STEP, m->base.step.number }, { MS_RANGE_BEGIN, r->begin }, { MS_RANGE_END, r->end });
    layout_put(l, MS_RANGE_PROCESS, rec, r->thread); /* MindSpore stores the thread here */
    record_fill(l, rec, { MS_RANGE_MODULE, r->module }, { MS_RANGE_EVENT, r->event }, { MS_RANGE_STAGE, r->stage },
                { MS_RANGE_LEVEL, (uint8_t)r->level }, { MS_RANGE_IS_GRAPH_DATA, r->form == MS_FORM_GRAPH_DATA },
                { MS_RANGE_IS_STAGE, r->form == MS_FORM_STAGE }, { MS_RANGE_IS_STACK, r->form == MS_FORM_STACK });
    sim_ms_records_text_put(&out, MS_TEXT_NAME, r->name ? r->name : "");
    sim_ms_records_text_put(&out, MS_TEXT_FULL_NAME, r->full ? r->full : "");
    if (r->custom_info)
        sim_ms_records_text_put(&out, MS_TEXT_CUSTOM_INFO, r->custom_info);
    sim_ms_records_text_put(&out, MS_TEXT_MODULE_GRAPH, r->owner ? r->owner : "");
    sim_ms_records_text_put(&out, MS_TEXT_EVENT_GRAPH, r->node ? r->node : "");
    tlv_end(&out, &m->out[MS_FILE_RANGES]);
}

/* Names are composed when they are written. */
static void range_s(struct sim_ms *m, const struct ms_range *r)
{
    const struct layout *l = &ms_range_s_layout;
    struct sim_tlv out;
    char name[TEXT_MOST];
    uint8_t *rec = tlv_begin(&out, l, MS_RECORD_RANGE_S);
    record_fill(l, rec, { MS_RANGE_S_BEGIN, r->begin }, { MS_RANGE_S_END, r->end }, { MS_RANGE_S_THREAD, r->thread },
                { MS_RANGE_S_END_THREAD, r->thread }, { MS_RANGE_S_FORWARD_THREAD, r->thread },
                { MS_RANGE_S_FLOW, r->flow }, { MS_RANGE_S_STEP, m->base.step.number },
                { MS_RANGE_S_LEVEL, (uint8_t)r->level });
    if (r->form == MS_FORM_GRAPH_DATA)
        snprintf(name, sizeof name, "%s::%s::%s", r->owner, r->node, r->name);
    else if (r->form == MS_FORM_STAGE)
        snprintf(name, sizeof name, "%s", ms_stages[r->stage]);
    else if (strcmp(r->name, "flow") == 0)
        snprintf(name, sizeof name, "flow");
    else
        snprintf(name, sizeof name, "%s::%s::%s", ms_modules[r->module], ms_events[r->event], r->full);
    sim_ms_records_text_put(&out, MS_TEXT_S_NAME, name);
    if (r->custom_info)
        sim_ms_records_text_put(&out, MS_TEXT_S_CUSTOM_INFO, r->custom_info);
    tlv_end(&out, &m->out[MS_FILE_RANGES]);
}

void ms_range_write(struct sim_ms *m, const struct ms_range *r)
{
    if (m->base.of->o->ms_generation == SIM_MS_N)
        range_n(m, r);
    else if (r->form != MS_FORM_STACK) /* which are no ranges there */
        range_s(m, r);
}

void ms_memory_write(struct sim_ms *m, const struct ms_memory_event *e)
{
    enum { STREAM = 2 };
    const struct layout *l = &ms_memory_layout;
    const struct sim_process *p = m->base.of;
    const bool is_release = e->size == UINT64_MAX;
    struct sim_tlv out;
    uint8_t *rec = tlv_begin(&out, l, MS_RECORD_MEMORY);
    record_fill(l, rec, { MS_MEMORY_DEVICE, sim_device_number(p) }, { MS_MEMORY_THREAD, p->pid + MS_THREAD_DEVICE },
                { MS_MEMORY_PROCESS, p->pid }, { MS_MEMORY_TIME, e->time_ns }, { MS_MEMORY_ADDRESS, e->address },
                { MS_MEMORY_SIZE, e->size }, { MS_MEMORY_USED, m->used }, { MS_MEMORY_PEAK, m->peak },
                { MS_MEMORY_RESERVED, m->reserved }, { MS_MEMORY_STREAM_POINTER, 0xaaab12c0ull + p->index },
                { MS_MEMORY_STREAM, STREAM }, { MS_MEMORY_RUN_MODE, 1 }, { MS_MEMORY_ALLOC_TYPE, is_release ? 0 : 2 });
    sim_ms_records_text_put(&out, MS_MEMORY_TEXT_OWNER, is_release ? "" : e->owner);
    tlv_end(&out, &m->out[MS_FILE_MEMORY]);
}

void ms_shapes_write(struct sim_ms *m, const char *name, const char *shapes, const char *types)
{
    struct sim_tlv out;
    if (m->base.of->o->ms_generation != SIM_MS_N)
        return;
    tlv_begin(&out, NULL, MS_RECORD_SHAPES);
    sim_ms_records_text_put(&out, MS_SHAPES_TEXT_NAME, name);
    sim_ms_records_text_put(&out, MS_SHAPES_TEXT_SHAPES, shapes);
    sim_ms_records_text_put(&out, MS_SHAPES_TEXT_TYPES, types);
    tlv_end(&out, &m->out[MS_FILE_SHAPES]);
}

/* clang-format off */
const struct ms_cell ms_cells[] = {
    { "dense-Dense", "MatMul" },
    { "mlp-Dense", "MatMulExt" },
    { "attention-SelfAttention", "BatchMatMul" },
    { "conv-Conv2d", "Conv2D" },
    { "residual-Residual", "Add" },
    { "mlp-Gate", "Mul" },
    { "cast-Cast", "Cast" },
    { "attention-SelfAttention", "Transpose" },
    { "norm-RMSNorm", "RmsNorm" },
    { "attention-SelfAttention", "Softmax" },
    { "mlp-SwiGLU", "Swiglu" },
    { "rope-RotaryEmbedding", "RotaryPositionEmbedding" },
    { "mask-Mask", "ZerosLike" },
    { "fa-FlashAttention", "FlashAttentionScore" },
    { "fa-FlashAttention", "FlashAttentionScoreGrad" },
    { "moe-MoE", "GroupedMatmul" },
    { "moe-MoE", "MoeInitRouting" },
    { "dropout-Dropout", "DropoutGenMask" },
    { "scatter-Scatter", "IndexPut" },
};

const char *const ms_collective_names[] = {
    "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Send", "AlltoAll", "Receive", "Reduce", "CollectiveScatter",
};

const struct ms_node ms_nodes_sink[MS_NODES] = {
    { "DataQueue", 1, 0, { 1, -1 } },
    { "EpochCtrl", 1, 0, { 2, -1 } },
    { "Batch", 4, 16, { 3, -1 } },
    { "Map", 8, 64, { 4, -1 } },
    { "Shuffle", 1, 80, { 5, -1 } },
    { "TFReader", 4, 96, { -1, -1 } },
};

const struct ms_node ms_nodes_iterator[MS_NODES] = {
    { "EpochCtrl", 1, 0, { 1, -1 } },
    { "Batch", 2, 16, { 2, -1 } },
    { "Map", 8, 64, { 3, -1 } },
    { "Zip", 1, 0, { 4, 5 } },
    { "MindRecord", 4, 96, { -1, -1 } },
    { "Generator", 1, 32, { -1, -1 } },
};
/* clang-format on */

void ms_graph_name(size_t which, char *out, size_t size)
{
    snprintf(out, size, "Default/network-TrainOneStepCell/network-WithLossCell/_backbone-Net/%s/%s-op%zu",
             ms_cells[which].path, ms_cells[which].name, which);
}
