/* SPDX-License-Identifier: Apache-2.0 */
/* sim_counters.h - what the cores of a simulated device counted. */
#ifndef ASCOPE_SIM_SIM_COUNTERS_H
#define ASCOPE_SIM_SIM_COUNTERS_H

#include "sim/sim_run.h"

void counters_write(struct sim_device *d, uint16_t stream, const struct device_task *t);
void counters_sample(struct sim_device *d, uint64_t end); /* sample based: the whole collection at once */

#endif
