/* SPDX-License-Identifier: Apache-2.0 */
/* sim_ms_info.h - profiler_info_{rank}.json of a simulated MindSpore process. */
#ifndef ASCOPE_SIM_FRAMEWORK_SIM_MS_INFO_H
#define ASCOPE_SIM_FRAMEWORK_SIM_MS_INFO_H

#include "sim/framework/sim_ms.h"

void ms_info_write(struct sim_ms *m);

#endif
