/* SPDX-License-Identifier: Apache-2.0 */
/* flows.h - flow events from calls of the host to what they started on a device. */
#ifndef ASCOPE_ANALYSE_FLOW_FLOWS_H
#define ASCOPE_ANALYSE_FLOW_FLOWS_H

#include "profile/profile.h"

/* A flow of a call is shared by all that the call started; one of a task is its own, from the moment at which the host
 * handed it over. `is_generic`: as the older presentation draws them. */
enum flow_kind { FLOW_NONE, FLOW_OF_CALL, FLOW_OF_TASK };
enum flow_kind flow_of_task(const struct profile *p, const struct device *d, size_t row, bool is_generic);
bool flow_of_collective(const struct profile *p, const struct device *d, size_t op);

#endif
