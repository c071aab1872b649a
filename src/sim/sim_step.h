/* SPDX-License-Identifier: Apache-2.0 */
/* sim_step.h - one training step on one simulated device. */
#ifndef ASCOPE_SIM_SIM_STEP_H
#define ASCOPE_SIM_SIM_STEP_H

#include "sim/sim_run.h"

void step_run(struct sim_device *d, uint32_t step, uint64_t kernels);

#endif
