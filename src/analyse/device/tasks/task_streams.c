/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/tasks/device_tasks.h"

#include "base/memory/sort.h"

bool task_streams_take(const struct host_tasks *t, unsigned device, struct arena *mem, struct task_streams *out)
{
    *out = (struct task_streams){ .tasks = t, .row = arena_take(mem, t->n, sizeof *out->row) };
    for (uint32_t i = 0; out->row && i < t->n; i++)
        if (t->device[i] == device)
            out->row[out->n++] = i;
    return out->row && order_by_u16(out->row, out->n, t->stream) && order_by_u32(out->row, out->n, t->task);
}

uint16_t task_streams_find(const struct task_streams *s, uint32_t id)
{
    const struct host_tasks *t = s->tasks;
    const size_t at = order_first_u32(s->row, s->n, t->task, id);
    return at < s->n && t->task[s->row[at]] == id ? t->stream[s->row[at]] : UNKNOWN_STREAM;
}
