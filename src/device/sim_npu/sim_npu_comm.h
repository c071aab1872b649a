/* SPDX-License-Identifier: Apache-2.0 */
/* sim_npu_comm.h - collectives on the simulated device: each rank runs small tasks on several streams, which wait for
 * the others. */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_NPU_COMM_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_NPU_COMM_H

#include "device/sim_npu/sim_npu.h"

void npu_collective_run(struct ascope_sim_stream *s, const struct npu_collective *x);

#endif
