/* SPDX-License-Identifier: Apache-2.0 */
/* sim_queue.h - operators of a framework on their way to the simulated device: the inside of ascope_sim_op_begin() and the like.
 *
 * sim_op.c decides what an operator is there: a kernel, a copy, part of another one, or nothing. What it is goes through a queue, as
 * on a real device, to a thread that launches it; both ends leave the marks that a framework's queue leaves. The queue is bounded: who
 * is faster than the device waits for it.
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

/* What an operator is on the device, where that is known (sim_op_names.c). */
struct sim_op_row {
    const char *name, *type; /* without the framework's prefix; of the kernel, also what the queue calls it */
    enum sim_op_work work;
};

struct sim_queued {
    enum sim_op_work work;
    uint32_t n_in, n_out;
    uint64_t id, bytes; /* of an exchange, of a mark: which one */
    void *stream;       /* of a mark */
    char type[SIM_TYPE_BYTES];
    struct ascope_sim_tensor in[ASCOPE_SIM_OP_INPUTS], out[ASCOPE_SIM_OP_OUTPUTS];
};
void sim_queue_put(struct sim_queued *task); /* copies it, and gives it its number */
/* A mark keeps its place between operators. False: the queue is not in use, or this is its far end: launch it at once. */
bool sim_queue_mark(void *stream, uint64_t id);
void sim_queue_wait(void); /* until all that was put in by now is launched */

#endif
