/* SPDX-License-Identifier: Apache-2.0 */
/* host_records.h - records of the host side of a collection: calls, compact (64 bytes) and additional (256 bytes)
 * records. */
#ifndef ASCOPE_RAW_HOST_RECORDS_H
#define ASCOPE_RAW_HOST_RECORDS_H

#include "raw/layout.h"

/* Levels of the software stack. A call's level, and the first half of a type's name in the dictionary. */
enum {
    LEVEL_ACL = 20000,
    LEVEL_MODEL = 15000,
    LEVEL_NODE = 10000,
    LEVEL_AICPU = 6000,
    LEVEL_COMMUNICATION = 5500,
    LEVEL_RUNTIME = 5000,
};

/* One call, or one end of one: an end time of all ones marks a point that has to be paired. */
enum { API_LEVEL, API_TYPE, API_THREAD, API_REQUEST, API_BEGIN, API_END, API_ITEM, API_FIELDS };
extern const struct layout api_layout;

/* The first fields of every compact and additional record. */
enum { HEAD_LEVEL, HEAD_TYPE, HEAD_THREAD, HEAD_DATA_LEN, HEAD_TIME, HEAD_FIELDS };

enum { NODE_NAME = HEAD_FIELDS, NODE_TASK_TYPE, NODE_OP_TYPE, NODE_BLOCKS, NODE_OP_FLAG, NODE_FIELDS };
extern const struct layout node_basic_layout;

enum { ATTR_NAME = HEAD_FIELDS, ATTR_TYPE, ATTR_TEXT, ATTR_FIELDS };
extern const struct layout node_attr_layout;

/* A task handed to a device. The extension is valid when the header's length is TRACK_LEN_EXTENDED. */
enum { TRACK_DEVICE = HEAD_FIELDS, TRACK_STREAM, TRACK_TASK, TRACK_TYPE, TRACK_KERNEL, TRACK_FIELDS };
enum { TRACK_LEN_EXTENDED = 40, TRACK_TYPE_FLIP = 98, TRACK_TYPE_MAINTENANCE = 6, FLIP_STREAM_DESTROYED = 65535 };
extern const struct layout task_track_layout;
/* The two forms of the extension, as fields of the same record: of ordinary kernels, and of SIMT kernels. */
enum { EXT_BLOCKS, EXT_ARGS, EXT_BITS, EXT_FIELDS };
enum { EXT_RATIO_MASK = 7 };
extern const struct layout track_kernel_layout;
enum { SIMT_GRID_X, SIMT_GRID_Y, SIMT_GRID_Z, SIMT_BLOCK_X, SIMT_BLOCK_Y, SIMT_BLOCK_Z, SIMT_FIELDS };
extern const struct layout track_simt_layout;

/* Two writers exist: {size, largest, direction} and the newer {size, kind, device, stream}. */
enum {
    MEMCPY_SIZE = HEAD_FIELDS,
    MEMCPY_LARGEST,
    MEMCPY_DIRECTION,
    MEMCPY_KIND,
    MEMCPY_DEVICE,
    MEMCPY_STREAM,
    MEMCPY_FIELDS
};
extern const struct layout memcpy_layout;

enum { HCCL_OP_FLAGS = HEAD_FIELDS, HCCL_OP_DATA_TYPE, HCCL_OP_ALG, HCCL_OP_COUNT, HCCL_OP_GROUP, HCCL_OP_FIELDS };
extern const struct layout hccl_op_layout;

enum {
    CAPTURE_STATUS = HEAD_FIELDS,
    CAPTURE_MODEL_STREAM,
    CAPTURE_ORIGINAL_STREAM,
    CAPTURE_MODEL,
    CAPTURE_DEVICE,
    CAPTURE_FIELDS
};
extern const struct layout capture_stream_layout;

enum { EXPAND_STATUS = HEAD_FIELDS, EXPAND_FIELDS };
extern const struct layout expand_stream_layout;

enum { DPU_DEVICE = HEAD_FIELDS, DPU_STREAM, DPU_TASK, DPU_TYPE, DPU_START, DPU_FIELDS };
extern const struct layout dpu_track_layout;
/* Of a DPU_DEVICE, and of the device of tasks in general: its kind (0 is an NPU), and its number. */
enum { DPU_KIND_SHIFT = 12, DPU_KIND = 1, DPU_UNIT_MASK = 0xFFF };

/* Tensors follow: TENSOR_BYTES each, {u32 direction, u32 format, u32 data type, u32 shape[8]}. */
enum { TENSOR_OP_NAME = HEAD_FIELDS, TENSOR_COUNT, TENSOR_FIELDS };
enum { TENSOR_FIRST = 36, TENSOR_BYTES = 44, TENSOR_DIMS = 8, TENSOR_MOST = 5, TENSOR_INPUT = 0, TENSOR_OUTPUT = 1 };
extern const struct layout tensor_layout;

/* u32 ids follow. */
enum { CONTEXT_OP_NAME = HEAD_FIELDS, CONTEXT_COUNT, CONTEXT_FIELDS };
enum { CONTEXT_FIRST = 36, CONTEXT_MOST = 55 };
extern const struct layout context_id_layout;

/* u64 hashes of the original operators follow. */
enum {
    FUSION_NAME = HEAD_FIELDS,
    FUSION_COUNT,
    FUSION_INPUT,
    FUSION_OUTPUT,
    FUSION_WEIGHT,
    FUSION_WORKSPACE,
    FUSION_TOTAL,
    FUSION_FIELDS
};
enum { FUSION_FIRST = 76, FUSION_MOST = 8 };
extern const struct layout fusion_op_layout;

enum { GRAPH_NAME = HEAD_FIELDS, GRAPH_ID, GRAPH_MODEL, GRAPH_FIELDS };
extern const struct layout graph_id_layout;

enum {
    HCCL_ITEM = HEAD_FIELDS,
    HCCL_TAG,
    HCCL_GROUP,
    HCCL_LOCAL_RANK,
    HCCL_REMOTE_RANK,
    HCCL_RANK_SIZE,
    HCCL_WORKFLOW,
    HCCL_PLANE,
    HCCL_CONTEXT,
    HCCL_NOTIFY,
    HCCL_STAGE,
    HCCL_ROLE,
    HCCL_ESTIMATE,
    HCCL_SRC,
    HCCL_DST,
    HCCL_SIZE,
    HCCL_OP_TYPE,
    HCCL_DATA_TYPE,
    HCCL_LINK,
    HCCL_TRANSPORT,
    HCCL_RDMA,
    HCCL_FIELDS
};
extern const struct layout hccl_info_layout;

/* Communication that a data processing unit ran; the estimate is a double. */
enum {
    DPU_HCCL_ITEM = HEAD_FIELDS,
    DPU_HCCL_GROUP,
    DPU_HCCL_LOCAL_RANK,
    DPU_HCCL_REMOTE_RANK,
    DPU_HCCL_RANK_SIZE,
    DPU_HCCL_NOTIFY,
    DPU_HCCL_START,
    DPU_HCCL_ESTIMATE,
    DPU_HCCL_SIZE,
    DPU_HCCL_TASK,
    DPU_HCCL_AICPU_TASK,
    DPU_HCCL_STREAM,
    DPU_HCCL_PLANE,
    DPU_HCCL_NPU,
    DPU_HCCL_DPU,
    DPU_HCCL_OP_TYPE,
    DPU_HCCL_DATA_TYPE,
    DPU_HCCL_LINK,
    DPU_HCCL_TRANSPORT,
    DPU_HCCL_RDMA,
    DPU_HCCL_ROLE,
    DPU_HCCL_WORKFLOW,
    DPU_HCCL_TAG,
    DPU_HCCL_STAGE,
    DPU_HCCL_FIELDS
};
extern const struct layout dpu_hccl_layout;

/* The message follows: MARK_MESSAGE_BYTES, NUL-terminated. */
enum {
    MARK_INFO = HEAD_FIELDS,
    MARK_SEGMENT, /* a long message has several records of one mark, numbered from 0 */
    MARK_PROCESS,
    MARK_THREAD,
    MARK_CATEGORY,
    MARK_EVENT,
    MARK_PAYLOAD_TYPE,
    MARK_PAYLOAD,
    MARK_BEGIN,
    MARK_END,
    MARK_ID,
    MARK_DOMAIN,
    MARK_MESSAGE_TYPE,
    MARK_FIELDS
};
enum { MARK_MESSAGE = 100, MARK_MESSAGE_BYTES = 156 };
enum { MARK_INFO_PLAIN = 0, MARK_INFO_WITH_ID = 1 };
enum { MARK_EVENT_POINT, MARK_EVENT_PUSH_POP, MARK_EVENT_START_END, MARK_EVENT_POINT_EX };
extern const struct layout mark_layout;

enum {
    OP_MEM_ADDR = HEAD_FIELDS,
    OP_MEM_SIZE,
    OP_MEM_NAME,
    OP_MEM_ALLOCATED,
    OP_MEM_RESERVED,
    OP_MEM_DEVICE,
    OP_MEM_DEVICE_TYPE,
    OP_MEM_FIELDS
};
extern const struct layout task_memory_layout;

enum {
    STATIC_MEM_SIZE = HEAD_FIELDS,
    STATIC_MEM_NAME,
    STATIC_MEM_BEGIN,
    STATIC_MEM_END,
    STATIC_MEM_ALLOCATED,
    STATIC_MEM_DYNAMIC_NAME,
    STATIC_MEM_GRAPH,
    STATIC_MEM_FIELDS
};
extern const struct layout static_op_mem_layout;

/* u32 physical stream ids follow. */
enum { LOGIC_STREAM = HEAD_FIELDS, LOGIC_COUNT, LOGIC_FIELDS };
enum { LOGIC_FIRST = 32, LOGIC_MOST = 56 };
extern const struct layout logic_stream_layout;

/* u32 ids of the communication streams follow. */
enum { MC2_GROUP = HEAD_FIELDS, MC2_RANK_SIZE, MC2_RANK, MC2_USER_RANK, MC2_KFC_STREAM, MC2_STREAM_COUNT, MC2_FIELDS };
enum { MC2_FIRST = 52, MC2_MOST = 8 };
extern const struct layout mc2_comm_layout;

/* The threads that worked for the one in the header. u32 ids follow. */
enum { THREADS_COUNT = HEAD_FIELDS, THREADS_FIELDS };
enum { THREADS_FIRST = 28, THREADS_MOST = 25 };
extern const struct layout multi_thread_layout;

/* An operator of a captured graph. Tensors follow, as in tensor_layout; in the variable file as many as it says. */
enum {
    CAPTURED_MODEL = HEAD_FIELDS,
    CAPTURED_DEVICE,
    CAPTURED_STREAM,
    CAPTURED_TASK,
    CAPTURED_TASK_TYPE,
    CAPTURED_BLOCKS,
    CAPTURED_NAME,
    CAPTURED_OP_TYPE,
    CAPTURED_ATTR,
    CAPTURED_OP_FLAG,
    CAPTURED_TENSORS,
    CAPTURED_FIELDS
};
enum { CAPTURED_FIRST = 88, CAPTURED_MOST_FIXED = 3, HEAD_BYTES = 24 };
extern const struct layout captured_op_layout; /* the fixed form, 256 bytes */
extern const struct layout
    captured_op_variable_layout; /* the same fields; the size is that of the part before the tensors */

#endif
