/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/device/sim_records.h"

#include <stdio.h>
#include <string.h>

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

void record_call(uint8_t *rec, uint16_t level, uint32_t type, uint32_t thread, uint32_t request, uint64_t begin,
                 uint64_t end, uint64_t item)
{
    const struct layout *l = &api_layout;
    layout_init(l, rec);
    layout_put(l, API_LEVEL, rec, level);
    layout_put(l, API_TYPE, rec, type);
    layout_put(l, API_THREAD, rec, thread);
    layout_put(l, API_REQUEST, rec, request);
    layout_put(l, API_BEGIN, rec, begin);
    layout_put(l, API_END, rec, end);
    layout_put(l, API_ITEM, rec, item);
}

void record_head(uint8_t *rec, enum host_kind kind, uint32_t thread, uint64_t time)
{
    const struct host_kind_row *k = &host_kinds[kind];
    layout_init(k->layout, rec);
    layout_put(k->layout, HEAD_LEVEL, rec, k->level);
    layout_put(k->layout, HEAD_TYPE, rec, k->type);
    layout_put(k->layout, HEAD_THREAD, rec, thread);
    layout_put(k->layout, HEAD_DATA_LEN, rec, k->data_len);
    layout_put(k->layout, HEAD_TIME, rec, time);
}

void record_node(uint8_t *rec, const struct node *n)
{
    const struct layout *l = &node_basic_layout;
    layout_put(l, NODE_NAME, rec, n->name);
    layout_put(l, NODE_TASK_TYPE, rec, n->node_type);
    layout_put(l, NODE_OP_TYPE, rec, n->type);
    layout_put(l, NODE_BLOCKS, rec, n->blocks);
    layout_put(l, NODE_OP_FLAG, rec, n->flag);
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
    layout_put(l, HEAD_DATA_LEN, rec, 12 + n * TENSOR_BYTES);
    layout_put(l, TENSOR_OP_NAME, rec, name);
    layout_put(l, TENSOR_COUNT, rec, n);
    for (unsigned i = 0; i < n; i++)
        record_tensor(rec + TENSOR_FIRST + i * TENSOR_BYTES, &t[i]);
}

void record_track(uint8_t *rec, unsigned device, uint16_t stream, uint32_t task_and_batch, const struct sim_launch *l)
{
    const struct layout *t = &task_track_layout;
    const struct sim_task_kind *kind = &sim_task_kinds[l->kind];
    layout_put(t, TRACK_DEVICE, rec, device);
    layout_put(t, TRACK_STREAM, rec, stream);
    layout_put(t, TRACK_TASK, rec, task_and_batch);
    layout_put(t, TRACK_TYPE, rec, kind->track);
    if (l->kernel == 0)
        return;
    layout_put(t, HEAD_DATA_LEN, rec, TRACK_LEN_EXTENDED);
    layout_put(t, TRACK_KERNEL, rec, l->kernel);
    layout_put(&track_kernel_layout, EXT_BLOCKS, rec, l->blocks);
    layout_put(&track_kernel_layout, EXT_ARGS, rec, 64 + l->kernel % 16 * 8);
    layout_put(&track_kernel_layout, EXT_BITS, rec, kind->other_ratio);
}

void record_track_flip(uint8_t *rec, unsigned device, uint16_t stream, uint16_t batch)
{
    const struct layout *t = &task_track_layout;
    layout_put(t, TRACK_DEVICE, rec, device);
    layout_put(t, TRACK_STREAM, rec, stream);
    layout_put(t, TRACK_TASK, rec, (uint64_t)batch << 16);
    layout_put(t, TRACK_TYPE, rec, TRACK_TYPE_FLIP);
}

void record_memcpy(uint8_t *rec, uint64_t bytes, uint16_t direction)
{
    enum { LARGEST = 64 << 20 };
    layout_put(&memcpy_layout, MEMCPY_SIZE, rec, bytes);
    layout_put(&memcpy_layout, MEMCPY_LARGEST, rec, LARGEST);
    layout_put(&memcpy_layout, MEMCPY_DIRECTION, rec, direction);
}

void record_memory(uint8_t *rec, const struct memory_change *m)
{
    const struct layout *l = &task_memory_layout;
    layout_put(l, OP_MEM_ADDR, rec, m->address);
    layout_put(l, OP_MEM_SIZE, rec, m->is_release ? 0 - m->bytes : m->bytes);
    layout_put(l, OP_MEM_NAME, rec, m->name);
    layout_put(l, OP_MEM_ALLOCATED, rec, m->allocated);
    layout_put(l, OP_MEM_RESERVED, rec, m->reserved);
    layout_put(l, OP_MEM_DEVICE, rec, m->device);
}

void record_graph(uint8_t *rec, uint64_t name, uint32_t graph, uint32_t model)
{
    layout_put(&graph_id_layout, GRAPH_NAME, rec, name);
    layout_put(&graph_id_layout, GRAPH_ID, rec, graph);
    layout_put(&graph_id_layout, GRAPH_MODEL, rec, model);
}

void record_fusion(uint8_t *rec, const struct fused *f)
{
    const struct layout *l = &fusion_op_layout;
    layout_put(l, FUSION_NAME, rec, f->name);
    layout_put(l, FUSION_COUNT, rec, f->n);
    layout_put(l, FUSION_INPUT, rec, f->in);
    layout_put(l, FUSION_OUTPUT, rec, f->out);
    layout_put(l, FUSION_WEIGHT, rec, f->weight);
    layout_put(l, FUSION_WORKSPACE, rec, f->workspace);
    layout_put(l, FUSION_TOTAL, rec, f->in + f->out + f->weight + f->workspace);
    memcpy(rec + FUSION_FIRST, f->from, sizeof f->from);
}

void record_graph_memory(uint8_t *rec, const struct graph_memory *p)
{
    const struct layout *l = &static_op_mem_layout;
    layout_put(l, STATIC_MEM_SIZE, rec, p->bytes);
    layout_put(l, STATIC_MEM_NAME, rec, p->name);
    layout_put(l, STATIC_MEM_BEGIN, rec, p->begin);
    layout_put(l, STATIC_MEM_END, rec, p->end);
    layout_put(l, STATIC_MEM_ALLOCATED, rec, p->allocated);
    layout_put(l, STATIC_MEM_GRAPH, rec, p->graph);
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
    layout_put(l, HCCL_OP_FLAGS, rec, is_relayed);
    layout_put(l, HCCL_OP_DATA_TYPE, rec, data_type);
    layout_put(l, HCCL_OP_ALG, rec, alg);
    layout_put(l, HCCL_OP_COUNT, rec, count);
    layout_put(l, HCCL_OP_GROUP, rec, group);
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
    layout_put(l, STARS_HEAD, rec, func[s] | (number & 15) << 6 | (is_context ? 0 : (uint32_t)k->log << 10));
    layout_put(l, STARS_STREAM, rec, stream);
    layout_put(l, STARS_TASK, rec, task);
    layout_put(l, STARS_TICK, rec, tick);
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
    layout_put(l, TS_FLIP_TICK, rec, tick);
    layout_put(l, TS_FLIP_STREAM, rec, stream);
    layout_put(l, TS_FLIP_NUMBER, rec, batch);
}

void record_stamp(uint8_t *rec, const struct layout *l, const struct stamp *s)
{
    layout_init(l, rec);
    layout_put(l, STEP_TICK, rec, s->tick);
    layout_put(l, STEP_INDEX, rec, s->index);
    layout_put(l, STEP_MODEL, rec, s->model);
    layout_put(l, STEP_STREAM, rec, s->stream);
    layout_put(l, STEP_TASK, rec, s->task);
    layout_put(l, STEP_TAG, rec, s->tag);
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
    layout_put(l, PMU_STREAM, rec, c->stream);
    layout_put(l, PMU_TASK, rec, c->task);
    layout_put(l, PMU_SUB_TYPE, rec, kind->context != 0 ? kind->context : !c->is_cube);
    layout_put(l, PMU_FFTS_BITS, rec, c->bits);
    layout_put(l, PMU_CYCLES, rec, c->cycles);
    layout_put(l, PMU_BEGIN, rec, c->begin + inside);
    layout_put(l, PMU_END, rec, c->end - inside);
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
    layout_put(head, HEAD_LEVEL, rec, LEVEL_AICPU);
    layout_put(head, HEAD_THREAD, rec, 77);
    layout_put(head, HEAD_DATA_LEN, rec, 128);
    layout_put(head, HEAD_TIME, rec, run_begin);
    layout_put(l, AICPU_STREAM, rec, r->stream);
    layout_put(l, AICPU_TASK, rec, r->task);
    layout_put(l, AICPU_RUN_BEGIN, rec, run_begin);
    layout_put(l, AICPU_COMPUTE_US, rec, compute_us);
    layout_put(l, AICPU_MEMCPY_US, rec, copy_us);
    layout_put(l, AICPU_MEMCPY_END_US, rec, copy_us + r->copy_us);
    layout_put(l, AICPU_RUN_END, rec, run_end);
    layout_put(l, AICPU_THREAD, rec, 77);
    layout_put(l, AICPU_SUBMIT, rec, run_begin - 150);
    layout_put(l, AICPU_SCHEDULE, rec, run_begin - 100);
    layout_put(l, AICPU_BEFORE_RUN, rec, run_begin - 25);
    layout_put(l, AICPU_AFTER_RUN, rec, run_end + 20);
    layout_put(l, AICPU_KERNEL_TYPE, rec, 1);
    layout_put(l, AICPU_DISPATCH_US, rec, r->dispatch_us);
    layout_put(l, AICPU_TOTAL_US, rec, ticks / r->mhz);
}
