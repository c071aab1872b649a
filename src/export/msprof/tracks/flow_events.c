/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/tracks/prof_trace.h"

#include "export/scope.h"

enum flow_kind flow_to_task(const struct export *x, const struct device *d, size_t row)
{
    const enum flow_kind kind = flow_of_task(x->profile, d, row, x->is_generic);
    if (kind == FLOW_NONE || !scope_has_task(x, &d->tasks, row))
        return FLOW_NONE;
    /* Of the exported part of a model: tasks of other models have no host task here. */
    if (kind == FLOW_OF_CALL && scope_task_host(x, &d->tasks, row) == NO_ROW)
        return FLOW_NONE;
    const uint32_t call = x->profile->host.tasks.connection[d->tasks.host[row]] - 1;
    return scope_has_call(x, SCOPE_HOST, call) ? kind : FLOW_NONE;
}

bool flow_to_collective(const struct export *x, const struct device *d, size_t op)
{
    return flow_of_collective(x->profile, d, op) && scope_has_call(x, SCOPE_HOST, d->comm.ops.connection[op] - 1);
}

const bool *flow_starts(const struct export *x)
{
    const struct profile *p = x->profile;
    bool *starts = arena_take(x->mem, p->host.calls.n, sizeof *starts);
    for (size_t k = 0; starts && k < p->n_devices; k++) {
        const struct device *d = &p->device[k];
        for (size_t i = 0; i < d->tasks.n; i++)
            if (flow_to_task(x, d, i) == FLOW_OF_CALL)
                starts[p->host.tasks.connection[d->tasks.host[i]] - 1] = true;
        for (size_t i = 0; i < d->comm.ops.n; i++)
            if (scope_has_collective(x, d, i) && flow_to_collective(x, d, i))
                starts[d->comm.ops.connection[i] - 1] = true;
    }
    return starts;
}

/* In the older presentation the low half of an id is the context, and -1 means none. */
const char *flow_call_id(const struct export *x, uint32_t call, char text[FLOW_ID_BYTES])
{
    text[digits_put(text, ((uint64_t)(call + 1) << 32) - (x->is_generic ? 1 : 0))] = 0;
    return text;
}

const char *flow_task_id(const struct device *d, size_t row, char text[FLOW_ID_BYTES])
{
    const struct tasks *t = &d->tasks;
    if (d->source.chip->task_log == TASK_LOG_CUDA) { /* one number identifies a task */
        text[digits_put(text, (uint64_t)d->source.device << 32 | t->task[row])] = 0;
        return text;
    }
    unsigned __int128 id = (unsigned __int128)d->source.device << 80 | (unsigned __int128)t->stream[row] << 64 |
                           (unsigned __int128)t->task[row] << 48 | (unsigned __int128)t->batch[row] << 32;
    id += t->context[row];
    char *p = text + FLOW_ID_BYTES - 1; /* 128 bits are more than printf can do */
    *p = 0;
    do {
        *--p = (char)('0' + (unsigned)(id % 10));
        id /= 10;
    } while (id > 0);
    return p;
}
