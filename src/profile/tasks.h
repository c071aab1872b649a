/* SPDX-License-Identifier: Apache-2.0 */
/* tasks.h - tasks of a device: as the host launched them, as the device logged them, and both joined.
 *
 * A task is identified by (device, stream, batch, task, context). The batch counts the wrap-arounds of 16-bit task ids;
 * the context distinguishes the parts of one task, NO_CONTEXT is the task as a whole.
 */
#ifndef ASCOPE_PROFILE_TASKS_H
#define ASCOPE_PROFILE_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "base/memory/names.h"

static const uint32_t NO_CONTEXT = UINT32_MAX;
static const uint32_t NO_MODEL = UINT32_MAX;

/* Sorted by (device, stream, batch, task, context). */
struct host_tasks {
    size_t n;
    uint32_t *global_id; /* one number for each id, over all devices: what the database calls globalTaskId */
    uint16_t *device, *stream, *batch;
    uint16_t *recorded_batch; /* see struct tracks; may be NULL */
    uint32_t *task, *context;
    uint64_t *key;   /* stream, batch and task in one number, for joins; see task_key() */
    name_id *type;   /* KERNEL_AICORE, MEMCPY_ASYNC, … */
    name_id *kernel; /* NAME_NA when none */
    uint32_t *connection;
    uint32_t *model;  /* NO_MODEL */
    int64_t *request; /* -1 */
    uint64_t *time;   /* host counter */
    uint32_t *thread;
    uint32_t *op; /* row of ops, or NO_ROW */
};

static inline uint64_t task_key(uint16_t stream, uint16_t batch, uint32_t task)
{
    return (uint64_t)stream << 48 | (uint64_t)batch << 32 | task;
}

/* Compute operators, in the order of the host tasks that launch them. */
struct ops {
    size_t n;
    name_id *name, *op_type, *task_type; /* NAME_NA where not reported */
    name_id *state, *hf32, *attr;        /* attr: NAME_EMPTY when none */
    uint32_t *blocks, *mix_blocks;
    name_id *shapes[2], *types[2], *formats[2]; /* [TENSOR_INPUT], [TENSOR_OUTPUT] */
    name_id *grid_dim, *block_dim;              /* of SIMT kernels */
};

/* Instead of a type in device_log: the device did not record the type; the host did. */
enum { TYPE_OF_HOST = 0xFF };

/* A task that ended before the collection began. It is not shown, but the file has counters of it. */
struct early_task {
    uint32_t row; /* of device_log */
    uint32_t op;  /* row of ops, or NO_ROW */
};

/* Beginnings and ends of tasks as STARS logged them, one row each, in file order. */
struct task_events {
    size_t n;
    uint16_t *head; /* kind of the record, type of the task: see raw/device_records.h */
    uint64_t *tick;
    uint16_t *stream, *task, *context; /* as they are packed in the records */
    uint8_t *sub_type;
    uint32_t *id;         /* instead of the four above, where ids have 32 bits */
    uint16_t *part, *acc; /* with them: kind and mission of a part of a fused task, and where it ran */
};

/* The same for chips without STARS, from any of their logs. */
struct edges {
    size_t n;
    uint32_t *id; /* see edge_id() */
    uint64_t *tick;
    uint8_t *type;
    uint8_t *is_end; /* 0 or 1 */
};
enum { EDGES_OF_CORES, EDGES_OF_VECTOR_CORES, EDGES_OF_SCHEDULER, EDGES };

static inline uint32_t edge_id(uint32_t stream, uint32_t task)
{
    enum { STREAMS = 2048 };
    return stream % STREAMS << 16 | task;
}

bool edges_take(struct edges *e, size_t n, struct arena *mem); /* room for n; false: no memory */
void edges_add(struct edges *e, uint32_t id, uint64_t tick, uint8_t type, bool is_end);

/* What a device's scheduler logged. Times are its ticks. */
struct device_log {
    struct task_events events; /* until they are paired: these, or the edges */
    struct edges edges[EDGES]; /* each in file order */
    size_t n;                  /* finished tasks, sorted by (stream, task, context, begin) */
    uint16_t *stream, *batch;
    uint32_t *task, *context;
    uint64_t *key;
    uint64_t *begin, *end;
    uint8_t *type;       /* SQE type, or sub task type of a context */
    struct fused_parts { /* parts of fused tasks, by (task, begin) */
        size_t n;
        uint32_t *task;
        uint64_t *begin, *end;
        uint16_t *part, *acc; /* as in the record */
        uint8_t *type;        /* SQE type of the task */
    } fused;
    size_t n_early;
    struct early_task *early; /* that the host knows, by their ids */
    struct {                  /* wrap-arounds of task ids, by (stream, tick) */
        size_t n;
        uint16_t *stream, *number, *task;
        uint64_t *tick;
    } flips;
    struct { /* block numbers that the device computed itself */
        size_t n;
        uint16_t *stream, *task;
        uint64_t *tick;
        uint32_t *blocks;
    } blocks;
    struct { /* states of tasks that the scheduler passed on, in file order */
        size_t n;
        uint16_t *stream, *task, *type;
        uint64_t *tick;
        uint8_t *state;
    } states;
    struct { /* states of copies that the scheduler did by itself, in file order */
        size_t n;
        uint16_t *stream, *task;
        uint64_t *tick;
        uint8_t *state;
    } copy_states;
    struct scheduler_copies { /* the same, once paired: by (stream, task, begin) */
        size_t n;
        uint16_t *stream, *task;
        uint64_t *received, *begin, *end;
        uint32_t *host;  /* row of host_tasks, or NO_ROW */
        uint64_t *bytes; /* as in tasks */
        uint16_t *kind;
    } copies;
    struct { /* step, iteration and mark stamps, in file order */
        size_t n;
        uint64_t *tick, *index, *model;
        uint32_t *task;
        uint16_t *stream, *tag;
    } stamps;
    struct { /* runs of AI CPU kernels, in file order */
        size_t n;
        uint16_t *stream, *task;
        uint64_t *run_begin, *run_end, *compute_us, *memcpy_us, *memcpy_end_us, *submit, *after_run;
        uint32_t *dispatch_us;
    } aicpu;
    struct { /* data queue events, in file order */
        size_t n;
        uint64_t *time, *size;
        name_id *action, *source;
    } dp;
    struct { /* waits of the model's input queue */
        size_t n;
        uint32_t *node;
        uint64_t *queue, *begin_us, *end_us;
    } mi;
};

/* Tasks that ran: one row for each finished device task, sorted by (begin_ns, stream, task, batch, context). */
struct tasks {
    size_t n;
    uint16_t *stream, *batch;
    uint32_t *task, *context;
    uint64_t *key; /* see task_key() */
    uint8_t *device_type;
    int64_t *begin_ns, *end_ns; /* wall clock, fractions dropped */
    double *dur_ns;             /* with its fraction; at most 2^62, so that it fits an int64_t */
    uint64_t *begin_tick, *end_tick;
    uint32_t *host;       /* row of host_tasks, or NO_ROW if the host has none */
    uint32_t *op;         /* row of ops, or NO_ROW */
    name_id *type;        /* as reports show it: KERNEL_AICORE, MEMCPY_ASYNC, AI_CORE */
    bool *is_hidden;      /* the whole of a task whose contexts are shown instead */
    uint32_t *pmu;        /* row of pmu, or NO_ROW */
    uint64_t *copy_bytes; /* of memory copies */
    uint16_t *copy_kind;  /* COPY_NONE for other tasks */
    uint32_t *by_id;      /* rows by (stream, batch, task, context, begin) */
    uint32_t *global_id;  /* as in host_tasks; tasks that the host does not know have numbers of their own */
};
enum { COPY_NONE = 0xFFFF, COPY_OTHER = 0xFFFE };

#endif
