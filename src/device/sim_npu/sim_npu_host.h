/* SPDX-License-Identifier: Apache-2.0 */
/* sim_npu_host.h - the host's side of a launch on the simulated device: what the software above an NPU records of
 * it. */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_NPU_HOST_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_NPU_HOST_H

#include "device/sim_npu/sim_npu.h"

uint64_t npu_what(enum npu_what least); /* npu.what if it has one of these bits and this thread is recorded; else 0 */
uint64_t npu_now(struct npu_times *t);  /* the host's clock, but later than the last result for t */
uint64_t npu_name(const char *text);    /* records a name; returns its hash */
void npu_types_name(void);              /* registers the names of all types of calls */

/* Launches a task and records the launch, with this host time; 0: now. */
struct npu_issued npu_issue(struct ascope_sim_stream *s, struct npu_task *t, uint64_t what, uint64_t kernel,
                            struct npu_times *times, uint64_t time);
struct ascope_sim_stream *npu_stream_of(struct ascope_sim_stream *s); /* NULL: the first of the first device */
void npu_mark(void *stream, uint64_t id);
void *npu_mark_stream(void);
void npu_host_put(enum host_kind kind, const uint8_t *rec);

#endif
