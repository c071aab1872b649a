/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/device/sim_records.h"

#include <stdio.h>
#include <string.h>

#include "raw/counter.h"
#include "raw/sampler.h"

/* clang-format off */
const struct host_kind_row host_kinds[HOST_KINDS] = {
    [KIND_CALL]     = { &api_layout, 0, 0, 0 },
    [KIND_NODE]     = { &node_basic_layout, LEVEL_NODE, TYPE_NODE_BASIC, 28 },
    [KIND_ATTR]     = { &node_attr_layout, LEVEL_NODE, TYPE_NODE_ATTR, 20 },
    [KIND_TRACK]    = { &task_track_layout, LEVEL_RUNTIME, TYPE_TASK_TRACK, 24 },
    [KIND_MEMCPY]   = { &memcpy_layout, LEVEL_RUNTIME, TYPE_MEMCPY_INFO, 18 },
    [KIND_HCCL_OP]  = { &hccl_op_layout, LEVEL_NODE, TYPE_HCCL_OP, 26 },
    [KIND_CAPTURE]  = { &capture_stream_layout, LEVEL_RUNTIME, TYPE_CAPTURE_STREAM, 10 },
    [KIND_CAPTURED] = { &captured_op_variable_layout, LEVEL_RUNTIME, TYPE_CAPTURED_OP, 0 },
    [KIND_TENSOR]   = { &tensor_layout, LEVEL_NODE, TYPE_TENSOR, 0 },
    [KIND_CONTEXT]  = { &context_id_layout, LEVEL_NODE, TYPE_CONTEXT_ID, 16 },
    [KIND_HCCL]     = { &hccl_info_layout, LEVEL_COMMUNICATION, TYPE_HCCL_INFO, 120 },
    [KIND_MC2]      = { &mc2_comm_layout, LEVEL_NODE, TYPE_MC2, 60 },
    [KIND_MARK]     = { &mark_layout, LEVEL_MARK, 0, 232 },
    [KIND_MEMORY]   = { &task_memory_layout, LEVEL_NODE, TYPE_TASK_MEMORY, 48 },
    [KIND_THREADS]  = { &multi_thread_layout, LEVEL_NODE, TYPE_MULTI_THREAD, 0 },
    [KIND_FUSION]   = { &fusion_op_layout, LEVEL_NODE, TYPE_FUSION_OP, 116 },
    [KIND_GRAPH]    = { &graph_id_layout, LEVEL_MODEL, TYPE_GRAPH_ID_MAP, 16 },
    [KIND_STATIC_MEMORY] = { &static_op_mem_layout, LEVEL_NODE, TYPE_STATIC_MEMORY, 52 },
    [KIND_LOGIC]    = { &logic_stream_layout, LEVEL_MODEL, TYPE_LOGIC_STREAM, 12 },
    [KIND_TEXT]     = { NULL, 0, 0, 0 },
};
/* clang-format on */

void record_put(const struct layout *l, uint8_t *rec, const struct record_value *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        layout_put(l, v[i].field, rec, v[i].value);
}

void record_call(uint8_t *rec, uint16_t level, uint32_t type, uint32_t thread, uint32_t request, uint64_t begin,
                 uint64_t end, uint64_t item)
{
    const struct layout *l = &api_layout;
    layout_init(l, rec);
    record_fill(l, rec, { API_LEVEL, level }, { API_TYPE, type }, { API_THREAD, thread }, { API_REQUEST, request },
                { API_BEGIN, begin }, { API_END, end }, { API_ITEM, item });
}

void record_head(uint8_t *rec, enum host_kind kind, uint32_t thread, uint64_t time)
{
    const struct host_kind_row *k = &host_kinds[kind];
    layout_init(k->layout, rec);
    record_fill(k->layout, rec, { HEAD_LEVEL, k->level }, { HEAD_TYPE, k->type }, { HEAD_THREAD, thread },
                { HEAD_DATA_LEN, k->data_len }, { HEAD_TIME, time });
}

void record_node(uint8_t *rec, const struct node *n)
{
    const struct layout *l = &node_basic_layout;
    record_fill(l, rec, { NODE_NAME, n->name }, { NODE_TASK_TYPE, n->node_type }, { NODE_OP_TYPE, n->type },
                { NODE_BLOCKS, n->blocks }, { NODE_OP_FLAG, n->flag });
}

void record_attributes(uint8_t *rec, uint64_t name, uint64_t text)
{
    layout_put(&node_attr_layout, ATTR_NAME, rec, name);
    layout_put(&node_attr_layout, ATTR_TEXT, rec, text);
}

void record_context(uint8_t *rec, uint64_t name)
{
    layout_put(&context_id_layout, CONTEXT_OP_NAME, rec, name);
    layout_put(&context_id_layout, CONTEXT_COUNT, rec, 1); /* its number is 0 */
}

void record_tensor(uint8_t *at, const struct node_tensor *t)
{
    memcpy(at, &t->direction, 4);
    memcpy(at + 4, &t->format, 4);
    memcpy(at + 8, &t->data_type, 4);
    memcpy(at + 12, t->shape, sizeof t->shape);
}

void record_tensors(uint8_t *rec, uint64_t name, const struct node_tensor *t, unsigned n)
{
    const struct layout *l = &tensor_layout;
    record_fill(l, rec, { HEAD_DATA_LEN, 12 + n * TENSOR_BYTES }, { TENSOR_OP_NAME, name }, { TENSOR_COUNT, n });
    for (unsigned i = 0; i < n; i++)
        record_tensor(rec + TENSOR_FIRST + i * TENSOR_BYTES, &t[i]);
}

void record_track(uint8_t *rec, unsigned device, uint16_t stream, uint32_t task_and_batch, const struct sim_launch *l)
{
    const struct layout *t = &task_track_layout;
    const struct sim_task_kind *kind = &sim_task_kinds[l->kind];
    record_fill(t, rec, { TRACK_DEVICE, device }, { TRACK_STREAM, stream }, { TRACK_TASK, task_and_batch },
                { TRACK_TYPE, kind->track });
    if (l->kernel == 0)
        return;
    layout_put(t, HEAD_DATA_LEN, rec, TRACK_LEN_EXTENDED);
    layout_put(t, TRACK_KERNEL, rec, l->kernel);
    record_fill(&track_kernel_layout, rec, { EXT_BLOCKS, l->blocks }, { EXT_ARGS, 64 + l->kernel % 16 * 8 },
                { EXT_BITS, kind->other_ratio });
}

void record_track_flip(uint8_t *rec, unsigned device, uint16_t stream, uint16_t batch)
{
    const struct layout *t = &task_track_layout;
    record_fill(t, rec, { TRACK_DEVICE, device }, { TRACK_STREAM, stream }, { TRACK_TASK, (uint64_t)batch << 16 },
                { TRACK_TYPE, TRACK_TYPE_FLIP });
}

void record_memcpy(uint8_t *rec, uint64_t bytes, uint16_t direction)
{
    enum { LARGEST = 64 << 20 };
    record_fill(&memcpy_layout, rec, { MEMCPY_SIZE, bytes }, { MEMCPY_LARGEST, LARGEST },
                { MEMCPY_DIRECTION, direction });
}

void record_memory(uint8_t *rec, const struct memory_change *m)
{
    const struct layout *l = &task_memory_layout;
    record_fill(l, rec, { OP_MEM_ADDR, m->address }, { OP_MEM_SIZE, m->is_release ? 0 - m->bytes : m->bytes },
                { OP_MEM_NAME, m->name }, { OP_MEM_ALLOCATED, m->allocated }, { OP_MEM_RESERVED, m->reserved },
                { OP_MEM_DEVICE, m->device });
}

void record_graph(uint8_t *rec, uint64_t name, uint32_t graph, uint32_t model)
{
    record_fill(&graph_id_layout, rec, { GRAPH_NAME, name }, { GRAPH_ID, graph }, { GRAPH_MODEL, model });
}

void record_fusion(uint8_t *rec, const struct fused *f)
{
    const struct layout *l = &fusion_op_layout;
    record_fill(l, rec, { FUSION_NAME, f->name }, { FUSION_COUNT, f->n }, { FUSION_INPUT, f->in },
                { FUSION_OUTPUT, f->out }, { FUSION_WEIGHT, f->weight }, { FUSION_WORKSPACE, f->workspace },
                { FUSION_TOTAL, f->in + f->out + f->weight + f->workspace });
    memcpy(rec + FUSION_FIRST, f->from, sizeof f->from);
}

void record_graph_memory(uint8_t *rec, const struct graph_memory *p)
{
    const struct layout *l = &static_op_mem_layout;
    record_fill(l, rec, { STATIC_MEM_SIZE, p->bytes }, { STATIC_MEM_NAME, p->name }, { STATIC_MEM_BEGIN, p->begin },
                { STATIC_MEM_END, p->end }, { STATIC_MEM_ALLOCATED, p->allocated }, { STATIC_MEM_GRAPH, p->graph });
}

void record_comm_part(uint8_t *rec, const struct comm_part *c)
{
    const struct sim_small *small = &sim_smalls[c->what];
    const bool is_local = small->transport == 2, is_signal = !small->moves;
    const double estimate_us = is_signal ? 0 : (double)c->bytes / 18000;
    uint64_t estimate;
    memcpy(&estimate, &estimate_us, sizeof estimate);
    const uint64_t value[HCCL_FIELDS] = {
        [HCCL_ITEM] = c->name,
        [HCCL_TAG] = c->tag,
        [HCCL_GROUP] = c->group,
        [HCCL_LOCAL_RANK] = c->rank,
        [HCCL_REMOTE_RANK] = is_local ? UINT32_MAX : c->remote,
        [HCCL_RANK_SIZE] = c->ranks,
        [HCCL_PLANE] = c->plane,
        [HCCL_CONTEXT] = UINT32_MAX,
        [HCCL_NOTIFY] = is_signal ? c->notify : UINT64_MAX,
        [HCCL_STAGE] = UINT32_MAX,
        [HCCL_ESTIMATE] = estimate,
        [HCCL_SRC] = 0x1200000000 + c->bytes,
        [HCCL_DST] = 0x1300000000 + c->bytes,
        [HCCL_SIZE] = is_signal ? 0 : c->bytes,
        [HCCL_OP_TYPE] = c->what == SMALL_REDUCE ? 0 : UINT32_MAX,
        [HCCL_DATA_TYPE] = is_signal ? UINT32_MAX : c->data_type,
        [HCCL_LINK] = c->link,
        [HCCL_TRANSPORT] = small->transport,
        [HCCL_RDMA] = small->rdma,
    };
    for (unsigned f = HCCL_ITEM; f < HCCL_FIELDS; f++)
        layout_put(&hccl_info_layout, f, rec, value[f]);
}

void comm_name_make(char *out, size_t size, const char *node, uint64_t group, uint64_t number)
{
    snprintf(out, size, "%s_%03u_%llu_1", node, (unsigned)(group % 1000), (unsigned long long)number);
}

void record_comm(uint8_t *rec, bool is_relayed, uint32_t data_type, uint64_t alg, uint64_t count, uint64_t group)
{
    const struct layout *l = &hccl_op_layout;
    record_fill(l, rec, { HCCL_OP_FLAGS, is_relayed }, { HCCL_OP_DATA_TYPE, data_type }, { HCCL_OP_ALG, alg },
                { HCCL_OP_COUNT, count }, { HCCL_OP_GROUP, group });
}

uint64_t stage_tick(enum sim_stage s, uint64_t begin, uint64_t end)
{
    enum { CONTEXT_AFTER = 5, CONTEXT_BEFORE = 3 };
    switch (s) {
    case STAGE_BEGIN: return begin;
    case STAGE_CONTEXT_BEGIN: return begin + CONTEXT_AFTER;
    case STAGE_CONTEXT_END: return end - CONTEXT_BEFORE;
    default: return end;
    }
}

enum sim_stage stage_next(enum sim_stage s, enum task_kind kind)
{
    if (s == STAGE_BEGIN && sim_task_kinds[kind].context == 0)
        return STAGE_END;
    return (enum sim_stage)(s + 1);
}

void record_log(uint8_t *rec, uint32_t number, uint16_t stream, uint16_t task, enum task_kind kind, enum sim_stage s,
                uint64_t tick)
{
    static const uint8_t func[STAGES] = { STARS_ACSQ_BEGIN, STARS_FFTS_BEGIN, STARS_FFTS_END, STARS_ACSQ_END };
    const struct layout *l = &stars_layout;
    const struct sim_task_kind *k = &sim_task_kinds[kind];
    const bool is_context = s == STAGE_CONTEXT_BEGIN || s == STAGE_CONTEXT_END;
    layout_init(l, rec);
    record_fill(l, rec, { STARS_HEAD, func[s] | (number & 15) << 6 | (is_context ? 0 : (uint32_t)k->log << 10) },
                { STARS_STREAM, stream }, { STARS_TASK, task }, { STARS_TICK, tick });
    if (!is_context)
        return;
    layout_put(l, STARS_SUB_TYPE, rec, k->context);
    const uint16_t ffts = FFTS_TYPE_MIX << FFTS_TYPE_SHIFT;
    memcpy(rec + STARS_FFTS_TYPE, &ffts, sizeof ffts);
}

void record_flip(uint8_t *rec, uint64_t tick, uint16_t stream, uint16_t batch)
{
    const struct layout *l = &ts_flip_layout;
    layout_init(l, rec);
    record_fill(l, rec, { TS_FLIP_TICK, tick }, { TS_FLIP_STREAM, stream }, { TS_FLIP_NUMBER, batch });
}

void record_stamp(uint8_t *rec, const struct layout *l, const struct stamp *s)
{
    layout_init(l, rec);
    record_fill(l, rec, { STEP_TICK, s->tick }, { STEP_INDEX, s->index }, { STEP_MODEL, s->model },
                { STEP_STREAM, s->stream }, { STEP_TASK, s->task }, { STEP_TAG, s->tag });
}

unsigned events_count(const char *events)
{
    unsigned n = 1;
    for (; *events; events++)
        n += *events == ',';
    return n;
}

void record_counted(uint8_t *rec, const struct layout *l, uint32_t number, const struct counted *c)
{
    const struct sim_task_kind *kind = &sim_task_kinds[c->kind];
    const uint64_t inside = kind->context != 0 ? 8 : 0; /* a context is counted inside of its task */
    layout_init(l, rec);
    layout_put(l, PMU_HEAD, rec, layout_get(l, PMU_HEAD, rec) | (number & 15) << 6);
    record_fill(l, rec, { PMU_STREAM, c->stream }, { PMU_TASK, c->task },
                { PMU_SUB_TYPE, kind->context != 0 ? kind->context : !c->is_cube }, { PMU_FFTS_BITS, c->bits },
                { PMU_CYCLES, c->cycles }, { PMU_BEGIN, c->begin + inside }, { PMU_END, c->end - inside });
    memcpy(rec + PMU_FIRST, c->event, sizeof c->event);
}

void record_aicpu(uint8_t *rec, const struct aicpu_run *r)
{
    const struct layout *l = &aicpu_node_layout, *head = &node_basic_layout;
    const uint64_t ticks = r->end - r->begin;
    const uint64_t run_begin = r->begin + ticks / 8, run_end = r->end - ticks / 16 - 1;
    const uint64_t compute_us = (run_begin - r->tick0) / r->mhz + 2;
    const uint64_t copy_us = compute_us + (run_end - run_begin) / r->mhz * 3 / 4;
    layout_init(l, rec);
    record_fill(head, rec, { HEAD_LEVEL, LEVEL_AICPU }, { HEAD_THREAD, 77 }, { HEAD_DATA_LEN, 128 },
                { HEAD_TIME, run_begin });
    record_fill(l, rec, { AICPU_STREAM, r->stream }, { AICPU_TASK, r->task }, { AICPU_RUN_BEGIN, run_begin },
                { AICPU_COMPUTE_US, compute_us }, { AICPU_MEMCPY_US, copy_us },
                { AICPU_MEMCPY_END_US, copy_us + r->copy_us }, { AICPU_RUN_END, run_end }, { AICPU_THREAD, 77 },
                { AICPU_SUBMIT, run_begin - 150 }, { AICPU_SCHEDULE, run_begin - 100 },
                { AICPU_BEFORE_RUN, run_begin - 25 }, { AICPU_AFTER_RUN, run_end + 20 }, { AICPU_KERNEL_TYPE, 1 },
                { AICPU_DISPATCH_US, r->dispatch_us }, { AICPU_TOTAL_US, ticks / r->mhz });
}

void record_l2(uint8_t *rec, const struct task_counted *c)
{
    const struct layout *l = &l2_cache_layout;
    layout_init(l, rec);
    record_fill(l, rec, { L2_TASK_TYPE, c->type }, { L2_STREAM, c->stream }, { L2_TASK, c->task });
    for (unsigned i = 0; i < COUNTER_EVENTS; i++)
        layout_put(l, L2_FIRST + i, rec, c->event[i]);
}

void record_smmu(uint8_t *rec, const struct layout *l, const struct task_counted *c, uint32_t data_type)
{
    layout_init(l, rec);
    record_fill(l, rec, { SMMU_TASK_TYPE, c->type }, { SMMU_STREAM, c->stream }, { SMMU_TASK, c->task },
                { SMMU_DATA_TYPE, data_type });
    for (unsigned i = 0; i < COUNTER_EVENTS; i++)
        layout_put(l, SMMU_FIRST + i, rec, c->event[i]);
}

void record_traffic(uint8_t *rec, const struct layout *l, uint64_t us, uint64_t count, uint32_t event, uint32_t unit)
{
    layout_init(l, rec);
    record_fill(l, rec, { TRAFFIC_TIME, us }, { TRAFFIC_COUNT, count }, { TRAFFIC_EVENT, event },
                { TRAFFIC_UNIT, unit });
}

void record_module_memory(uint8_t *rec, uint64_t time, uint32_t module, uint64_t bytes)
{
    const struct layout *l = &module_mem_layout;
    layout_init(l, rec);
    record_fill(l, rec, { MODULE_MEM_TIME, time }, { MODULE_MEM_MODULE, module }, { MODULE_MEM_BYTES, bytes });
}
