/* SPDX-License-Identifier: Apache-2.0 */
/* torch.h - the files that torch_npu writes into FRAMEWORK/: fixed parts of their records.
 *
 * Most files are sequences of (type u16, length u32, bytes); a record is its fixed part, then fields of the same form.
 * Two files are plain arrays. Times are values of the host's counter, or monotonic ns where there is none.
 */
#ifndef ASCOPE_RAW_TORCH_H
#define ASCOPE_RAW_TORCH_H

#include "raw/framework_values.h"
#include "raw/layout.h"

/* torch.op_range: an operator, or a range that the user named. Its scope is an OP_SCOPE of framework_values.h. */
enum {
    TORCH_OP_BEGIN,
    TORCH_OP_END,
    TORCH_OP_SEQUENCE,
    TORCH_OP_PROCESS,
    TORCH_OP_THREAD,
    TORCH_OP_END_THREAD,
    TORCH_OP_FORWARD_THREAD,
    TORCH_OP_SCOPE,
    TORCH_OP_ASYNC,
    TORCH_OP_FIELDS
};
/* Its fields. */
enum {
    TORCH_TEXT_NAME = 2,
    TORCH_TEXT_TYPES,
    TORCH_TEXT_SHAPES,
    TORCH_TEXT_TENSORS,
    TORCH_TEXT_TENSOR_LISTS,
    TORCH_TEXT_SCALARS,
    TORCH_TEXT_STACK,
    TORCH_TEXT_MODULES,
    TORCH_TEXT_FLOPS,
    TORCH_TEXTS
};
extern const struct layout torch_op_layout;

/* torch.op_mark: the task queue between the thread that calls operators and the one that launches them. */
enum { TORCH_MARK_TIME, TORCH_MARK_KIND, TORCH_MARK_ID, TORCH_MARK_THREAD, TORCH_MARK_PROCESS, TORCH_MARK_FIELDS };
enum {
    TORCH_MARK_ENQUEUE_BEGIN,
    TORCH_MARK_ENQUEUE_END,
    TORCH_MARK_DEQUEUE_BEGIN,
    TORCH_MARK_DEQUEUE_END,
    TORCH_MARKS
};
enum { TORCH_MARK_TEXT_NAME = 1 };
extern const struct layout torch_mark_layout;

/* torch.memory_usage: an allocator took or gave back a block. framework_values.h has the values of type, component,
 * kind, allocator. */
enum {
    TORCH_MEMORY_POINTER,
    TORCH_MEMORY_TIME,
    TORCH_MEMORY_SIZE,
    TORCH_MEMORY_ALLOCATED,
    TORCH_MEMORY_RESERVED,
    TORCH_MEMORY_ACTIVE,
    TORCH_MEMORY_STREAM,
    TORCH_MEMORY_DEVICE_TYPE,
    TORCH_MEMORY_DEVICE,
    TORCH_MEMORY_COMPONENT,
    TORCH_MEMORY_KIND,
    TORCH_MEMORY_ALLOCATOR,
    TORCH_MEMORY_THREAD,
    TORCH_MEMORY_PROCESS,
    TORCH_MEMORY_FIELDS
};
extern const struct layout torch_memory_layout;

/* torch.python_tracer_func, an array: a Python frame or C function was entered or left. */
enum {
    PYTHON_CALL_TIME,
    PYTHON_CALL_THREAD,
    PYTHON_CALL_PROCESS,
    PYTHON_CALL_KEY,
    PYTHON_CALL_TAG,
    PYTHON_CALL_FIELDS
};
enum { PYTHON_CALL, PYTHON_RETURN, PYTHON_C_CALL, PYTHON_C_RETURN, PYTHON_TAGS };
extern const struct layout python_call_layout;

/* torch.python_tracer_hash: what a key of the above means; torch.param_tensor_info: the parameters of a module or
 * optimizer. */
enum { PYTHON_KEY };
enum { PYTHON_KEY_TEXT = 1, PYTHON_KEY_MODULE_PARAMETERS = 1, PYTHON_KEY_OPTIMIZER_PARAMETERS = 2 };
extern const struct layout python_key_layout;

/* torch.gc_record, an array: Python collected garbage. */
enum { PYTHON_GC_PROCESS, PYTHON_GC_BEGIN, PYTHON_GC_END, PYTHON_GC_FIELDS };
extern const struct layout python_gc_layout;

/* ascope.step_threads, an array: what the thread of a step did. Times between begin and end, page faults, switches. */
enum {
    STEP_THREAD_BEGIN,
    STEP_THREAD_END,
    STEP_THREAD_ID,
    STEP_THREAD_STEP,
    STEP_THREAD_CPU,   /* ns on a processor */
    STEP_THREAD_READY, /* ns waiting for one */
    STEP_THREAD_MINOR, /* page faults without the disk */
    STEP_THREAD_MAJOR, /* with it */
    STEP_THREAD_YIELDED,
    STEP_THREAD_PUSHED,
    STEP_THREAD_FIELDS
};
extern const struct layout step_thread_layout;

/* ascope.graph_nodes: which operator each node of a captured graph is of. An operator and a stack have a number each,
 * and their texts where they occur first. */
enum { GRAPH_NODE_ID, GRAPH_NODE_OP, GRAPH_NODE_STACK_ID, GRAPH_NODE_FIELDS };
enum {
    GRAPH_NODE_NAME = 1,
    GRAPH_NODE_TYPES,
    GRAPH_NODE_SHAPES,
    GRAPH_NODE_STACK,
    GRAPH_NODE_MODULES,
    GRAPH_NODE_TEXTS
};
extern const struct layout graph_node_layout;

#endif
