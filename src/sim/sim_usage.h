/* SPDX-License-Identifier: Apache-2.0 */
/* sim_usage.h - what is sampled as text: ports, links and CPUs of a device, operating systems. */
#ifndef ASCOPE_SIM_SIM_USAGE_H
#define ASCOPE_SIM_SIM_USAGE_H

#include "sim/sim_run.h"

void usage_of_device(struct sim_device *d);
void usage_of_host(struct sim_process *p);

#endif
