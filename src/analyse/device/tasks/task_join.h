/* SPDX-License-Identifier: Apache-2.0 */
/* task_join.h - matches tasks of the host with tasks of the device.
 *
 * Where ids are unique in the whole collection, they decide. Older drivers and chips reuse a task id without a flip
 * record: there the first task that the host launched with an id is the first that ran with it, and so on.
 */
#ifndef ASCOPE_ANALYSE_DEVICE_TASKS_TASK_JOIN_H
#define ASCOPE_ANALYSE_DEVICE_TASKS_TASK_JOIN_H

#include "profile/profile.h"

/* Rows of device_log in the order of (key, context, begin), with the host task of each, or NO_ROW when the host says
 * nothing. */
struct joined {
    size_t n;
    uint32_t *row, *host;
    bool *is_hidden; /* the caller's */
};

/* Everything that ran during the collection; what is left out is counted in the losses of the device. Memory is taken
 * from `mem`. False: there is none. */
bool tasks_join(struct profile *p, struct device *d, struct arena *mem, struct joined *out);

#endif
