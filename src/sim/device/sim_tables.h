/* SPDX-License-Identifier: Apache-2.0 */
/* sim_tables.h - what the simulated job consists of: kinds of tasks, operators, collectives, types.
 *
 * Data only. A new operator or collective is a new row.
 */
#ifndef ASCOPE_SIM_DEVICE_SIM_TABLES_H
#define ASCOPE_SIM_DEVICE_SIM_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "raw/chip.h"

/* Numbers of types, by level: the dictionary of types is made from sim_types. */
enum {
    TYPE_GRAPH_ID_MAP = 0,
    TYPE_MODEL_EXECUTE = 1,
    TYPE_MODEL_LOAD = 2,
    TYPE_LOGIC_STREAM = 7,

    TYPE_NODE_BASIC = 0,
    TYPE_TENSOR = 1,
    TYPE_FUSION_OP = 2,
    TYPE_CONTEXT_ID = 4,
    TYPE_LAUNCH = 5,
    TYPE_TASK_MEMORY = 6,
    TYPE_NODE_ATTR = 9,
    TYPE_HCCL_OP = 10,
    TYPE_MC2 = 12,
    TYPE_STATIC_MEMORY = 11,
    TYPE_MULTI_THREAD = 14,
    TYPE_COLLECTIVE = 0x20000, /* and above: one for each collective */

    TYPE_HCCL_INFO = 0x10000,
    TYPE_MASTER = 0x10001,
    TYPE_SLAVE = 0x10002,

    TYPE_MEMCPY_INFO = 801,
    TYPE_TASK_TRACK = 802,
    TYPE_CAPTURE_STREAM = 803,
    TYPE_CAPTURED_OP = 804,
    TYPE_CALL_KERNEL = 1000, /* runtime calls */
    TYPE_CALL_LAUNCH,
    TYPE_CALL_MEMCPY,
    TYPE_CALL_EVENT_RECORD,
    TYPE_CALL_EVENT_WAIT,
    TYPE_CALL_SYNCHRONIZE,
    TYPE_CALL_NOTIFY_RECORD,
    TYPE_CALL_NOTIFY_WAIT,
    TYPE_CALL_REDUCE,
    TYPE_CALL_MODEL,
    TYPE_CALL_CPU_KERNEL,
    TYPE_CALL_STARS,
    TYPE_CALL_RDMA,
    TYPE_CALL_TRACE,
    TYPE_CALL_SET_DEVICE,

    TYPE_ACL_SET_DEVICE = 0x30001,
    TYPE_ACL_MEMCPY,
    TYPE_ACL_EVENT_RECORD,
    TYPE_ACL_EVENT_WAIT,
    TYPE_ACL_SYNCHRONIZE,
    TYPE_ACL_MODEL_EXECUTE = 0x20001,
    TYPE_ACL_GRAPH_EXECUTE = 0xA0001,
    TYPE_ACL_FUSED = 0x5FFFF,
    TYPE_ACL_OPERATOR = 0x50001,   /* two for each operator: its workspace, its launch */
    TYPE_ACL_COLLECTIVE = 0x70001, /* one for each collective */
};
enum { LEVEL_MARK = 20500 };
struct sim_type {
    uint16_t level;
    uint32_t type;
    const char *name;
};
extern const struct sim_type sim_types[];
extern const size_t sim_n_types;

/* What a stream can hold. A kind says how the host calls it and how the device logs it. */
enum task_kind {
    TASK_CUBE,
    TASK_VECTOR,
    TASK_MIX_CUBE,
    TASK_MIX_VECTOR,
    TASK_AICPU,
    TASK_DSA,
    TASK_COPY_PCIE,
    TASK_COPY_LOCAL,
    TASK_EVENT_RECORD,
    TASK_EVENT_WAIT,
    TASK_NOTIFY_RECORD,
    TASK_NOTIFY_WAIT,
    TASK_RDMA_SEND,
    TASK_REDUCE,
    TASK_TRACE,
    TASK_MODEL,
    TASK_AICPU_QUIET, /* a kernel of the AI CPU that leaves no record of its time */
    TASK_CCORE,
    TASK_KINDS
};
struct sim_task_kind {
    uint32_t call;       /* type of the runtime call */
    uint16_t track;      /* type in the host's task track */
    uint16_t node;       /* type in node_basic_info */
    uint8_t log;         /* type in the device's task log */
    uint8_t hwts;        /* the same on chips without STARS */
    uint8_t on_950;      /* and on the 950, which has fewer */
    uint8_t context;     /* type of the sub task for those that run as one, else 0 */
    uint8_t other_ratio; /* blocks of the other kind of core to one of its own; 0: it has none */
};
extern const struct sim_task_kind sim_task_kinds[TASK_KINDS];
/* The cores of an A2, and the operations of one of its cubes in a cycle: products of 16x16x16 halves. */
enum { SIM_CUBES = 24, SIM_VECTORS = 48, SIM_CUBE_OPERATIONS = 2 * 16 * 16 * 16 };
static inline bool sim_kind_is_of_cubes(enum task_kind kind)
{
    return kind == TASK_CUBE || kind == TASK_MIX_CUBE;
}
/* The kind that a chip runs instead if it lacks the units of `kind`. */
enum task_kind sim_kind_on(const struct chip *c, enum task_kind kind);

enum shape { SHAPE_MATMUL, SHAPE_BATCH_MATMUL, SHAPE_CONV, SHAPE_BINARY, SHAPE_UNARY, SHAPE_CAST, SHAPE_ATTENTION };
struct sim_operator {
    const char *call; /* aclnnMatmul */
    const char *type; /* MatMulV2 */
    enum task_kind kind;
    enum shape shape;
    uint8_t n_in, n_out;
    uint8_t weight;          /* how often, against the others */
    uint16_t us_min, us_max; /* how long it runs */
};
extern const struct sim_operator sim_operators[];
extern const size_t sim_n_operators;

/* One small task of a collective; a plane runs them in this order. */
/* SMALL_COPY stays on the chip by a way of its own; SMALL_MOVE is the copy over a link, or on the chip by the same
 * engine. */
enum small {
    SMALL_COPY,
    SMALL_MOVE,
    SMALL_RECORD,
    SMALL_WAIT,
    SMALL_REDUCE,
    SMALL_PAYLOAD,
    SMALL_NOTIFY,
    SMALL_CORE,
    SMALL_KINDS
};
struct sim_small {
    const char *name;
    enum task_kind kind;
    uint32_t link, transport, rdma; /* all ones: none */
    uint8_t moves;                  /* data, and not only a signal */
};
extern const struct sim_small sim_smalls[SMALL_KINDS];

enum collective_kind { /* places in sim_collectives */
                       COLLECTIVE_ALL_REDUCE,
                       COLLECTIVE_ALL_GATHER,
                       COLLECTIVE_REDUCE_SCATTER,
                       COLLECTIVE_BROADCAST,
                       COLLECTIVE_SEND,
                       COLLECTIVE_ALL_TO_ALL,
                       COLLECTIVE_RECEIVE,
};
enum { PLANE_TASKS_MOST = 7 };
struct sim_collective {
    const char *call; /* HcclAllReduce */
    const char *node; /* hcom_allReduce_ */
    uint8_t weight;   /* 0: only ranks of jobs run it; these are the last rows */
    uint8_t n;
    uint8_t small[PLANE_TASKS_MOST];
};
extern const struct sim_collective sim_collectives[];
extern const size_t sim_n_collectives;

#endif
