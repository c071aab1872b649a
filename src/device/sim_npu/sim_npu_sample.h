/* SPDX-License-Identifier: Apache-2.0 */
/* sim_npu_sample.h - samplers of a simulated device: memory, ports, links, image units. The caller holds the lock. */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_NPU_SAMPLE_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_NPU_SAMPLE_H

#include "device/sim_npu/sim_npu.h"

void npu_samples_choose(const struct ascope_options *o);
uint64_t npu_samples_next(const struct npu_device *d); /* tick; NEVER: none */
void npu_samples_run(struct npu_device *d, uint64_t now);
void npu_samples_first(struct npu_device *d);
void npu_samples_last(struct npu_device *d);
void npu_samples_forget(struct npu_device *d);
void npu_traffic_add(struct npu_device *d, const struct sim_work *w);

#endif
