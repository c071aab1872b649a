/* SPDX-License-Identifier: Apache-2.0 */
/* comm.h - collective communication: operators, their tasks, and how much of it overlaps with computing. */
#ifndef ASCOPE_PROFILE_COMM_H
#define ASCOPE_PROFILE_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/names.h"

/* The host's half, filled by analyse/host/operators.c. Times are values of the host's counter. */
struct comm_requests {
    struct { /* tasks of collectives, as the host launched them; by (thread, time) */
        size_t n;
        uint16_t *device, *stream, *batch;
        uint32_t *task, *context, *thread, *model, *connection;
        uint64_t *time;
        uint32_t *info; /* row of hccl_infos, or NO_ROW */
        bool *is_master;
    } small;
    struct { /* collectives, by (thread, time) */
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

/* The collectives that ran on one device. Filled by analyse/comm. */
struct communication {
    struct comm_ops { /* in the order of the first task of each; those of the AI CPU follow those of the host */
        size_t n;
        name_id *name; /* with its suffix: hcom_allReduce__483_1_1 */
        name_id *op_type, *group, *alg;
        name_id *group_id; /* the decimal digits of the group's hash, even if the dictionary has a name for it */
        int64_t *begin_ns, *end_ns; /* of its tasks on the master stream */
        double *dur_ns;             /* the same, with its fraction */
        uint32_t *iteration;        /* counts the runs of the same task from 1; captured graphs run repeatedly */
        uint64_t *asked;            /* when it was launched: value of the host's counter */
        uint32_t *connection, *model, *rank_size, *data_type; /* data_type: DATA_TYPE_NONE when not reported */
        int32_t *relay, *retry;                               /* -1: not reported */
        uint64_t *count;
        bool *is_shown; /* false: none of its tasks ran on the master stream */
        bool *is_aicpu; /* an operator that also computes (MC2), scheduled by the AI CPU */
    } ops;
    struct comm_tasks { /* sorted by begin */
        size_t n;
        uint32_t *op; /* row of ops */
        name_id *name, *group;
        int64_t *begin_ns, *end_ns;
        double *dur_ns, *estimate_us;
        double *moved_bytes, *moved_ns; /* the bandwidth is their ratio; 0 ns: there is none */
        int32_t *plane;                 /* -1: none */
        uint32_t *task_row;             /* row of the device's tasks */
        uint32_t *src_rank, *dst_rank, *rdma, *transport, *link, *data_type;
        uint64_t *notify, *size;
        bool *has_info; /* false: it is only known that the task ran */
        bool *is_master;
        bool *is_piece; /* part of an RDMA payload; all parts have the bandwidth of the payload */
        bool *is_aicpu; /* launched by an AI CPU, not by the host */
    } tasks;
};
enum { DATA_TYPE_NONE = 65534 };

/* The reference computes a bandwidth with one of three formulas, whose results differ in the last digits, and shows all
 * digits. `is_generic`: as its older implementation, in Python, does. */
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
