/* SPDX-License-Identifier: Apache-2.0 */
#include "raw/host_records.h"

#define MAGIC_5A5A                                                                                                     \
    {                                                                                                                  \
        0, W16, 0xFFFF, 0x5A5A                                                                                         \
    }
#define HEAD                                                                                                           \
    [HEAD_LEVEL] = { 2, W16, "level" }, [HEAD_TYPE] = { 4, W32, "type" }, [HEAD_THREAD] = { 8, W32, "thread" },        \
    [HEAD_DATA_LEN] = { 12, W32, "data_len" }, [HEAD_TIME] = { 16, W64, "time" }

const struct layout api_layout = {
    .name = "api_event", .size = 40, .magic = MAGIC_5A5A, .n = API_FIELDS,
    .field = {
        [API_LEVEL] = { 2, W16, "level" },
        [API_TYPE] = { 4, W32, "type" },
        [API_THREAD] = { 8, W32, "thread" },
        [API_REQUEST] = { 12, W32, "request" },
        [API_BEGIN] = { 16, W64, "begin" },
        [API_END] = { 24, W64, "end" },
        [API_ITEM] = { 32, W64, "item" },
    },
};

const struct layout node_basic_layout = {
    .name = "node_basic_info", .size = 64, .magic = MAGIC_5A5A, .n = NODE_FIELDS,
    .field = {
        HEAD,
        [NODE_NAME] = { 24, W64, "op_name" },
        [NODE_TASK_TYPE] = { 32, W32, "task_type" },
        [NODE_OP_TYPE] = { 36, W64, "op_type" },
        [NODE_BLOCKS] = { 44, W32, "block_num" },
        [NODE_OP_FLAG] = { 48, W32, "op_flag" },
    },
};

const struct layout node_attr_layout = {
    .name = "node_attr_info", .size = 64, .magic = MAGIC_5A5A, .n = ATTR_FIELDS,
    .field = {
        HEAD,
        [ATTR_NAME] = { 24, W64, "op_name" },
        [ATTR_TYPE] = { 32, W32, "attr_type" },
        [ATTR_TEXT] = { 36, W64, "attr" },
    },
};

const struct layout task_track_layout = {
    .name = "task_track", .size = 64, .magic = MAGIC_5A5A, .keeps_rest = true, .n = TRACK_FIELDS,
    .field = {
        HEAD,
        [TRACK_DEVICE] = { 24, W16, "device" },
        [TRACK_STREAM] = { 26, W16, "stream" },
        [TRACK_TASK] = { 28, W32, "task" },
        [TRACK_TYPE] = { 32, W64, "task_type" },
        [TRACK_KERNEL] = { 40, W64, "kernel_name" },
    },
};

const struct layout track_kernel_layout = {
    .name = "task_track_kernel", .size = 64, .magic = MAGIC_5A5A, .n = EXT_FIELDS,
    .field = {
        [EXT_BLOCKS] = { 48, W16, "blocks" },
        [EXT_ARGS] = { 50, W16, "args_bytes" },
        [EXT_BITS] = { 52, W8, "bits" },
    },
};

const struct layout track_simt_layout = {
    .name = "task_track_simt", .size = 64, .magic = MAGIC_5A5A, .n = SIMT_FIELDS,
    .field = {
        [SIMT_GRID_X] = { 48, W16, "grid_x" },
        [SIMT_GRID_Y] = { 50, W16, "grid_y" },
        [SIMT_GRID_Z] = { 52, W16, "grid_z" },
        [SIMT_BLOCK_X] = { 54, W16, "block_x" },
        [SIMT_BLOCK_Y] = { 56, W16, "block_y" },
        [SIMT_BLOCK_Z] = { 58, W16, "block_z" },
    },
};

const struct layout memcpy_layout = {
    .name = "memcpy_info", .size = 64, .magic = MAGIC_5A5A, .n = MEMCPY_FIELDS,
    .field = {
        HEAD,
        [MEMCPY_SIZE] = { 24, W64, "size" },
        [MEMCPY_LARGEST] = { 32, W64, "largest" },
        [MEMCPY_DIRECTION] = { 40, W16, "direction" },
        [MEMCPY_KIND] = { 32, W16, "kind" },
        [MEMCPY_DEVICE] = { 34, W16, "device" },
        [MEMCPY_STREAM] = { 36, W32, "stream" },
    },
};

const struct layout hccl_op_layout = {
    .name = "hccl_op_info", .size = 64, .magic = MAGIC_5A5A, .n = HCCL_OP_FIELDS,
    .field = {
        HEAD,
        [HCCL_OP_FLAGS] = { 24, W8, "flags" },
        [HCCL_OP_DATA_TYPE] = { 25, W8, "data_type" },
        [HCCL_OP_ALG] = { 26, W64, "alg_type" },
        [HCCL_OP_COUNT] = { 34, W64, "count" },
        [HCCL_OP_GROUP] = { 42, W64, "group" },
    },
};

const struct layout capture_stream_layout = {
    .name = "capture_stream_info", .size = 64, .magic = MAGIC_5A5A, .n = CAPTURE_FIELDS,
    .field = {
        HEAD,
        [CAPTURE_STATUS] = { 24, W16, "status" },
        [CAPTURE_MODEL_STREAM] = { 26, W16, "model_stream" },
        [CAPTURE_ORIGINAL_STREAM] = { 28, W16, "original_stream" },
        [CAPTURE_MODEL] = { 30, W16, "model" },
        [CAPTURE_DEVICE] = { 32, W16, "device" },
    },
};

const struct layout expand_stream_layout = {
    .name = "expand_stream_spec",
    .size = 64,
    .magic = MAGIC_5A5A,
    .n = EXPAND_FIELDS,
    .field = { HEAD, [EXPAND_STATUS] = { 24, W8, "status" } },
};

const struct layout dpu_track_layout = {
    .name = "dpu_track", .size = 64, .magic = MAGIC_5A5A, .n = DPU_FIELDS,
    .field = {
        HEAD,
        [DPU_DEVICE] = { 24, W16, "device" },
        [DPU_STREAM] = { 26, W16, "stream" },
        [DPU_TASK] = { 28, W32, "task" },
        [DPU_TYPE] = { 32, W32, "task_type" },
        [DPU_START] = { 40, W64, "start" },
    },
};

const struct layout tensor_layout = {
    .name = "tensor_info",
    .size = 256,
    .magic = MAGIC_5A5A,
    .keeps_rest = true,
    .n = TENSOR_FIELDS,
    .field = { HEAD, [TENSOR_OP_NAME] = { 24, W64, "op_name" }, [TENSOR_COUNT] = { 32, W32, "count" } },
};

const struct layout context_id_layout = {
    .name = "context_id_info",
    .size = 256,
    .magic = MAGIC_5A5A,
    .keeps_rest = true,
    .n = CONTEXT_FIELDS,
    .field = { HEAD, [CONTEXT_OP_NAME] = { 24, W64, "op_name" }, [CONTEXT_COUNT] = { 32, W32, "count" } },
};

const struct layout fusion_op_layout = {
    .name = "fusion_op_info", .size = 256, .magic = MAGIC_5A5A, .keeps_rest = true, .n = FUSION_FIELDS,
    .field = {
        HEAD,
        [FUSION_NAME] = { 24, W64, "op_name" },
        [FUSION_COUNT] = { 32, W32, "count" },
        [FUSION_INPUT] = { 36, W64, "input_bytes" },
        [FUSION_OUTPUT] = { 44, W64, "output_bytes" },
        [FUSION_WEIGHT] = { 52, W64, "weight_bytes" },
        [FUSION_WORKSPACE] = { 60, W64, "workspace_bytes" },
        [FUSION_TOTAL] = { 68, W64, "total_bytes" },
    },
};

const struct layout graph_id_layout = {
    .name = "graph_id_map", .size = 256, .magic = MAGIC_5A5A, .n = GRAPH_FIELDS,
    .field = {
        HEAD,
        [GRAPH_NAME] = { 24, W64, "model_name" },
        [GRAPH_ID] = { 32, W32, "graph" },
        [GRAPH_MODEL] = { 36, W32, "model" },
    },
};

const struct layout hccl_info_layout = {
    .name = "hccl_info", .size = 256, .magic = MAGIC_5A5A, .n = HCCL_FIELDS,
    .field = {
        HEAD,
        [HCCL_ITEM] = { 24, W64, "item" },
        [HCCL_TAG] = { 32, W64, "tag" },
        [HCCL_GROUP] = { 40, W64, "group" },
        [HCCL_LOCAL_RANK] = { 48, W32, "local_rank" },
        [HCCL_REMOTE_RANK] = { 52, W32, "remote_rank" },
        [HCCL_RANK_SIZE] = { 56, W32, "rank_size" },
        [HCCL_WORKFLOW] = { 60, W32, "workflow" },
        [HCCL_PLANE] = { 64, W32, "plane" },
        [HCCL_CONTEXT] = { 68, W32, "context" },
        [HCCL_NOTIFY] = { 72, W64, "notify" },
        [HCCL_STAGE] = { 80, W32, "stage" },
        [HCCL_ROLE] = { 84, W32, "role" },
        [HCCL_ESTIMATE] = { 88, W64, "estimate_us" },
        [HCCL_SRC] = { 96, W64, "src" },
        [HCCL_DST] = { 104, W64, "dst" },
        [HCCL_SIZE] = { 112, W64, "size" },
        [HCCL_OP_TYPE] = { 120, W32, "op_type" },
        [HCCL_DATA_TYPE] = { 124, W32, "data_type" },
        [HCCL_LINK] = { 128, W32, "link" },
        [HCCL_TRANSPORT] = { 132, W32, "transport" },
        [HCCL_RDMA] = { 136, W32, "rdma" },
    },
};

const struct layout dpu_hccl_layout = {
    .name = "dpu_hccl_info", .size = 256, .magic = MAGIC_5A5A, .keeps_rest = true, .n = DPU_HCCL_FIELDS,
    .field = {
        HEAD,
        [DPU_HCCL_ITEM] = { 24, W64, "item" },
        [DPU_HCCL_GROUP] = { 40, W64, "group" },
        [DPU_HCCL_LOCAL_RANK] = { 48, W32, "local_rank" },
        [DPU_HCCL_REMOTE_RANK] = { 52, W32, "remote_rank" },
        [DPU_HCCL_RANK_SIZE] = { 56, W32, "rank_size" },
        [DPU_HCCL_NOTIFY] = { 64, W64, "notify" },
        [DPU_HCCL_START] = { 72, W64, "start" },
        [DPU_HCCL_ESTIMATE] = { 80, W64, "estimate_us" },
        [DPU_HCCL_SIZE] = { 104, W64, "size" },
        [DPU_HCCL_TASK] = { 112, W32, "task" },
        [DPU_HCCL_AICPU_TASK] = { 116, W32, "aicpu_task" },
        [DPU_HCCL_STREAM] = { 120, W16, "stream" },
        [DPU_HCCL_PLANE] = { 122, W16, "plane" },
        [DPU_HCCL_NPU] = { 124, W16, "npu" },
        [DPU_HCCL_DPU] = { 126, W16, "dpu" },
        [DPU_HCCL_OP_TYPE] = { 128, W8, "op_type" },
        [DPU_HCCL_DATA_TYPE] = { 129, W8, "data_type" },
        [DPU_HCCL_LINK] = { 130, W8, "link" },
        [DPU_HCCL_TRANSPORT] = { 131, W8, "transport" },
        [DPU_HCCL_RDMA] = { 132, W8, "rdma" },
        [DPU_HCCL_ROLE] = { 133, W8, "role" },
        [DPU_HCCL_WORKFLOW] = { 134, W8, "work_flow_mode" },
        [DPU_HCCL_TAG] = { 32, W64, "ccl_tag" },
        [DPU_HCCL_STAGE] = { 60, W32, "stage" },
    },
};

const struct layout mark_layout = {
    .name = "msproftx", .size = 256, .magic = MAGIC_5A5A, .keeps_rest = true, .n = MARK_FIELDS,
    .field = {
        HEAD,
        [MARK_INFO] = { 24, W16, "info_type" },
        [MARK_SEGMENT] = { 26, W16, "segment" },
        [MARK_PROCESS] = { 36, W32, "process" },
        [MARK_THREAD] = { 40, W32, "mark_thread" },
        [MARK_CATEGORY] = { 44, W32, "category" },
        [MARK_EVENT] = { 48, W32, "event_type" },
        [MARK_PAYLOAD_TYPE] = { 52, W32, "payload_type" },
        [MARK_PAYLOAD] = { 56, W64, "payload" },
        [MARK_BEGIN] = { 64, W64, "begin" },
        [MARK_END] = { 72, W64, "end" },
        [MARK_ID] = { 80, W64, "mark_id" },
        [MARK_DOMAIN] = { 88, W64, "domain" },
        [MARK_MESSAGE_TYPE] = { 96, W32, "message_type" },
    },
};

const struct layout task_memory_layout = {
    .name = "task_memory_info", .size = 256, .magic = MAGIC_5A5A, .n = OP_MEM_FIELDS,
    .field = {
        HEAD,
        [OP_MEM_ADDR] = { 24, W64, "addr" },
        [OP_MEM_SIZE] = { 32, W64, "size" },
        [OP_MEM_NAME] = { 40, W64, "op_name" },
        [OP_MEM_ALLOCATED] = { 48, W64, "total_allocated" },
        [OP_MEM_RESERVED] = { 56, W64, "total_reserved" },
        [OP_MEM_DEVICE] = { 64, W32, "device" },
        [OP_MEM_DEVICE_TYPE] = { 68, W32, "device_type" },
    },
};

const struct layout static_op_mem_layout = {
    .name = "static_op_mem", .size = 256, .magic = MAGIC_5A5A, .n = STATIC_MEM_FIELDS,
    .field = {
        HEAD,
        [STATIC_MEM_SIZE] = { 24, W64, "size" },
        [STATIC_MEM_NAME] = { 32, W64, "op_name" },
        [STATIC_MEM_BEGIN] = { 40, W64, "life_begin" },
        [STATIC_MEM_END] = { 48, W64, "life_end" },
        [STATIC_MEM_ALLOCATED] = { 56, W64, "total_allocated" },
        [STATIC_MEM_DYNAMIC_NAME] = { 64, W64, "dynamic_name" },
        [STATIC_MEM_GRAPH] = { 72, W32, "graph" },
    },
};

const struct layout logic_stream_layout = {
    .name = "logic_stream_info",
    .size = 256,
    .magic = MAGIC_5A5A,
    .keeps_rest = true,
    .n = LOGIC_FIELDS,
    .field = { HEAD, [LOGIC_STREAM] = { 24, W32, "logic_stream" }, [LOGIC_COUNT] = { 28, W32, "count" } },
};

const struct layout mc2_comm_layout = {
    .name = "mc2_comm_info", .size = 256, .magic = MAGIC_5A5A, .keeps_rest = true, .n = MC2_FIELDS,
    .field = {
        HEAD,
        [MC2_GROUP] = { 24, W64, "group" },
        [MC2_RANK_SIZE] = { 32, W32, "rank_size" },
        [MC2_RANK] = { 36, W32, "rank" },
        [MC2_USER_RANK] = { 40, W32, "user_rank" },
        [MC2_KFC_STREAM] = { 44, W32, "kfc_stream" },
        [MC2_STREAM_COUNT] = { 48, W32, "stream_count" },
    },
};

const struct layout multi_thread_layout = {
    .name = "Multi_Thread",
    .size = 256,
    .magic = MAGIC_5A5A,
    .keeps_rest = true,
    .n = THREADS_FIELDS,
    .field = { HEAD, [THREADS_COUNT] = { 24, W32, "count" } },
};

#define CAPTURED                                                                                                       \
    HEAD, [CAPTURED_MODEL] = { 24, W32, "model" }, [CAPTURED_DEVICE] = { 28, W32, "device" },                          \
          [CAPTURED_STREAM] = { 32, W32, "stream" }, [CAPTURED_TASK] = { 36, W32, "task" },                            \
          [CAPTURED_TASK_TYPE] = { 40, W32, "task_type" }, [CAPTURED_BLOCKS] = { 44, W32, "block_num" },               \
          [CAPTURED_NAME] = { 48, W64, "op_name" }, [CAPTURED_OP_TYPE] = { 56, W64, "op_type" },                       \
          [CAPTURED_ATTR] = { 64, W64, "attr" }, [CAPTURED_OP_FLAG] = { 80, W32, "op_flag" },                          \
          [CAPTURED_TENSORS] = { 84, W32, "tensors" }

const struct layout captured_op_layout = {
    .name = "capture_op_info",
    .size = 256,
    .magic = MAGIC_5A5A,
    .keeps_rest = true,
    .n = CAPTURED_FIELDS,
    .field = { CAPTURED },
};

const struct layout captured_op_variable_layout = {
    .name = "capture_op_info",
    .size = CAPTURED_FIRST,
    .magic = MAGIC_5A5A,
    .keeps_rest = true,
    .n = CAPTURED_FIELDS,
    .field = { CAPTURED },
};
