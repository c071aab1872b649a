/* SPDX-License-Identifier: Apache-2.0 */
/* sim_queue.h - the queue of operators from a framework to the simulated device, as torch_npu has one.
 *
 * sim_op.c decides what an operator is on the device: a kernel, a copy, a part of another operator, or nothing. The
 * result goes through this queue to a thread that launches it; both ends record the points that a framework's queue
 * records. The queue is bounded: a thread that is faster than the device waits.
 */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_QUEUE_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_QUEUE_H

#include <stddef.h>

#include "ascope/sim.h"

enum { SIM_QUEUE_TASKS = 1024, SIM_TYPE_BYTES = 64 };
enum sim_op_work {
    SIM_OP_IDLE,
    SIM_OP_KERNEL,
    SIM_OP_TO_DEVICE,
    SIM_OP_TO_HOST,
    SIM_OP_COPY,
    SIM_OP_EXCHANGE,
    SIM_OP_JOIN,
    SIM_OP_MARK
};

/* What an operator is on the device, for operators in the table of sim_op_names.c. */
struct sim_op_row {
    const char *name,
        *type; /* name without the framework's prefix; type of the kernel, also the name of the queued task */
    enum sim_op_work work;
};

struct sim_queued {
    enum sim_op_work work;
    uint32_t n_in, n_out;
    uint64_t id, bytes; /* number in the queue; bytes of a copy, or the id of an exchange or mark */
    void *stream;       /* of a mark */
    char type[SIM_TYPE_BYTES];
    struct ascope_sim_tensor in[ASCOPE_SIM_OP_INPUTS], out[ASCOPE_SIM_OP_OUTPUTS];
};
void sim_queue_put(struct sim_queued *task); /* copies it, and sets its id */
/* Queues a mark, so that it keeps its place between operators. False: the queue is not in use, or the caller is its
 * thread; the mark is then to be launched directly. */
bool sim_queue_mark(void *stream, uint64_t id);
void sim_queue_wait(void); /* until everything that is in the queue now is launched */

#endif
