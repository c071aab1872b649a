/* SPDX-License-Identifier: Apache-2.0 */
/* sim_op_args.h - what operators of the simulated device were called with. */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_OP_ARGS_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_OP_ARGS_H

#include "device/sim_npu/sim_npu.h"

void npu_args_start(bool is_wanted); /* the lock is held */
void npu_args_keep(void);            /* too; from now on */
void npu_args_add(const struct ascope_sim_kernel *k);
bool npu_args_write(const char *dir, struct error *e);

#endif
