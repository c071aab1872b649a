/* SPDX-License-Identifier: Apache-2.0 */
/* sim_op_args.h - the arguments of operators of the simulated device, as files: each type with each list of shapes
 * once. */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_OP_ARGS_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_OP_ARGS_H

#include "device/sim_npu/sim_npu.h"

void npu_args_start(bool is_wanted); /* a session starts; the caller holds the lock */
void npu_args_keep(void);            /* its warm-up is over: arguments are recorded; the caller holds the lock */
void npu_args_add(const struct ascope_sim_kernel *k);  /* takes the lock */
bool npu_args_write(const char *dir, struct error *e); /* writes the files after the stop, and forgets them */

#endif
