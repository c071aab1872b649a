/* SPDX-License-Identifier: Apache-2.0 */
/* sim_exchange.h - collectives of a framework on the simulated device. */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_EXCHANGE_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_EXCHANGE_H

#include "device/sim_npu/sim_npu.h"
#include "device/sim_npu/sim_queue.h"

void npu_exchanges_release(void); /* none waits for the host any more */
void npu_exchanges_forget(void);  /* in a child process */

void sim_exchange_launch(uint64_t which);
void sim_exchange_join(uint64_t which);

#endif
