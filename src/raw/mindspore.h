/* SPDX-License-Identifier: Apache-2.0 */
/* mindspore.h - the files that MindSpore writes into FRAMEWORK/: fixed parts of their records, and their texts.
 *
 * All are sequences of (type u16, length u32, bytes); a record is its fixed part, then texts of the same form. Two
 * generations write host ranges: op_range_{rank} (up to 2.5), whose names are texts, and mindspore.op_range (2.6 and
 * later), whose names are composed from three tables of names. Times of ranges are values of the host's counter; times
 * of memory are ns since 1970.
 */
#ifndef ASCOPE_RAW_MINDSPORE_H
#define ASCOPE_RAW_MINDSPORE_H

#include "raw/framework_values.h"
#include "raw/layout.h"

/* Types of the records themselves. Readers accept any. */
enum { MS_RECORD_RANGE = 0, MS_RECORD_RANGE_S = 1, MS_RECORD_SHAPES = 3, MS_RECORD_MEMORY = 13 };

/* mindspore.op_range: a host range, a point (begin = end), or the beginning of a flow (name "flow"). */
enum {
    MS_RANGE_THREAD,
    MS_RANGE_FLOW, /* all ones: none */
    MS_RANGE_STEP,
    MS_RANGE_BEGIN,
    MS_RANGE_END,
    MS_RANGE_PROCESS,
    MS_RANGE_MODULE, /* index of a name in the tables below */
    MS_RANGE_EVENT,
    MS_RANGE_STAGE,
    MS_RANGE_LEVEL, /* signed */
    MS_RANGE_IS_GRAPH_DATA,
    MS_RANGE_IS_STAGE,
    MS_RANGE_IS_STACK,
    MS_RANGE_FIELDS
};
/* Its texts. */
enum {
    MS_TEXT_NAME = 13,
    MS_TEXT_FULL_NAME,
    MS_TEXT_MODULE_GRAPH,
    MS_TEXT_EVENT_GRAPH,
    MS_TEXT_CUSTOM_INFO, /* written before MS_TEXT_MODULE_GRAPH, and only where there is one */
    MS_TEXTS
};
extern const struct layout ms_range_layout;

/* op_range_{rank}: the same of the earlier generation. */
enum {
    MS_RANGE_S_BEGIN,
    MS_RANGE_S_END,
    MS_RANGE_S_SEQUENCE,
    MS_RANGE_S_PROCESS,
    MS_RANGE_S_THREAD,
    MS_RANGE_S_END_THREAD,
    MS_RANGE_S_FORWARD_THREAD,
    MS_RANGE_S_FLOW,
    MS_RANGE_S_STEP,
    MS_RANGE_S_LEVEL, /* signed */
    MS_RANGE_S_ASYNC,
    MS_RANGE_S_FIELDS
};
enum {
    MS_TEXT_S_NAME = 3,
    MS_TEXT_S_TYPES,
    MS_TEXT_S_SHAPES,
    MS_TEXT_S_STACK,
    MS_TEXT_S_MODULES,
    MS_TEXT_S_EXTRA,
    MS_TEXT_S_CUSTOM_INFO,
    MS_TEXTS_S
};
extern const struct layout ms_range_s_layout;

/* mindspore.memory_usage: the pool gave or took back a block; a size of all ones is a release. */
enum {
    MS_MEMORY_DEVICE, /* signed */
    MS_MEMORY_THREAD,
    MS_MEMORY_PROCESS,
    MS_MEMORY_TIME,
    MS_MEMORY_ADDRESS,
    MS_MEMORY_SIZE,
    MS_MEMORY_USED,
    MS_MEMORY_PEAK,
    MS_MEMORY_RESERVED,
    MS_MEMORY_USED_BY_EVENT,
    MS_MEMORY_EAGER_FREE,
    MS_MEMORY_STREAM_POINTER,
    MS_MEMORY_STREAM,
    MS_MEMORY_FROM_PERSISTENT,
    MS_MEMORY_IS_PERSISTENT,
    MS_MEMORY_RUN_MODE,
    MS_MEMORY_ALLOC_TYPE,
    MS_MEMORY_FIELDS
};
enum { MS_MEMORY_TEXT_OWNER = 13, MS_MEMORY_TEXTS };
extern const struct layout ms_memory_layout;

/* mindspore.record_shapes: no fixed part. */
enum { MS_SHAPES_TEXT_NAME, MS_SHAPES_TEXT_SHAPES, MS_SHAPES_TEXT_TYPES, MS_SHAPES_TEXTS };

/* Names of the indices; an index beyond its table means the first name, as 0 does. */
enum {
    MS_STAGE_DEFAULT,
    MS_STAGE_PYTHON,
    MS_STAGE_RUN_GRAPH = 3,
    MS_STAGE_RUN_GRAD,
    MS_STAGE_RUN_OP,
    MS_STAGE_ASNUMPY,
    MS_STAGE_WAIT_PIPELINE = 8,
    MS_STAGE_SYNC_STREAM,
    MS_STAGES
};
enum {
    MS_MODULE_DEFAULT,
    MS_MODULE_GRAPH_EXECUTOR,
    MS_MODULE_RUNTIME,
    MS_MODULE_PYNATIVE,
    MS_MODULE_KERNEL,
    MS_MODULE_PYTHON,
    MS_MODULE_CAPTURE,
    MS_MODULE_OTHER,
    MS_MODULES
};
enum {
    MS_EVENT_DEFAULT,
    MS_EVENT_KERNEL_INFER = 1,
    MS_EVENT_KERNEL_RESIZE = 2,
    MS_EVENT_KERNEL_LAUNCH = 4,
    MS_EVENT_GRAPH_LAUNCH = 8,
    MS_EVENT_INPUT_PROCESS = 9,
    MS_EVENT_WAIT_TASK_FINISH = 11,
    MS_EVENT_MEMORY_ALLOC = 15,
    MS_EVENT_COPY_DATA = 17,
    MS_EVENT_KERNEL_LAUNCH_INNER = 26,
    MS_EVENT_RUN_OP = 28,
    MS_EVENT_FRONTEND_TASK = 29,
    MS_EVENT_BACKEND_TASK = 30,
    MS_EVENT_DEVICE_TASK = 31,
    MS_EVENT_LAUNCH_TASK = 32,
    MS_EVENT_BPROP_TASK = 33,
    MS_EVENT_GIL_ACQUIRE = 35,
    MS_EVENT_PYBOOST_INFER_OUTPUT = 43,
    MS_EVENT_PYBOOST_MALLOC_OUTPUT = 48,
    MS_EVENT_PYTHON_OBSERVED = 53,
    MS_EVENT_ACLNN_HIT_CACHE_2 = 59,
    MS_EVENT_RUN_EXPANDER = 64,
    MS_EVENT_EXECUTE = 66,
    MS_EVENTS = 69
};
extern const char *const ms_stages[MS_STAGES], *const ms_modules[MS_MODULES], *const ms_events[MS_EVENTS];

#endif
