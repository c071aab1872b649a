/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/device/sim_tables.h"

#include <string.h>

#include "raw/host_records.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* clang-format off */
const struct sim_type sim_types[] = {
    { LEVEL_RUNTIME, 0, "KERNEL_AICORE" },
    { LEVEL_RUNTIME, 1, "KERNEL_AICPU" },
    { LEVEL_RUNTIME, 2, "EVENT_RECORD" },
    { LEVEL_RUNTIME, 3, "EVENT_WAIT" },
    { LEVEL_RUNTIME, 5, "MEMCPY_ASYNC" },
    { LEVEL_RUNTIME, 6, "MAINTENANCE" },
    { LEVEL_RUNTIME, 13, "MODEL_EXECUTE" },
    { LEVEL_RUNTIME, 14, "NOTIFY_WAIT" },
    { LEVEL_RUNTIME, 15, "NOTIFY_RECORD" },
    { LEVEL_RUNTIME, 25, "RDMA_DB_SEND" },
    { LEVEL_RUNTIME, 26, "PROFILER_TRACE_EX" },
    { LEVEL_RUNTIME, 50, "STARS_COMMON" },
    { LEVEL_RUNTIME, 66, "KERNEL_AIVEC" },
    { LEVEL_RUNTIME, 92, "REDUCE_ASYNC_V2" },
    { LEVEL_RUNTIME, 98, "FLIP_TASK" },
    { LEVEL_RUNTIME, 108, "KERNEL_MIX_AIC" },
    { LEVEL_RUNTIME, 109, "KERNEL_MIX_AIV" },
    { LEVEL_RUNTIME, TYPE_MEMCPY_INFO, "memcpy_info" },
    { LEVEL_RUNTIME, TYPE_TASK_TRACK, "task_track" },
    { LEVEL_RUNTIME, TYPE_CAPTURE_STREAM, "capture_stream_info" },
    { LEVEL_RUNTIME, TYPE_CAPTURED_OP, "capture_op_info" },
    { LEVEL_RUNTIME, TYPE_CALL_KERNEL, "KernelLaunch" },
    { LEVEL_RUNTIME, TYPE_CALL_LAUNCH, "LaunchKernelWithHostArgs" },
    { LEVEL_RUNTIME, TYPE_CALL_MEMCPY, "MemcpyAsync" },
    { LEVEL_RUNTIME, TYPE_CALL_EVENT_RECORD, "EventRecord" },
    { LEVEL_RUNTIME, TYPE_CALL_EVENT_WAIT, "StreamWaitEvent" },
    { LEVEL_RUNTIME, TYPE_CALL_SYNCHRONIZE, "StreamSynchronize" },
    { LEVEL_RUNTIME, TYPE_CALL_NOTIFY_RECORD, "NotifyRecord" },
    { LEVEL_RUNTIME, TYPE_CALL_NOTIFY_WAIT, "NotifyWait" },
    { LEVEL_RUNTIME, TYPE_CALL_REDUCE, "ReduceAsync" },
    { LEVEL_RUNTIME, TYPE_CALL_MODEL, "ModelExecute" },
    { LEVEL_RUNTIME, TYPE_CALL_CPU_KERNEL, "CpuKernelLaunchExWithArgs" },
    { LEVEL_RUNTIME, TYPE_CALL_STARS, "StarsTaskLaunch" },
    { LEVEL_RUNTIME, TYPE_CALL_RDMA, "RDMADBSend" },
    { LEVEL_RUNTIME, TYPE_CALL_TRACE, "ProfilerTraceEx" },
    { LEVEL_RUNTIME, TYPE_CALL_SET_DEVICE, "SetDevice" },
    { LEVEL_COMMUNICATION, TYPE_HCCL_INFO, "hccl_info" },
    { LEVEL_COMMUNICATION, TYPE_MASTER, "master" },
    { LEVEL_COMMUNICATION, TYPE_SLAVE, "slave" },
    { LEVEL_NODE, TYPE_NODE_BASIC, "node_basic_info" },
    { LEVEL_NODE, TYPE_TENSOR, "tensor_info" },
    { LEVEL_NODE, TYPE_FUSION_OP, "fusion_op_info" },
    { LEVEL_NODE, TYPE_CONTEXT_ID, "context_id_info" },
    { LEVEL_NODE, TYPE_LAUNCH, "launch" },
    { LEVEL_NODE, TYPE_TASK_MEMORY, "task_memory_info" },
    { LEVEL_NODE, TYPE_NODE_ATTR, "node_attr_info" },
    { LEVEL_NODE, TYPE_HCCL_OP, "hccl_op_info" },
    { LEVEL_NODE, TYPE_MC2, "mc2_comm_info" },
    { LEVEL_NODE, TYPE_STATIC_MEMORY, "static_op_mem" },
    { LEVEL_NODE, TYPE_MULTI_THREAD, "Multi_Thread" },
    { LEVEL_MODEL, TYPE_GRAPH_ID_MAP, "graph_id_map" },
    { LEVEL_MODEL, TYPE_MODEL_EXECUTE, "ModelExecute" },
    { LEVEL_MODEL, TYPE_MODEL_LOAD, "ModelLoad" },
    { LEVEL_MODEL, TYPE_LOGIC_STREAM, "logic_stream_info" },
    { LEVEL_MARK, 0, "msproftx" },
    { LEVEL_ACL, TYPE_ACL_SET_DEVICE, "aclrtSetDevice" },
    { LEVEL_ACL, TYPE_ACL_MEMCPY, "aclrtMemcpyAsync" },
    { LEVEL_ACL, TYPE_ACL_EVENT_RECORD, "aclrtRecordEvent" },
    { LEVEL_ACL, TYPE_ACL_EVENT_WAIT, "aclrtStreamWaitEvent" },
    { LEVEL_ACL, TYPE_ACL_SYNCHRONIZE, "aclrtSynchronizeStream" },
    { LEVEL_ACL, TYPE_ACL_MODEL_EXECUTE, "aclmdlExecute" },
    { LEVEL_ACL, TYPE_ACL_FUSED, "aclnnMatmulAllReduce" },
    { LEVEL_ACL, TYPE_ACL_GRAPH_EXECUTE, "aclmdlRIExecuteAsync" },
};
const size_t sim_n_types = COUNT(sim_types);

/* Types of nodes and of the device's log are those of prof-records, A.9 and B.8. */
const struct sim_task_kind sim_task_kinds[TASK_KINDS] = {
    [TASK_CUBE]          = { TYPE_CALL_LAUNCH, 0, 0, 0, 0, 0, 0, 0 },
    [TASK_VECTOR]        = { TYPE_CALL_LAUNCH, 66, 2, 2, 2, 1, 0, 0 },
    [TASK_MIX_CUBE]      = { TYPE_CALL_LAUNCH, 108, 4, 0, 0, 0, 6, 2 },
    [TASK_MIX_VECTOR]    = { TYPE_CALL_LAUNCH, 109, 5, 0, 2, 1, 7, 1 },
    [TASK_AICPU]         = { TYPE_CALL_CPU_KERNEL, 1, 1, 1, 1, 5, 0, 0 },
    [TASK_DSA]           = { TYPE_CALL_STARS, 50, 7, 15, 2, 1, 0, 0 },
    [TASK_COPY_PCIE]     = { TYPE_CALL_MEMCPY, 5, 11, 17, 9, 10, 0, 0 },
    [TASK_COPY_LOCAL]    = { TYPE_CALL_MEMCPY, 5, 11, 11, 9, 11, 0, 0 },
    [TASK_EVENT_RECORD]  = { TYPE_CALL_EVENT_RECORD, 2, 11, 4, 4, 6, 0, 0 },
    [TASK_EVENT_WAIT]    = { TYPE_CALL_EVENT_WAIT, 3, 11, 5, 5, 7, 0, 0 },
    [TASK_NOTIFY_RECORD] = { TYPE_CALL_NOTIFY_RECORD, 15, 11, 6, 6, 6, 0, 0 },
    [TASK_NOTIFY_WAIT]   = { TYPE_CALL_NOTIFY_WAIT, 14, 11, 7, 7, 7, 0, 0 },
    [TASK_RDMA_SEND]     = { TYPE_CALL_RDMA, 25, 11, 16, 8, 8, 0, 0 },
    [TASK_REDUCE]        = { TYPE_CALL_REDUCE, 92, 11, 11, 9, 11, 0, 0 },
    [TASK_TRACE]         = { TYPE_CALL_TRACE, 26, 11, 3, 3, 3, 0, 0 },
    [TASK_MODEL]         = { TYPE_CALL_MODEL, 13, 11, 3, 3, 3, 0, 0 },
    [TASK_AICPU_QUIET]   = { TYPE_CALL_CPU_KERNEL, 1, 1, 1, 1, 5, 0, 0 },
    [TASK_CCORE]         = { TYPE_CALL_STARS, 50, 11, 20, 8, 20, 0, 0 },
};

const struct sim_operator sim_operators[] = {
    { "aclnnMatmul", "MatMulV2", TASK_CUBE, SHAPE_MATMUL, 2, 1, 12, 15, 90 },
    { "aclnnMm", "MatMulV3", TASK_CUBE, SHAPE_MATMUL, 2, 1, 12, 15, 130 },
    { "aclnnBatchMatMul", "BatchMatMulV2", TASK_CUBE, SHAPE_BATCH_MATMUL, 2, 1, 6, 20, 80 },
    { "aclnnConvolution", "Conv2D", TASK_CUBE, SHAPE_CONV, 3, 1, 3, 20, 120 },
    { "aclnnAdd", "Add", TASK_VECTOR, SHAPE_BINARY, 2, 1, 12, 2, 12 },
    { "aclnnMul", "Mul", TASK_VECTOR, SHAPE_BINARY, 2, 1, 12, 2, 12 },
    { "aclnnCast", "Cast", TASK_VECTOR, SHAPE_CAST, 1, 1, 10, 2, 9 },
    { "aclnnPermute", "Transpose", TASK_VECTOR, SHAPE_UNARY, 1, 1, 8, 4, 20 },
    { "aclnnRmsNorm", "RmsNorm", TASK_VECTOR, SHAPE_BINARY, 2, 2, 6, 6, 25 },
    { "aclnnSoftmax", "SoftmaxV2", TASK_VECTOR, SHAPE_UNARY, 1, 1, 4, 8, 40 },
    { "aclnnSwiGlu", "Swiglu", TASK_VECTOR, SHAPE_UNARY, 1, 1, 4, 6, 30 },
    { "aclnnRotaryPositionEmbedding", "RotaryMul", TASK_VECTOR, SHAPE_BINARY, 3, 1, 4, 4, 16 },
    { "aclnnInplaceZero", "ZerosLike", TASK_VECTOR, SHAPE_UNARY, 1, 1, 5, 1, 5 },
    { "aclnnFlashAttentionScore", "FlashAttentionScore", TASK_MIX_CUBE, SHAPE_ATTENTION, 4, 3, 1, 80, 320 },
    { "aclnnFlashAttentionScoreGrad", "FlashAttentionScoreGrad", TASK_MIX_CUBE, SHAPE_ATTENTION, 8, 3, 1, 150, 600 },
    { "aclnnGroupedMatmul", "GroupedMatmul", TASK_MIX_CUBE, SHAPE_BATCH_MATMUL, 2, 1, 1, 60, 240 },
    { "aclnnMoeInitRouting", "MoeInitRouting", TASK_MIX_VECTOR, SHAPE_BINARY, 2, 2, 1, 20, 60 },
    { "aclnnDropoutGenMask", "DropOutDoMask", TASK_DSA, SHAPE_UNARY, 1, 1, 2, 4, 8 },
    { "aclnnIndexPutImpl", "IndexPutV2", TASK_AICPU, SHAPE_BINARY, 2, 1, 1, 40, 120 },
};
const size_t sim_n_operators = COUNT(sim_operators);

#define NONE UINT32_MAX
const struct sim_small sim_smalls[SMALL_KINDS] = {
    [SMALL_COPY]    = { "Memcpy", TASK_COPY_LOCAL, 0, 2, NONE, 1 },
    [SMALL_MOVE]    = { "Memcpy", TASK_COPY_LOCAL, 1, 0, NONE, 1 },
    [SMALL_RECORD]  = { "Notify_Record", TASK_NOTIFY_RECORD, 1, 0, NONE, 0 },
    [SMALL_WAIT]    = { "Notify_Wait", TASK_NOTIFY_WAIT, 1, 0, NONE, 0 },
    [SMALL_REDUCE]  = { "Reduce_Inline", TASK_REDUCE, 1, 0, NONE, 1 },
    [SMALL_PAYLOAD] = { "RDMASend", TASK_RDMA_SEND, 3, 1, 1, 1 },
    [SMALL_NOTIFY]  = { "RDMASend", TASK_RDMA_SEND, 3, 1, 0, 0 },
    [SMALL_CORE]    = { "CCore_Wait", TASK_CCORE, 0, 2, NONE, 0 },
};

/* The sends end as the reference expects when it computes a bandwidth over them: payload, notify, wait; collectives
 * between machines exchange one more pair of signals. */
const struct sim_collective sim_collectives[] = {
    [COLLECTIVE_ALL_REDUCE] = { "HcclAllReduce", "hcom_allReduce_", 4, 4, { SMALL_RECORD, SMALL_WAIT, SMALL_REDUCE, SMALL_COPY } },
    [COLLECTIVE_ALL_GATHER] = { "HcclAllGather", "hcom_allGather_", 3, 3, { SMALL_RECORD, SMALL_WAIT, SMALL_COPY } },
    [COLLECTIVE_REDUCE_SCATTER] = { "HcclReduceScatter", "hcom_reduceScatter_", 3, 3, { SMALL_RECORD, SMALL_WAIT, SMALL_REDUCE } },
    [COLLECTIVE_BROADCAST] = { "HcclBroadcast", "hcom_broadcast_", 1, 3, { SMALL_RECORD, SMALL_WAIT, SMALL_COPY } },
    [COLLECTIVE_SEND] = { "HcclSend", "hcom_send_", 1, 4, { SMALL_WAIT, SMALL_PAYLOAD, SMALL_NOTIFY, SMALL_WAIT } },
    [COLLECTIVE_ALL_TO_ALL] = { "HcclAlltoAll", "hcom_alltoall_", 1, 7,
      { SMALL_NOTIFY, SMALL_WAIT, SMALL_PAYLOAD, SMALL_NOTIFY, SMALL_WAIT, SMALL_NOTIFY, SMALL_WAIT } },
    [COLLECTIVE_RECEIVE] = { "HcclRecv", "hcom_receive_", 0, 3, { SMALL_NOTIFY, SMALL_WAIT, SMALL_NOTIFY } },
    { "HcclReduce", "hcom_reduce_", 0, 3, { SMALL_RECORD, SMALL_WAIT, SMALL_REDUCE } },
    { "HcclScatter", "hcom_scatter_", 0, 3, { SMALL_RECORD, SMALL_WAIT, SMALL_COPY } },
};
const size_t sim_n_collectives = COUNT(sim_collectives);
/* clang-format on */

enum task_kind sim_kind_on(const struct chip *c, enum task_kind kind)
{
    if (c->group == ON_A2)
        return kind;
    if (kind == TASK_MIX_VECTOR || kind == TASK_DSA)
        kind = TASK_VECTOR;
    if (kind == TASK_MIX_CUBE || (kind == TASK_VECTOR && c->n_vector == 0))
        kind = TASK_CUBE;
    return kind;
}
