#include "device/sim_run.h"

#include <stdio.h>
#include <string.h>

#include "raw/host.h"

/* clang-format off */
static const struct {
    const char *family;
    const struct layout *layout; /* NULL: text */
    uint16_t level;
    uint32_t type, data_len;
} files[HOST_FILES] = {
    [HOST_CALL]         = { "aging.api_event.data", &api_layout, 0, 0, 0 },
    [HOST_CALL_ONCE]    = { "unaging.api_event.data", &api_layout, 0, 0, 0 },
    [HOST_NODE]         = { "aging.compact.node_basic_info", &node_basic_layout, LEVEL_NODE, TYPE_NODE_BASIC, 28 },
    [HOST_NODE_ONCE]    = { "unaging.compact.node_basic_info", &node_basic_layout, LEVEL_NODE, TYPE_NODE_BASIC, 28 },
    [HOST_ATTR]         = { "aging.compact.node_attr_info", &node_attr_layout, LEVEL_NODE, TYPE_NODE_ATTR, 20 },
    [HOST_TRACK]        = { "aging.compact.task_track", &task_track_layout, LEVEL_RUNTIME, TYPE_TASK_TRACK, 24 },
    [HOST_TRACK_ONCE]   = { "unaging.compact.task_track", &task_track_layout, LEVEL_RUNTIME, TYPE_TASK_TRACK, 24 },
    [HOST_MEMCPY]       = { "aging.compact.memcpy_info", &memcpy_layout, LEVEL_RUNTIME, TYPE_MEMCPY_INFO, 18 },
    [HOST_HCCL_OP]      = { "aging.compact.hccl_op_info", &hccl_op_layout, LEVEL_NODE, TYPE_HCCL_OP, 26 },
    [HOST_CAPTURE_ONCE] = { "unaging.compact.capture_stream_info", &capture_stream_layout, LEVEL_RUNTIME,
                            TYPE_CAPTURE_STREAM, 10 },
    [HOST_CAPTURED_ONCE] = { "unaging.variable.capture_op_info", &captured_op_variable_layout, LEVEL_RUNTIME,
                             TYPE_CAPTURED_OP, 0 },
    [HOST_TENSOR]       = { "aging.additional.tensor_info", &tensor_layout, LEVEL_NODE, TYPE_TENSOR, 0 },
    [HOST_TENSOR_ONCE]  = { "unaging.additional.tensor_info", &tensor_layout, LEVEL_NODE, TYPE_TENSOR, 0 },
    [HOST_CONTEXT]      = { "aging.additional.context_id_info", &context_id_layout, LEVEL_NODE, TYPE_CONTEXT_ID, 16 },
    [HOST_HCCL]         = { "aging.additional.hccl_info", &hccl_info_layout, LEVEL_COMMUNICATION, TYPE_HCCL_INFO, 120 },
    [HOST_MC2]          = { "aging.additional.mc2_comm_info", &mc2_comm_layout, LEVEL_NODE, TYPE_MC2, 60 },
    [HOST_MARK]         = { "aging.additional.msproftx", &mark_layout, LEVEL_MARK, 0, 232 },
    [HOST_MEMORY]       = { "aging.additional.task_memory_info", &task_memory_layout, LEVEL_NODE, TYPE_TASK_MEMORY,
                            48 },
    [HOST_THREADS]      = { "aging.additional.Multi_Thread", &multi_thread_layout, LEVEL_NODE, TYPE_MULTI_THREAD, 0 },
    [HOST_FUSION_ONCE]  = { "unaging.additional.fusion_op_info", &fusion_op_layout, LEVEL_NODE, TYPE_FUSION_OP, 116 },
    [HOST_GRAPH_ONCE]   = { "unaging.additional.graph_id_map", &graph_id_layout, LEVEL_MODEL, TYPE_GRAPH_ID_MAP, 16 },
    [HOST_STATIC_MEMORY_ONCE] = { "unaging.additional.static_op_mem", &static_op_mem_layout, LEVEL_NODE,
                                  TYPE_STATIC_MEMORY, 52 },
    [HOST_LOGIC_ONCE]   = { "unaging.additional.logic_stream_info", &logic_stream_layout, LEVEL_MODEL,
                            TYPE_LOGIC_STREAM, 12 },
    [HOST_NAMES]        = { "unaging.additional.hash_dic", NULL, 0, 0, 0 },
    [HOST_TYPES]        = { "unaging.additional.type_info_dic", NULL, 0, 0, 0 },
};
/* clang-format on */

/* The collectors' own hash: two sums over the bytes, side by side. */
uint64_t name_hash(const char *text)
{
    uint32_t high = 0, low = 0;
    for (const char *c = text; *c; c++) {
        const uint32_t value = (uint32_t)(signed char)*c;
        high = high * 29 + value;
        low = low * 131 + value;
    }
    return (uint64_t)high << 32 | low;
}

uint64_t host_name(struct sim_process *p, const char *text)
{
    const uint64_t hash = name_hash(text);
    slices_text(&p->host[HOST_NAMES], "%llu:%s\n", (unsigned long long)hash, text);
    return hash;
}

static void operator_names(struct sim_process *p)
{
    for (size_t i = 0; i < sim_n_operators; i++) {
        const struct sim_operator *op = &sim_operators[i];
        const char *const on = op->kind == TASK_AICPU ? "" : "AiCore";
        char text[160];
        p->operator_name[i].call = host_name(p, op->call);
        p->operator_name[i].type = host_name(p, op->type);
        snprintf(text, sizeof text, "%s_%s%s_%s", op->call, op->type, on, op->type);
        p->operator_name[i].name = host_name(p, text);
        snprintf(text, sizeof text, "te_%s_%08x", op->type, (unsigned)(i * 0x9E3779B1));
        for (char *c = text; *c; c++)
            *c = (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
        p->operator_name[i].kernel = host_name(p, text);
    }
}

static void type_names(struct sim_process *p)
{
    struct slices *s = &p->host[HOST_TYPES];
    for (size_t i = 0; i < sim_n_types; i++)
        slices_text(s, "%u_%u:%s\n", sim_types[i].level, sim_types[i].type, sim_types[i].name);
    for (unsigned i = 0; i < sim_n_operators; i++) {
        slices_text(s, "%d_%u:%sGetWorkspaceSize\n", LEVEL_ACL, TYPE_ACL_OPERATOR + 2 * i, sim_operators[i].call);
        slices_text(s, "%d_%u:%s\n", LEVEL_ACL, TYPE_ACL_OPERATOR + 2 * i + 1, sim_operators[i].call);
    }
    for (unsigned i = 0; i < sim_n_collectives; i++) {
        slices_text(s, "%d_%u:%s\n", LEVEL_ACL, TYPE_ACL_COLLECTIVE + i, sim_collectives[i].call);
        slices_text(s, "%d_%u:%s\n", LEVEL_NODE, TYPE_COLLECTIVE + i, sim_collectives[i].node);
    }
}

void host_open(struct sim_process *p)
{
    folder_create(&p->writer, FOLDER_HOST);
    for (size_t i = 0; i < HOST_FILES; i++)
        slices_init(&p->host[i], &p->writer, FOLDER_HOST, files[i].family, CUT_BETWEEN);
    operator_names(p);
    type_names(p);
    for (size_t i = 0; i < SMALL_KINDS; i++) {
        const bool is_first = i == 0 || strcmp(sim_smalls[i].name, sim_smalls[i - 1].name) != 0;
        p->small_name[i] = is_first ? host_name(p, sim_smalls[i].name) : name_hash(sim_smalls[i].name);
    }
    for (size_t i = 0; i < sim_n_collectives; i++)
        host_name(p, sim_collectives[i].node);
    p->group_name = host_name(p, "hccl_world_group");
    p->kfc_name[0] = host_name(p, "allReduceAicpuKernel");
    p->kfc_name[1] = host_name(p, "MatmulAllReduceAicpuKernel");
    p->kfc_group_name = host_name(p, "hccl_dp_group");
    host_name(p, "mc2_tp_group");
    p->alg_name = host_name(p, "MESH-RING-NHR");
    p->domain_name = host_name(p, "train");
    p->attr_name[0] = host_name(p, "transpose_x1:0;transpose_x2:0");
    p->attr_name[1] = host_name(p, "transpose_x1:0;transpose_x2:1");
}

void host_close(struct sim_process *p)
{
    for (size_t i = 0; i < HOST_FILES; i++)
        slices_fini(&p->host[i]);
}

static void call_put(struct sim_process *p, enum host_file f, uint16_t level, uint32_t type, uint32_t thread,
                     uint32_t request, uint64_t begin, uint64_t end, uint64_t item)
{
    const struct layout *l = &api_layout;
    uint8_t *rec = slices_record(&p->host[f], l);
    layout_put(l, API_LEVEL, rec, level);
    layout_put(l, API_TYPE, rec, type);
    layout_put(l, API_THREAD, rec, thread);
    layout_put(l, API_REQUEST, rec, request);
    layout_put(l, API_BEGIN, rec, begin);
    layout_put(l, API_END, rec, end);
    layout_put(l, API_ITEM, rec, item);
}

void host_call(struct sim_process *p, enum host_file f, uint16_t level, uint32_t type, uint32_t thread, uint64_t begin,
               uint64_t end, uint64_t item)
{
    call_put(p, f, level, type, thread, 0, begin, end, item);
}

void host_event(struct sim_process *p, enum host_file f, uint16_t level, uint32_t type, uint32_t thread,
                uint32_t request, uint64_t time, uint64_t item)
{
    call_put(p, f, level, type, thread, request, time, UINT64_MAX, item);
}

uint8_t *host_record(struct sim_process *p, enum host_file f, uint32_t thread, uint64_t time)
{
    return host_record_of(p, f, thread, time, files[f].layout->size);
}

uint8_t *host_record_of(struct sim_process *p, enum host_file f, uint32_t thread, uint64_t time, size_t bytes)
{
    const struct layout *l = files[f].layout;
    uint8_t *rec = slices_take(&p->host[f], bytes);
    memset(rec, 0, bytes);
    layout_init(l, rec);
    layout_put(l, HEAD_LEVEL, rec, files[f].level);
    layout_put(l, HEAD_TYPE, rec, files[f].type);
    layout_put(l, HEAD_THREAD, rec, thread);
    layout_put(l, HEAD_DATA_LEN, rec, files[f].data_len);
    layout_put(l, HEAD_TIME, rec, time);
    return rec;
}

void host_track(struct sim_device *d, enum host_file f, uint32_t thread, uint64_t time, enum sim_stream stream,
                uint16_t task, const struct launch *l)
{
    const struct layout *t = &task_track_layout;
    const struct sim_task_kind *kind = &sim_task_kinds[l->kind];
    uint8_t *rec = host_record(d->of, f, thread, time);
    layout_put(t, TRACK_DEVICE, rec, (uint64_t)d->id);
    layout_put(t, TRACK_STREAM, rec, d->stream[stream].id);
    layout_put(t, TRACK_TASK, rec, track_task(d, stream, task) | (uint64_t)d->stream[stream].batch << 16);
    layout_put(t, TRACK_TYPE, rec, kind->track);
    if (l->kernel == 0)
        return;
    layout_put(t, HEAD_DATA_LEN, rec, TRACK_LEN_EXTENDED);
    layout_put(t, TRACK_KERNEL, rec, l->kernel);
    layout_put(&track_kernel_layout, EXT_BLOCKS, rec, l->blocks);
    layout_put(&track_kernel_layout, EXT_ARGS, rec, 64 + l->kernel % 16 * 8);
    layout_put(&track_kernel_layout, EXT_BITS, rec, kind->other_ratio);
}

void host_put32(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof value);
}
