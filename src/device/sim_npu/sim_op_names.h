/* SPDX-License-Identifier: Apache-2.0 */
/* sim_op_names.h - operators of PyTorch by name: what each is on the simulated device. */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_OP_NAMES_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_OP_NAMES_H

#include "device/sim_npu/sim_queue.h"

extern const struct sim_op_row sim_op_rows[];
extern const size_t sim_n_op_rows;
const struct sim_op_row *sim_op_row_of(const char *name); /* NULL: not known */

#endif
