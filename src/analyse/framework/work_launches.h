/* SPDX-License-Identifier: Apache-2.0 */
/* work_launches.h - when the program launched what ran on a device of a collection.
 *
 * With the framework's task queue, that is when its task was put into the queue: the call of the runtime comes later,
 * on another thread.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_WORK_LAUNCHES_H
#define ASCOPE_ANALYSE_FRAMEWORK_WORK_LAUNCHES_H

#include "profile/collection.h"

/* By row of the device's tasks and of its collectives; without a known launch the begin of the work itself. */
struct work_launches {
    int64_t *task_ns, *collective_ns;
};

bool work_launches_find(struct work_launches *w, const struct collection *c, const struct device *d,
                        struct arena *mem); /* false: no memory */

#endif
