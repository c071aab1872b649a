/* flows.h - which calls of the host point at what they started on a device. */
#ifndef ASCOPE_ANALYSE_FLOW_FLOWS_H
#define ASCOPE_ANALYSE_FLOW_FLOWS_H

#include "profile/profile.h"

/* An arrow of a call is shared by all that the call started; one of a task is its own, from the moment at which the host
 * handed it over. `is_generic`: as the older presentation draws them. */
enum arrow_kind { ARROW_NONE, ARROW_OF_CALL, ARROW_OF_TASK };
enum arrow_kind arrow_of_task(const struct profile *p, const struct device *d, size_t row, bool is_generic);
bool arrow_of_collective(const struct profile *p, const struct device *d, size_t op);

#endif
