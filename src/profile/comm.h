/* SPDX-License-Identifier: Apache-2.0 */
/* comm.h - collective communication: operators, their tasks, and how much of it overlaps with computing. */
#ifndef ASCOPE_PROFILE_COMM_H
#define ASCOPE_PROFILE_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/names.h"

/* The host's half, filled by analyse/host/operators.c. Times are values of the host's counter. */
struct comm_requests {
    struct { /* small tasks as they were handed over, in the order of (thread, time) */
        size_t n;
        uint16_t *device, *stream, *batch;
        uint32_t *task, *context, *thread, *model, *connection;
        uint64_t *time;
        uint32_t *info; /* row of hccl_infos, or NO_ROW */
        bool *is_master;
    } small;
    struct { /* operators, in the order of (thread, time) */
        size_t n;
        uint16_t *device;
        uint32_t *call;     /* the node call: begin, end, name and connection are its */
        uint32_t *kfc_call; /* a node call inside it, or NO_ROW */
        uint32_t *basic;    /* row of node_basics, or NO_ROW */
        uint32_t *op;       /* row of hccl_ops, or NO_ROW */
        uint32_t *thread, *model;
        int64_t *request;
    } big;
};

/* Filled by analyse/comm/comm_operators.c: what really ran on one device. */
struct communication {
    struct comm_ops { /* in the order of the first task of each; those of the AI CPU follow those of the host */
        size_t n;
        name_id *name; /* with its suffix: hcom_allReduce__483_1_1 */
        name_id *op_type, *group, *alg;
        name_id *group_id;          /* the digits of the group's hash, which no dictionary explains away */
        int64_t *begin_ns, *end_ns; /* of its tasks on the master stream */
        double *dur_ns;             /* the same, with its fraction */
        uint32_t *iteration;        /* how often it has run by now: more than once in captured graphs */
        uint64_t *asked;            /* when it was launched: value of the host's counter */
        uint32_t *connection, *model, *rank_size, *data_type; /* data_type: DATA_TYPE_NONE when not reported */
        int32_t *relay, *retry;                               /* -1: not reported */
        uint64_t *count;
        bool *is_shown; /* false: none of its tasks ran on the master stream */
        bool *is_aicpu; /* scheduled by the AI CPU, in rows of its own */
    } ops;
    struct comm_tasks { /* sorted by begin */
        size_t n;
        uint32_t *op; /* row of ops */
        name_id *name, *group;
        int64_t *begin_ns, *end_ns;
        double *dur_ns, *estimate_us;
        double *moved_bytes, *moved_ns; /* of which the bandwidth is the ratio; 0 ns: there is none */
        int32_t *plane;                 /* -1: none */
        uint32_t *task_row;             /* row of the device's tasks */
        uint32_t *src_rank, *dst_rank, *rdma, *transport, *link, *data_type;
        uint64_t *notify, *size;
        bool *has_info; /* false: nothing was reported of it but that it ran */
        bool *is_master;
        bool *is_piece; /* of a payload sent by RDMA, which moves as a whole */
        bool *is_aicpu; /* handed over by an AI CPU, and not by the host */
    } tasks;
};
enum { DATA_TYPE_NONE = 65534 };

/* The reference divides in three ways, and shows all digits of the result. `is_generic`: its older one, in Python. */
double comm_bandwidth_gbs(const struct comm_tasks *t, size_t i, bool is_generic);

enum overlap_kind { OVERLAP_COMPUTING, OVERLAP_COMMUNICATION, OVERLAP_EXPOSED, OVERLAP_FREE, OVERLAP_KINDS };

/* Disjoint intervals of each kind, by ascending begin. */
struct overlap {
    struct intervals {
        size_t n;
        int64_t *begin_ns, *end_ns;
    } kind[OVERLAP_KINDS];
};

#endif
