/* SPDX-License-Identifier: Apache-2.0 */
/* ms_data.h - data that only MindSpore records. Times are wall-clock ns unless a comment says otherwise.
 *
 * Ranges and Python calls of MindSpore are in framework_ops and python_calls, as those of process MS_PROCESS. Ranges
 * without duration and the marks at which flows begin are here.
 */
#ifndef ASCOPE_PROFILE_MS_DATA_H
#define ASCOPE_PROFILE_MS_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/names.h"

/* Processes of the timeline; the ids are fixed. */
enum { MS_PROCESS = 1, MS_HOST_OPS_PROCESS = 2, MS_SCOPES_PROCESS = 3 };

/* By row of framework_ops. */
struct ms_ranges {
    uint64_t *flow; /* the flow that ends there; UINT64_MAX: none */
    uint64_t *step; /* the number of steps that the executor had begun by then */
};

/* Marks at which a flow begins, in file order. */
struct ms_marks {
    size_t n;
    int64_t *time_ns;
    uint64_t *flow;
    uint32_t *thread;
};

/* Ranges without duration, in file order. */
struct ms_instants {
    size_t n;
    int64_t *time_ns;
    uint32_t *thread;
    name_id *name;
};

/* Ranges of the dataset pipeline, in file order. */
struct ms_dataset {
    size_t n;
    uint32_t *op; /* row of framework_ops */
    name_id *node, *stage;
    name_id *info; /* "key:value;key:value"; NO_NAME: not recorded */
};

/* Operators that ran on the host's CPU, in file order. */
struct ms_host_ops {
    size_t n;
    int64_t *begin_ns, *dur_ns;
    uint32_t *thread;
    name_id *name, *type;
};

/* Inputs of operators, in file order. */
struct ms_shapes {
    size_t n;
    name_id *name, *shapes;
};

/* What the memory pool held after each change, in file order. */
struct ms_memory_totals {
    size_t n;
    int64_t *time_ns;
    uint64_t *allocated_bytes, *reserved_bytes, *active_bytes;
};

/* A node of the dataset pipeline, in order of their numbers; see pipeline_profiling_{rank}.json. */
struct ms_pipeline_node {
    int64_t id;
    const char *type;
    int64_t n_workers;
    bool has_queue;
    bool has_sizes;      /* its queue was sampled; there may be no sample yet */
    int64_t length;      /* capacity of the queue behind the node */
    size_t n_sizes;      /* samples of the queue */
    const int64_t *size; /* its fill level in each sample */
    size_t n_children;
    const uint32_t *child; /* rows of the nodes */
    uint32_t parent;       /* row; UINT32_MAX: none */
};

/* The CPU use of a node's threads: the mean of all samples. */
struct ms_pipeline_cpu {
    int64_t id;
    double pct;
};

struct ms_pipeline {
    size_t n; /* 0: there is none, or it cannot be used */
    struct ms_pipeline_node *node;
    size_t n_cpus;
    struct ms_pipeline_cpu *cpu;
    int64_t interval_ms;                               /* of its samples */
    bool has_cpu;                                      /* the file of CPU use is there and readable */
    bool has_batches;                                  /* the file of batches is there */
    double per_pipeline_ms, per_push_ms, per_batch_ms; /* means; -1: none */
};

struct mindspore {
    struct ms_ranges ranges;
    struct ms_marks marks;
    struct ms_instants instants;
    struct ms_dataset dataset;
    struct ms_host_ops host_ops;
    struct ms_shapes shapes;
    struct ms_memory_totals totals;
    struct ms_pipeline pipeline;
};

#endif
