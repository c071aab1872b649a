/* SPDX-License-Identifier: Apache-2.0 */
/* launches.h - for each row of the device's tables, the name of the framework's range that started it. Timelines of
 * MindSpore show it. */
#ifndef ASCOPE_PROFILE_LAUNCHES_H
#define ASCOPE_PROFILE_LAUNCHES_H

#include "base/memory/names.h"

/* Names of ranges; NAME_EMPTY: none is known. */
struct launches {
    struct device_launches {
        name_id *of_task, *of_collective; /* by row of the device's tasks and collectives */
    } * device;
    name_id *of_mark; /* by row of the host's marks: the range in which it was set */
};

#endif
