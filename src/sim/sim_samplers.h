/* SPDX-License-Identifier: Apache-2.0 */
/* sim_samplers.h - what a simulated device samples while it works. */
#ifndef ASCOPE_SIM_SIM_SAMPLERS_H
#define ASCOPE_SIM_SIM_SAMPLERS_H

#include "sim/sim_run.h"

uint64_t samplers_span_ns(const struct sim_device *d);
bool moment_next(const struct sim_device *d, uint64_t span_ns, uint32_t every_us, struct sim_moment *at);
void samplers_write(struct sim_device *d);

#endif
