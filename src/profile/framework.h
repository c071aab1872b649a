/* SPDX-License-Identifier: Apache-2.0 */
/* framework.h - the data of a framework: operators, its task queue, memory, Python frames, garbage collections.
 *
 * Filled by load/framework/framework_load.c and the loader of the framework's format (torch_load.c, ms_load.c) from the
 * files of a FRAMEWORK directory. Times are wall-clock ns. A name that was not recorded is NO_NAME; one that was
 * recorded and is empty is NAME_EMPTY.
 */
#ifndef ASCOPE_PROFILE_FRAMEWORK_H
#define ASCOPE_PROFILE_FRAMEWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "base/text/error.h"
#include "base/memory/large_memory.h"
#include "base/memory/names.h"
#include "profile/graph_capture.h"
#include "profile/ms_data.h"

enum { NO_NAME = UINT32_MAX };

/* Operators and ranges that the user named, in file order. */
struct framework_ops {
    size_t n;
    int64_t *begin_ns, *end_ns;
    int64_t *sequence;        /* the same for an operator and its backward; -1: none */
    uint64_t *forward_thread; /* of a backward: a number of the thread that ran its forward; 0 for all others */
    uint32_t *process, *thread;
    uint8_t *scope; /* OP_SCOPE_USER, ... of raw/framework_values.h */
    name_id *name;
    name_id *label;                  /* under which reports add it up; NULL: its name. See framework_op_label() */
    name_id *types, *shapes, *stack; /* with a line break behind each ";", as all outputs show them */
    name_id *modules, *flops;
    const uint8_t **record; /* whole, for fields without a column (tensors); NULL unless requested */
    uint32_t *record_size;
};

static inline name_id framework_op_label(const struct framework_ops *o, size_t row)
{
    return (o->label ? o->label : o->name)[row];
}

/* Spans of the task queue: putting a task in, or taking it out and launching it. Sorted by end. */
struct queue_spans {
    size_t n;
    int64_t *begin_ns, *end_ns;
    uint64_t *id; /* of the task: the enqueue and the dequeue span of a task have the same id */
    uint32_t *process, *thread;
    name_id *name; /* of the operator */
};

/* Events of allocators, in file order. */
struct framework_memory {
    size_t n;
    int64_t *time_ns;
    uint64_t *pointer;
    int64_t *size_bytes; /* negative: released */
    int64_t *allocated_bytes, *reserved_bytes, *active_bytes;
    int64_t *stream;
    int8_t *device_type, *device;
    uint8_t *component, *kind, *allocator; /* see raw/framework_values.h */
    uint32_t *process, *thread;
    name_id *owner; /* the operator that allocated the block, if records name it; else NULL, and it is found by time */
};

/* Calls of Python functions, C functions and modules; thread by thread in order of the threads' first records, each in
 * the order in which the calls returned. */
struct python_calls {
    size_t n;
    int64_t *begin_ns, *end_ns;
    uint32_t *process, *thread;
    uint64_t *key;    /* of its parameters */
    name_id *name;    /* "file(line): function", "nn.Module: Linear_3" */
    uint32_t *id;     /* position among the records of its thread */
    uint32_t *parent; /* id of the call around it; 0: none, or the first */
    uint32_t *module; /* number among the modules of its class; NO_MODULE_NUMBER: not a module */
};
enum { NO_MODULE_NUMBER = UINT32_MAX };

/* Parameters of modules and optimizers, as texts of a grammar of their own, in file order; the last of a key counts. */
struct python_params {
    size_t n;
    uint64_t *key;
    const char **modules, **optimizers; /* not NUL-terminated; NULL: none */
    uint32_t *modules_len, *optimizers_len;
};

struct collected_garbage {
    size_t n;
    int64_t *begin_ns, *end_ns;
    uint32_t *process;
};

/* What the threads of steps did (raw/torch.h), by begin. */
struct step_threads {
    size_t n;
    int64_t *begin_ns, *end_ns;
    uint64_t *cpu_ns, *ready_ns;
    uint32_t *minor, *major, *pushed;
};

/* Files of all frameworks: each has some of them, under names of its own. */
enum framework_file_id {
    FRAMEWORK_OPS,
    FRAMEWORK_MARKS,
    FRAMEWORK_MEMORY,
    FRAMEWORK_PYTHON,
    FRAMEWORK_PYTHON_KEYS,
    FRAMEWORK_PARAMS,
    FRAMEWORK_GC,
    FRAMEWORK_STEP_THREADS,
    FRAMEWORK_GRAPH_NODES,
    FRAMEWORK_SHAPES,
    FRAMEWORK_HOST_OPS,
    FRAMEWORK_MEMORY_TOTALS,
    FRAMEWORK_MEMORY_TABLE,
    FRAMEWORK_PIPELINE,
    FRAMEWORK_PIPELINE_CPU,
    FRAMEWORK_PIPELINE_BATCHES,
    FRAMEWORK_FILES
};

/* One of these files; columns point into it. Each has its own arena and losses, because files are loaded in
 * parallel. */
struct framework_file {
    const char *name; /* "FRAMEWORK/torch.op_range": for messages; NULL: the framework has no such file */
    bool is_there;
    const uint8_t *data; /* NULL: it is empty or unreadable */
    size_t size;
    struct mapped map; /* where it lies, unless it could only be copied */
    struct arena *mem;
    struct losses lost;
};

struct framework {
    const char *path; /* of the folder; NULL: there is none */
    struct framework_file file[FRAMEWORK_FILES];
    struct framework_ops ops;
    bool has_queue; /* the file of its marks is there */
    struct queue_spans enqueue, dequeue;
    struct framework_memory memory;
    struct python_calls python;
    struct python_params params;
    struct collected_garbage gc;
    struct step_threads step_threads;
    struct graph_capture captured;
    struct mindspore ms; /* what only MindSpore records */
};

#endif
