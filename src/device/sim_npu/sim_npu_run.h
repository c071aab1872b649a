/* SPDX-License-Identifier: Apache-2.0 */
/* sim_npu_run.h - the thread that executes tasks on the simulated devices, their queues, and points. The caller holds
 * the lock. */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_NPU_RUN_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_NPU_RUN_H

#include "device/sim_npu/sim_npu.h"

/* Points count their references. NULL is accepted everywhere: it stands for a point that nobody waits for. */
struct npu_point *npu_point_get(uint32_t n_times); /* a new point with one reference; NULL: no memory */
struct npu_point *npu_point_keep(struct npu_point *p);
void npu_point_drop(struct npu_point *p);
void npu_point_happens(struct npu_point *p, uint64_t ns); /* after n_times of these it is reached, at the latest ns */

void npu_forget(void); /* in a child process: drops all tasks; there is no thread */
bool npu_thread_start(void);
void npu_wake(void); /* wakes the thread if it would sleep for long */
void npu_wait(void); /* releases the lock until the thread has made progress, 1 s at most */
struct ascope_sim_stream *npu_stream_get(struct npu_device *d); /* NULL: too many, or no memory */

/* Appends a task to the queue of a stream and takes over its references. Waits for room, and releases the lock
 * meanwhile. */
struct npu_enqueued npu_enqueue(struct ascope_sim_stream *s, struct npu_task *t, uint64_t what);
void npu_device_put(struct npu_device *d, enum stream_id stream, const uint8_t *rec, size_t bytes);

#endif
