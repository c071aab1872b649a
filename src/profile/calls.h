/* SPDX-License-Identifier: Apache-2.0 */
/* calls.h - calls of the host's software stack, and the records that belong to them.
 *
 * Filled by src/load, `call` and what else is derived by src/analyse/host. A `call` is a row of struct calls, NO_ROW if
 * there is none. Times are values of the host's counter unless a column has a unit in its name.
 */
#ifndef ASCOPE_PROFILE_CALLS_H
#define ASCOPE_PROFILE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/names.h"
#include "profile/ccu.h"

enum { NO_ROW = UINT32_MAX };

/* API calls, sorted by (thread, begin, level descending). The connection id of a call is its row + 1. source_host_ns()
 * converts the times to wall-clock time. */
struct calls {
    size_t n;
    uint16_t *level;
    uint32_t *type, *thread, *request;
    uint64_t *begin, *end, *item;
    uint32_t *parent; /* the call that encloses it, among those that form the tree; NO_ROW at the top */
    bool *in_tree;    /* false for calls without duration and for calls inside another one of the same level */
    bool *is_shown;   /* false: the call ended before the collection began */
    size_t n_threads;
    uint32_t *first_of_thread; /* n_threads + 1 rows: where each thread begins, and n */
};

/* Tasks outside of all calls have one connection id per thread. These ids follow those of the calls. */
static inline uint32_t calls_root_connection(const struct calls *c, size_t thread_index)
{
    return (uint32_t)(c->n + thread_index + 1);
}

/* One table for each family of records. Records that are assigned to calls by their time are sorted by (thread, time),
 * all others are in file order. */
struct node_basics {
    size_t n;
    uint32_t *thread, *task_type, *blocks, *op_flag;
    uint64_t *time, *name, *op_type;
    bool *is_static;
    uint32_t *call; /* the node call that it belongs to, or NO_ROW */
};

struct node_attrs {
    size_t n;
    uint32_t *thread;
    uint64_t *time, *name, *text;
    uint32_t *call;
};

/* All tensors of one operator together, as text. */
struct tensors {
    size_t n;
    uint32_t *thread;
    uint64_t *time, *name;
    name_id *shapes[2], *types[2], *formats[2]; /* [TENSOR_INPUT], [TENSOR_OUTPUT] */
    uint32_t *call;
};

struct contexts {
    size_t n;
    uint32_t *thread, *count;
    uint16_t *level;
    uint64_t *time, *name;
    const uint8_t **ids; /* count u32 */
    uint32_t *call;
};

struct hccl_ops {
    size_t n;
    uint32_t *thread;
    uint64_t *time, *alg, *count, *group;
    uint8_t *flags, *data_type;
    uint32_t *call;
};

struct hccl_infos {
    size_t n;
    uint32_t *thread;
    uint64_t *time, *item, *group, *notify, *src, *dst, *size;
    double *estimate_us;
    uint32_t *local_rank, *remote_rank, *rank_size, *plane, *context, *data_type, *link, *transport, *rdma;
    uint32_t *call;
};

struct tracks {
    size_t n;
    uint32_t *thread, *data_len, *task; /* task: the low 16 bits, with a batch; or all bits, without batches */
    uint16_t *device, *stream, *batch;
    uint16_t *recorded_batch; /* the batch of the record, if `batch` counts the uses of an id instead; else NULL */
    uint64_t *time, *type, *kernel;
    const uint8_t **record; /* the whole record: its extension has no columns */
    uint32_t *call;         /* the deepest call of the tree around it, or NO_ROW */
};

/* Wrap-arounds of task ids, sorted by (device, stream, time). */
struct host_flips {
    size_t n;
    uint16_t *device, *stream, *number, *task;
    uint64_t *time;
};

struct memcpys {
    size_t n;
    uint32_t *thread, *stream;
    uint16_t *direction, *kind, *device;
    uint64_t *time, *size, *largest;
};

struct fusions {
    size_t n;
    uint32_t *thread, *count;
    uint64_t *time, *name, *bytes[5]; /* input, output, weight, workspace, total */
    const uint8_t **originals;        /* count u64 hashes */
    uint32_t *call;                   /* the model call */
};

struct graph_ids {
    size_t n;
    uint64_t *name;
    uint32_t *graph, *model;
};

struct capture_streams {
    size_t n;
    uint16_t *status, *model_stream, *original_stream, *model, *device;
    uint64_t *time;
};

struct captured_ops {
    size_t n;
    uint32_t *model, *device, *stream, *task, *task_type, *blocks, *op_flag;
    uint64_t *name, *op_type, *attr;
    name_id *shapes[2], *types[2], *formats[2];
    bool *is_static;
};

/* Ranges and points that the user marked: first those without an id, in file order, then those with an id. Several
 * marks may have the same id, if they are of different threads or processes. */
struct marks {
    size_t n, n_plain;
    uint32_t *by_id;  /* the n - n_plain rows with an id, sorted by (id, begin) */
    uint32_t *repeat; /* by row: the number of marks with the same id that precede it in by_id */
    bool has_repeats;
    uint16_t *info, *segment; /* long messages are split into segments, which analyse/flow/marks.c joins */
    uint32_t *process, *thread, *category, *event, *payload_type, *message_type;
    uint64_t *payload, *begin, *end, *id, *domain;
    name_id *message;
};

/* Allocations and releases of operators, in file order. */
struct op_memory {
    size_t n;
    uint32_t *thread, *device, *device_type;
    uint64_t *time, *addr, *name, *allocated, *reserved;
    int64_t *size; /* negative: released */
    struct { /* released blocks in the order of their releases, then the others in the order of their allocations */
        size_t n;
        uint32_t *allocation, *release; /* rows; NO_ROW: the block was not released */
    } lives;
};

struct static_memory {
    size_t n;
    int64_t *size;
    uint64_t *name, *begin, *end, *dynamic_name;
    uint32_t *graph;
};

struct logic_streams {
    size_t n;
    uint32_t *logic, *count;
    const uint8_t **physical; /* count u32 */
};

struct mc2_groups {
    size_t n;
    uint64_t *group;
    uint32_t *rank_size, *kfc_stream, *stream_count;
    const uint8_t **streams; /* stream_count u32 */
    uint32_t *row_of_kfc;    /* for each of the 65536 stream ids: the group that is scheduled on it, or NO_ROW */
};

/* Tasks of data processing units, in file order: as they ran, and as the host launched them. */
struct dpu_tracks {
    size_t n;
    uint32_t *thread, *task;
    uint16_t *device, *stream;
    uint64_t *start, *end;
};
struct dpu_launches {
    size_t n;
    uint16_t *device;
    uint32_t *task;
    uint64_t *kernel;
};

struct host_records {
    struct node_basics node_basics;
    struct node_attrs node_attrs;
    struct tensors tensors;
    struct contexts contexts;
    struct hccl_ops hccl_ops;
    struct hccl_infos hccl_infos;
    struct tracks tracks; /* without flips and maintenance */
    struct host_flips flips;
    struct memcpys memcpys;
    struct fusions fusions;
    struct graph_ids graph_ids;
    struct capture_streams capture_streams;
    struct captured_ops captured_ops;
    struct marks marks;
    struct op_memory op_memory;
    struct static_memory static_memory;
    struct logic_streams logic_streams;
    struct mc2_groups mc2_groups;
    struct ccu_plans ccu_plans;
    struct dpu_tracks dpu_tracks;
    struct dpu_launches dpu_launches;
    struct ccu_records dpu_comms; /* dpu_hccl_layout */
    bool streams_expanded;        /* stream ids use 15 bits */
};

#endif
