/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/tasks/device_tasks.h"

bool cuda_log_take(struct profile *p, struct device *d, struct error *e)
{
    (void)p;
    const struct gpu_tasks *g = &d->gpu;
    struct device_log *log = &d->log;
    if (!device_log_take(d, g->n))
        return error_no_memory(e, d->source.path);
    for (size_t i = 0; i < g->n; i++) {
        if (!gpu_task_is_whole(g, i))
            continue;
        const size_t k = log->n++;
        log->stream[k] = g->track[i];
        log->batch[k] = 0;
        log->task[k] = (uint32_t)i;
        log->context[k] = NO_CONTEXT;
        log->key[k] = task_key(log->stream[k], 0, log->task[k]);
        log->begin[k] = g->begin[i];
        log->end[k] = g->end[i];
        log->type[k] = g->kind[i];
    }
    return true;
}

void cuda_copies(struct device *d)
{
    const struct gpu_tasks *g = &d->gpu;
    struct tasks *t = &d->tasks;
    for (size_t i = 0; i < t->n; i++) {
        t->copy_bytes[i] = g->bytes[t->task[i]];
        t->copy_kind[i] = gpu_task_is_copy(g, t->task[i]) ? COPY_OTHER : COPY_NONE;
    }
}
