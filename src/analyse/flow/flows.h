/* SPDX-License-Identifier: Apache-2.0 */
/* flows.h - flow events from calls of the host to what they started on a device. */
#ifndef ASCOPE_ANALYSE_FLOW_FLOWS_H
#define ASCOPE_ANALYSE_FLOW_FLOWS_H

#include "profile/profile.h"

/* FLOW_OF_CALL: all tasks that a call started share one flow. FLOW_OF_TASK: the task has its own flow, which begins
 * when the host launched it. `is_generic`: as in the older of the reference's two presentations. */
enum flow_kind { FLOW_NONE, FLOW_OF_CALL, FLOW_OF_TASK };
enum flow_kind flow_of_task(const struct profile *p, const struct device *d, size_t row, bool is_generic);
bool flow_of_collective(const struct profile *p, const struct device *d, size_t op);

#endif
