/* SPDX-License-Identifier: Apache-2.0 */
/* task_streams.h - the streams of tasks on chips whose records have ids of 32 bits only. */
#ifndef ASCOPE_ANALYSE_DEVICE_TASKS_TASK_STREAMS_H
#define ASCOPE_ANALYSE_DEVICE_TASKS_TASK_STREAMS_H

#include "profile/profile.h"

/* Rows of the tasks that the host launched on a device, by (task, stream). */
struct task_streams {
    const struct host_tasks *tasks;
    size_t n;
    uint32_t *row;
};

enum { UNKNOWN_STREAM = UINT16_MAX };

bool task_streams_take(const struct host_tasks *t, unsigned device, struct arena *mem, struct task_streams *out);
/* The stream on which the host launched a task, or UNKNOWN_STREAM. */
uint16_t task_streams_find(const struct task_streams *s, uint32_t id);

#endif
