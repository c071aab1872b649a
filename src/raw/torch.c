/* SPDX-License-Identifier: Apache-2.0 */
#include "raw/torch.h"

/* clang-format off */
const struct layout torch_op_layout = {
    .name = "torch.op_range", .size = 58, .n = TORCH_OP_FIELDS,
    .field = {
        [TORCH_OP_BEGIN] = { 0, W64, "begin" },
        [TORCH_OP_END] = { 8, W64, "end" },
        [TORCH_OP_SEQUENCE] = { 16, W64, "sequence" },
        [TORCH_OP_PROCESS] = { 24, W64, "process" },
        [TORCH_OP_THREAD] = { 32, W64, "thread" },
        [TORCH_OP_END_THREAD] = { 40, W64, "end_thread" },
        [TORCH_OP_FORWARD_THREAD] = { 48, W64, "forward_thread" },
        [TORCH_OP_SCOPE] = { 56, W8, "scope" },
        [TORCH_OP_ASYNC] = { 57, W8, "async" },
    },
};

const struct layout torch_mark_layout = {
    .name = "torch.op_mark", .size = 40, .n = TORCH_MARK_FIELDS,
    .field = {
        [TORCH_MARK_TIME] = { 0, W64, "time" },
        [TORCH_MARK_KIND] = { 8, W64, "kind" },
        [TORCH_MARK_ID] = { 16, W64, "id" },
        [TORCH_MARK_THREAD] = { 24, W64, "thread" },
        [TORCH_MARK_PROCESS] = { 32, W64, "process" },
    },
};

const struct layout torch_memory_layout = {
    .name = "torch.memory_usage", .size = 77, .n = TORCH_MEMORY_FIELDS,
    .field = {
        [TORCH_MEMORY_POINTER] = { 0, W64, "pointer" },
        [TORCH_MEMORY_TIME] = { 8, W64, "time" },
        [TORCH_MEMORY_SIZE] = { 16, W64, "size_bytes" },
        [TORCH_MEMORY_ALLOCATED] = { 24, W64, "allocated_bytes" },
        [TORCH_MEMORY_RESERVED] = { 32, W64, "reserved_bytes" },
        [TORCH_MEMORY_ACTIVE] = { 40, W64, "active_bytes" },
        [TORCH_MEMORY_STREAM] = { 48, W64, "stream" },
        [TORCH_MEMORY_DEVICE_TYPE] = { 56, W8, "device_type" },
        [TORCH_MEMORY_DEVICE] = { 57, W8, "device" },
        [TORCH_MEMORY_COMPONENT] = { 58, W8, "component" },
        [TORCH_MEMORY_KIND] = { 59, W8, "kind" },
        [TORCH_MEMORY_ALLOCATOR] = { 60, W8, "allocator" },
        [TORCH_MEMORY_THREAD] = { 61, W64, "thread" },
        [TORCH_MEMORY_PROCESS] = { 69, W64, "process" },
    },
};

const struct layout python_call_layout = {
    .name = "torch.python_tracer_func", .size = 33, .n = PYTHON_CALL_FIELDS,
    .field = {
        [PYTHON_CALL_TIME] = { 0, W64, "time" },
        [PYTHON_CALL_THREAD] = { 8, W64, "thread" },
        [PYTHON_CALL_PROCESS] = { 16, W64, "process" },
        [PYTHON_CALL_KEY] = { 24, W64, "key" },
        [PYTHON_CALL_TAG] = { 32, W8, "tag" },
    },
};

const struct layout python_key_layout = {
    .name = "torch.python_tracer_hash", .size = 8, .n = 1,
    .field = {
        [PYTHON_KEY] = { 0, W64, "key" },
    },
};

const struct layout python_gc_layout = {
    .name = "torch.gc_record", .size = 24, .n = PYTHON_GC_FIELDS,
    .field = {
        [PYTHON_GC_PROCESS] = { 0, W64, "process" },
        [PYTHON_GC_BEGIN] = { 8, W64, "begin" },
        [PYTHON_GC_END] = { 16, W64, "end" },
    },
};

const struct layout step_thread_layout = {
    .name = "ascope.step_threads", .size = 64, .n = STEP_THREAD_FIELDS,
    .field = {
        [STEP_THREAD_BEGIN] = { 0, W64, "begin" },
        [STEP_THREAD_END] = { 8, W64, "end" },
        [STEP_THREAD_ID] = { 16, W64, "thread" },
        [STEP_THREAD_STEP] = { 24, W64, "step" },
        [STEP_THREAD_CPU] = { 32, W64, "cpu_ns" },
        [STEP_THREAD_READY] = { 40, W64, "ready_ns" },
        [STEP_THREAD_MINOR] = { 48, W32, "minor" },
        [STEP_THREAD_MAJOR] = { 52, W32, "major" },
        [STEP_THREAD_YIELDED] = { 56, W32, "yielded" },
        [STEP_THREAD_PUSHED] = { 60, W32, "pushed" },
    },
};
/* clang-format on */

const struct layout graph_node_layout = {
    .name = "ascope.graph_nodes", .size = 16, .n = GRAPH_NODE_FIELDS,
    .field = {
        [GRAPH_NODE_ID] = { 0, W64, "node" },
        [GRAPH_NODE_OP] = { 8, W32, "op" },
        [GRAPH_NODE_STACK_ID] = { 12, W32, "stack" },
    },
};
