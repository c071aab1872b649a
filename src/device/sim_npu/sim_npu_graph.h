/* SPDX-License-Identifier: Apache-2.0 */
/* sim_npu_graph.h - the graph engine on the host: it loads graphs, and schedules their operators in phases. */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_NPU_GRAPH_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_NPU_GRAPH_H

#include "device/sim_npu/sim_npu.h"

/* The times of the phases before and after the launch of an operator. They are recorded at the end, when it is known
 * that the operator is recorded. */
enum { NPU_PHASES_BEFORE = 4, NPU_PHASES_ALL = 5 };
struct npu_schedule {
    uint64_t what; /* enum npu_what; 0: phases are not recorded, or no iteration is open */
    uint64_t begin[NPU_PHASES_ALL], end[NPU_PHASES_ALL];
};
void npu_schedule_begin(struct npu_schedule *s, uint64_t what, bool is_graph, struct npu_times *times);
void npu_schedule_end(struct npu_schedule *s, struct npu_times *times, uint64_t name);

void npu_graph_types_name(void);

#endif
