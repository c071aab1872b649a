/* SPDX-License-Identifier: Apache-2.0 */
/* rank.h - what is known about one rank of a job, whoever analysed it: columns.
 *
 * Filled from the databases of a rank (rank_db.c), from its text results (rank_text.c), or from a collection that was
 * just analysed, by the functions that write its databases (pipeline/rank_load.c). Names are those of the job: equal
 * texts have equal ids on all ranks. Nothing but rank_summarise() and the few modes that look at single tasks reads it;
 * all else reads the summary that is made of it.
 *
 * Times are ns since the epoch on the rank's own clock. A part that the source does not have has no rows, and its bit
 * in `has` is not set: that is not the same as nothing having happened.
 */
#ifndef ASCOPE_CLUSTER_RANK_RANK_H
#define ASCOPE_CLUSTER_RANK_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/memory/arena.h"
#include "base/text/error.h"
#include "base/text/framework_names.h"
#include "base/memory/names.h"
#include "raw/nccl_names.h"

enum rank_part {
    RANK_STEPS = 1 << 0,       /* steps */
    RANK_STEP_TRACE = 1 << 1,  /* step_trace */
    RANK_COMM_TABLES = 1 << 2, /* comm_time, comm_bandwidth */
    RANK_COMM_MATRIX = 1 << 3, /* comm_matrix */
    RANK_COLLECTIVES = 1 << 4, /* collectives */
    RANK_TASKS = 1 << 5,       /* tasks, kernels */
    RANK_CALLS = 1 << 6,       /* calls of the runtime */
    RANK_OPS = 1 << 7,         /* operators of the framework */
    RANK_MARKS = 1 << 8,
    RANK_CLOCK = 1 << 9, /* clock of the cores */
    RANK_ALL = (1 << 10) - 1,
    RANK_OF_TEXT = RANK_STEP_TRACE | RANK_COMM_TABLES | RANK_COMM_MATRIX /* what text results have */
};

/* Who it is. Texts are lent by mem; NULL: not known. */
struct rank_identity {
    bool has_rank;
    int64_t rank;
    bool has_device;
    int64_t device;
    const char *path, *host_uid, *host_name;
    const char *distributed_args; /* JSON texts, as the job noted them */
    const char *parallel_group_info;
    const char *pp_info; /* kind of pipeline and number of micro-batches, if the job noted them */
    enum framework_id framework;
    bool is_simulated;
    const char
        *steps_by; /* ranges of the host that the steps are (step_marks.h); before it is read: those that are asked
                     for */
    const char *log_trouble; /* what of the log of a database is not read, and why */
    struct losses lost;      /* when it was analysed, if the source says so */
};

/* A row of step_trace_time: what both the table and the text have, in µs. */
enum step_column {
    STEP_COLUMN_COMPUTING,
    STEP_COLUMN_EXPOSED,
    STEP_COLUMN_OVERLAPPED,
    STEP_COLUMN_COMMUNICATION,
    STEP_COLUMN_FREE,
    STEP_COLUMN_STAGE,
    STEP_COLUMN_BUBBLE,
    STEP_COLUMN_EXPOSED_NO_RECEIVE,
    STEP_COLUMN_PREPARING,
    STEP_COLUMNS
};

struct rank_steps { /* STEP_TIME, by begin */
    size_t n;
    int64_t *id, *begin_ns, *end_ns;
    name_id *mark; /* the range of the host that each begins with; NAME_EMPTY: the profiler's own */
};

struct rank_step_trace {
    size_t n;
    name_id *step; /* its text; NAME_EMPTY: there are no steps */
    double *us[STEP_COLUMNS];
};

/* The tables of communication that the analysis of the rank left: ms, MB, GB/s as they are there. */
struct rank_comm_time {
    size_t n;
    name_id *op, *group, *step, *type; /* group: the number of its name, in decimal; type: "p2p", "collective" */
    double *start_us, *elapse_ms, *transit_ms, *wait_ms, *synchronization_ms, *idle_ms;
    double *wait_ratio, *synchronization_ratio; /* NAN: the source has none */
};
struct rank_comm_bandwidth {
    size_t n;
    name_id *op, *group, *step, *type, *transport;
    double *transit_mb, *transit_ms, *gbs, *large_packet_ratio, *package_mb, *count, *total_ms;
};
struct rank_comm_matrix {
    size_t n;
    name_id *op, *group, *step, *type, *transport, *op_name; /* op: "allreduce-top1"; op_name: which one that is */
    int64_t *src, *dst;                                      /* ranks within the group */
    double *transit_mb, *transit_ms, *gbs;
};

struct rank_collectives { /* COMMUNICATION_OP, by begin */
    size_t n;
    name_id *name, *group, *type, *data_type; /* group: its text, not its number */
    int64_t *begin_ns, *end_ns;
    int64_t *launch_ns; /* begin of the call that launched it; INT64_MIN: none is known */
    uint64_t *connection;
    double *count;      /* of elements; below 0: not known */
    int64_t *src, *dst; /* of a send or receive: ranks within the group; -1: not known */
};

struct rank_tasks { /* TASK, by begin: everything that ran on the device */
    size_t n;
    name_id *type;
    int64_t *begin_ns, *end_ns;
    uint64_t *connection;
    uint32_t *kernel; /* row of kernels; NO_ROW: it computes nothing */
    uint32_t *stream;
};
struct rank_kernels { /* COMPUTE_TASK_INFO: what tasks compute; of a graph, all runs of a task have one row */
    size_t n;
    name_id *name, *op_type, *task_type, *input_shapes, *input_types, *output_shapes;
    uint32_t *block_dim;
    name_id *input_formats, *output_formats;
};

struct rank_calls { /* CANN_API, by begin */
    size_t n;
    name_id *name, *type; /* type: "node", "acl", … */
    int64_t *begin_ns, *end_ns;
    uint64_t *connection, *thread;
};

struct rank_ops { /* PYTORCH_API, by begin */
    size_t n;
    name_id *name;
    int64_t *begin_ns, *end_ns;
    uint64_t *thread;
};
struct rank_op_links { /* CONNECTION_IDS of operators, by connection */
    size_t n;
    uint64_t *connection;
    uint32_t *op; /* row of ops */
};

struct rank_marks { /* MSTX_EVENTS, by begin */
    size_t n;
    name_id *message, *domain;
    int64_t *begin_ns, *end_ns;
    uint8_t *event_type;
    uint64_t *thread, *connection;
};

struct rank_clock { /* AICORE_FREQ, or the clock of a GPU, by time */
    size_t n;
    int64_t *time_ns;
    int64_t *mhz;
};

/* The number by which results call a group, of its text. */
uint64_t group_number(const char *text, size_t len);

struct rank {
    struct rank_identity identity;
    unsigned has; /* enum rank_part */
    struct rank_steps steps;
    struct rank_step_trace step_trace;
    struct rank_comm_time comm_time;
    struct rank_comm_bandwidth comm_bandwidth;
    struct rank_comm_matrix comm_matrix;
    struct rank_collectives collectives;
    struct rank_tasks tasks;
    struct rank_kernels kernels;
    struct rank_calls calls;
    struct rank_ops ops;
    struct rank_op_links op_links;
    struct rank_marks marks;
    struct rank_clock clock;
    struct names *names; /* of the job */
    struct arena *mem;
};

/* A kernel that computes. Databases of GPUs list those of NCCL, too, which are collectives. */
static inline bool rank_task_computes(const struct rank *r, size_t task)
{
    const uint32_t kernel = r->tasks.kernel[task];
    return kernel != UINT32_MAX && !nccl_is_kernel(names_text(r->names, r->kernels.name[kernel]));
}

/* A copy of memory: of an NPU by its type, of a GPU as "Memcpy HtoD (Pinned -> Device)". `copy` is the name of the
 * former. */
static inline bool rank_task_is_copy(const struct rank *r, size_t task, name_id copy)
{
    static const char of_gpu[] = "Memcpy ";
    const name_id type = r->tasks.type[task];
    return type == copy || (names_len(r->names, type) >= sizeof of_gpu - 1 &&
                            memcmp(names_text(r->names, type), of_gpu, sizeof of_gpu - 1) == 0);
}

#endif
