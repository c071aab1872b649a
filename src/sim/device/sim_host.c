/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/device/sim_device.h"

#include <stdio.h>
#include <string.h>

#include "sim/framework/sim_ms.h"
#include "sim/job/generate.h"
#include "sim/job/sim_job_run.h"

/* clang-format off */
static const struct {
    const char *family;
    enum host_kind kind;
} files[HOST_FILES] = {
    [HOST_CALL]          = { "aging.api_event.data", KIND_CALL },
    [HOST_CALL_ONCE]     = { "unaging.api_event.data", KIND_CALL },
    [HOST_NODE]          = { "aging.compact.node_basic_info", KIND_NODE },
    [HOST_NODE_ONCE]     = { "unaging.compact.node_basic_info", KIND_NODE },
    [HOST_ATTR]          = { "aging.compact.node_attr_info", KIND_ATTR },
    [HOST_TRACK]         = { "aging.compact.task_track", KIND_TRACK },
    [HOST_TRACK_ONCE]    = { "unaging.compact.task_track", KIND_TRACK },
    [HOST_MEMCPY]        = { "aging.compact.memcpy_info", KIND_MEMCPY },
    [HOST_HCCL_OP]       = { "aging.compact.hccl_op_info", KIND_HCCL_OP },
    [HOST_CAPTURE_ONCE]  = { "unaging.compact.capture_stream_info", KIND_CAPTURE },
    [HOST_CAPTURED_ONCE] = { "unaging.variable.capture_op_info", KIND_CAPTURED },
    [HOST_TENSOR]        = { "aging.additional.tensor_info", KIND_TENSOR },
    [HOST_TENSOR_ONCE]   = { "unaging.additional.tensor_info", KIND_TENSOR },
    [HOST_CONTEXT]       = { "aging.additional.context_id_info", KIND_CONTEXT },
    [HOST_HCCL]          = { "aging.additional.hccl_info", KIND_HCCL },
    [HOST_MC2]           = { "aging.additional.mc2_comm_info", KIND_MC2 },
    [HOST_MARK]          = { "aging.additional.msproftx", KIND_MARK },
    [HOST_MEMORY]        = { "aging.additional.task_memory_info", KIND_MEMORY },
    [HOST_THREADS]       = { "aging.additional.Multi_Thread", KIND_THREADS },
    [HOST_FUSION_ONCE]   = { "unaging.additional.fusion_op_info", KIND_FUSION },
    [HOST_GRAPH_ONCE]    = { "unaging.additional.graph_id_map", KIND_GRAPH },
    [HOST_STATIC_MEMORY_ONCE] = { "unaging.additional.static_op_mem", KIND_STATIC_MEMORY },
    [HOST_LOGIC_ONCE]    = { "unaging.additional.logic_stream_info", KIND_LOGIC },
    [HOST_NAMES]         = { "unaging.additional.hash_dic", KIND_TEXT },
    [HOST_TYPES]         = { "unaging.additional.type_info_dic", KIND_TEXT },
};
/* clang-format on */

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
        if (p->o->framework == SIM_MINDSPORE && p->o->jit != SIM_EAGER)
            ms_graph_name(i, text, sizeof text);
        else
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
    for (unsigned i = 0; i < sim_n_collectives && (p->job || sim_collectives[i].weight > 0); i++) {
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
    for (size_t i = 0; i < sim_n_collectives && (p->job || sim_collectives[i].weight > 0); i++)
        host_name(p, sim_collectives[i].node);
    if (p->job)
        job_names_write(p);
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

void host_call(struct sim_process *p, enum host_file f, uint16_t level, uint32_t type, uint32_t thread, uint64_t begin,
               uint64_t end, uint64_t item)
{
    record_call(slices_take(&p->host[f], api_layout.size), level, type, thread, 0, begin, end, item);
}

void host_event(struct sim_process *p, enum host_file f, uint16_t level, uint32_t type, uint32_t thread,
                uint32_t request, uint64_t time, uint64_t item)
{
    record_call(slices_take(&p->host[f], api_layout.size), level, type, thread, request, time, UINT64_MAX, item);
}

uint8_t *host_record(struct sim_process *p, enum host_file f, uint32_t thread, uint64_t time)
{
    return host_record_of(p, f, thread, time, host_kinds[files[f].kind].layout->size);
}

uint8_t *host_record_of(struct sim_process *p, enum host_file f, uint32_t thread, uint64_t time, size_t bytes)
{
    uint8_t *rec = slices_take(&p->host[f], bytes);
    memset(rec, 0, bytes);
    record_head(rec, files[f].kind, thread, time);
    return rec;
}

void host_track(struct sim_device *d, enum host_file f, uint32_t thread, uint64_t time, enum sim_stream stream,
                uint16_t task, const struct sim_launch *l)
{
    const struct device_stream *s = &d->stream[stream];
    record_track(host_record(d->of, f, thread, time), (unsigned)d->id, s->id,
                 track_task(d, stream, task) | (uint32_t)s->batch << 16, l);
}

void host_put32(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof value);
}
