/* SPDX-License-Identifier: Apache-2.0 */
/* sim_npu_run.h - what happens on the simulated devices, in the order of their time. */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_NPU_RUN_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_NPU_RUN_H

#include "device/sim_npu/sim_npu.h"

struct npu_point *npu_point_get(uint32_t n_times); /* with one reference; NULL: no memory, and nobody waits */
struct npu_point *npu_point_keep(struct npu_point *p);
void npu_point_drop(struct npu_point *p);
void npu_point_happens(struct npu_point *p, uint64_t ns);
void npu_forget(void); /* in a child process: nothing runs, nothing waits */
bool npu_thread_start(void);
void npu_wake(void);                                            /* if the thread would sleep for long */
void npu_wait(void);                                            /* until the thread has done something, or a while */
struct ascope_sim_stream *npu_stream_get(struct npu_device *d); /* NULL: no more, or no memory */

/* Waits for room in the queue. The lock is held before and after, not in between. */
struct npu_enqueued npu_enqueue(struct ascope_sim_stream *s, struct npu_task *t, uint64_t what);
void npu_device_put(struct npu_device *d, enum stream_id stream, const uint8_t *rec, size_t bytes);

#endif
