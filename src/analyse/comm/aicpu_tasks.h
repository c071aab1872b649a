/* SPDX-License-Identifier: Apache-2.0 */
/* aicpu_tasks.h - the tasks of collectives that an AI CPU scheduled, matched with the tasks that ran.
 *
 * The AI CPU assigns task ids and counts their wrap-arounds itself, so that a task is identified by (stream, round,
 * id); flip records define the round. The group of a task follows from its stream.
 */
#ifndef ASCOPE_ANALYSE_COMM_AICPU_TASKS_H
#define ASCOPE_ANALYSE_COMM_AICPU_TASKS_H

#include "profile/profile.h"

struct aicpu_tasks { /* by (group, end) */
    size_t n;
    uint32_t *task;  /* row of the device's tasks */
    uint32_t *entry; /* row of aicpu_comm.tasks; NO_ROW when nothing was reported but that it ran, as at level 0 */
    uint64_t *group; /* hash */
    bool *is_head;   /* marked as the first one of its operator */
};

/* First and last tasks of operators, by (stream of the AI CPU, time). */
struct aicpu_marks {
    size_t n;
    uint16_t *stream;
    uint64_t *tick;
    uint32_t *task; /* row of the device's tasks */
    bool *is_head;
};

/* Turns the ids in aicpu_comm into those that the host uses. Once for each device. */
void aicpu_ids_unpack(const struct profile *p, struct device *d);

/* False: out of memory. The results are in `mem`. */
bool aicpu_tasks_find(const struct profile *p, struct device *d, struct arena *mem, struct aicpu_tasks *tasks,
                      struct aicpu_marks *marks);

#endif
