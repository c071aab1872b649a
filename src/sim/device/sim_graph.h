/* SPDX-License-Identifier: Apache-2.0 */
/* sim_graph.h - graphs of a simulated process: loaded models and captured streams. */
#ifndef ASCOPE_SIM_DEVICE_SIM_GRAPH_H
#define ASCOPE_SIM_DEVICE_SIM_GRAPH_H

#include "sim/job/sim_run.h"

void graph_load(struct sim_device *d);
void graph_capture(struct sim_device *d);
void graphs_run(struct sim_device *d, uint32_t step);
void graphs_end(struct sim_device *d);

#endif
