/* SPDX-License-Identifier: Apache-2.0 */
/* aicpu_comm.h - communication that the AI CPUs of a device schedule themselves, as they recorded it.
 *
 * Times are ticks of the device's counter; ids become those of the host in analyse/comm/aicpu_tasks.c.
 */
#ifndef ASCOPE_PROFILE_AICPU_COMM_H
#define ASCOPE_PROFILE_AICPU_COMM_H

#include <stddef.h>
#include <stdint.h>

/* Rounds of an operator that alternates between computing and communication, in file order. The stamps of a round
 * ascend: each phase of the round lasts from its own stamp to the next one. */
enum { TURN_MOST_STAMPS = 7 };
struct turns {
    size_t n, n_stamps;
    uint64_t *stamp[TURN_MOST_STAMPS];
    uint16_t *stream, *task;
    uint8_t *number;
};
enum turn_kind { TURNS_COMPUTE, TURNS_COMM, TURN_KINDS };

struct aicpu_comm {
    struct turns turns[TURN_KINDS];
    struct { /* operators, in file order */
        size_t n;
        uint64_t *tick, *alg, *count, *group;
        uint16_t *stream;
        uint32_t *task, *rank_size;
        uint8_t *flags, *data_type;
    } ops;
    struct { /* wrap-arounds of the task ids that the AI CPUs hand out, in file order */
        size_t n;
        uint64_t *tick;
        uint16_t *stream, *task;
        uint32_t *number;
    } flips;
    struct { /* first and last task of an operator on its master stream, in file order */
        size_t n;
        uint64_t *tick;
        uint16_t *aicpu_stream, *aicpu_task, *stream, *task, *kind;
    } marks;
    struct { /* the tasks of operators, as the AI CPUs handed them to the scheduler; in file order */
        size_t n;
        uint64_t *tick, *item, *group, *notify, *size;
        double *estimate_us;
        uint32_t *task, *local_rank, *remote_rank;
        uint16_t *stream, *plane;
        uint8_t *data_type, *link, *transport, *rdma;
    } tasks;
};
enum { MARK_HEAD = 0, MARK_TAIL = 1 };

#endif
