/* SPDX-License-Identifier: Apache-2.0 */
/* sim_npu_host.h - the host's side of a launch on the simulated device. */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_NPU_HOST_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_NPU_HOST_H

#include "device/sim_npu/sim_npu.h"

uint64_t npu_what(enum npu_what least); /* 0: nothing, or not that */
uint64_t npu_now(struct npu_times *t);
uint64_t npu_name(const char *text);
void npu_types_name(void);

/* To the device, and on record; a time of 0 is now. */
struct npu_issued npu_issue(struct ascope_sim_stream *s, struct npu_task *t, uint64_t what, uint64_t kernel,
                            struct npu_times *times, uint64_t time);
struct ascope_sim_stream *npu_stream_of(struct ascope_sim_stream *s); /* NULL: the first of the first device */
void npu_mark(void *stream, uint64_t id);
void *npu_mark_stream(void);
void npu_host_put(enum host_kind kind, const uint8_t *rec);

#endif
