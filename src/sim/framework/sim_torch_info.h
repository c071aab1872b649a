/* SPDX-License-Identifier: Apache-2.0 */
/* sim_torch_info.h - profiler_info_{rank}.json and profiler_metadata.json of a simulated PyTorch process. */
#ifndef ASCOPE_SIM_FRAMEWORK_SIM_TORCH_INFO_H
#define ASCOPE_SIM_FRAMEWORK_SIM_TORCH_INFO_H

#include "sim/framework/sim_torch.h"

void torch_info_write(struct sim_torch *t);

#endif
