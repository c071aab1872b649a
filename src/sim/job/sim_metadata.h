/* SPDX-License-Identifier: Apache-2.0 */
/* sim_metadata.h - profiler_metadata.json of a simulated process: that it is simulated, and the groups of its job. */
#ifndef ASCOPE_SIM_JOB_SIM_METADATA_H
#define ASCOPE_SIM_JOB_SIM_METADATA_H

#include "sim/job/sim_front.h"

void front_metadata_write(struct sim_front *f);

#endif
