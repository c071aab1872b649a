/* SPDX-License-Identifier: Apache-2.0 */
/* sim_exchange.h - collectives that a framework executes itself (gloo, for example), shown on the simulated device. */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_EXCHANGE_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_EXCHANGE_H

#include "device/sim_npu/sim_npu.h"
#include "device/sim_npu/sim_queue.h"

/* The caller holds the lock of npu. */
void npu_exchanges_release(void); /* open exchanges end now, without waiting for the host */
void npu_exchanges_forget(void);  /* in a child process: drops all of them */

/* For the thread of the queue: launches an exchange, and lets the stream of the operators wait for it. Unknown ids are
 * ignored. */
void sim_exchange_launch(uint64_t which);
void sim_exchange_join(uint64_t which);

#endif
