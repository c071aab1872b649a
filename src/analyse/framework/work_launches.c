/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/collection_analyse.h"

/* The call of the runtime that launched a task or a collective; NO_ROW: none is known. */
static uint32_t call_of_task(const struct profile *p, const struct device *d, size_t row)
{
    const struct host_tasks *h = &p->host.tasks;
    const uint32_t host = d->tasks.host ? d->tasks.host[row] : NO_ROW;
    const uint32_t connection = h->connection && host < h->n ? h->connection[host] : 0;
    return connection > 0 && connection <= p->host.calls.n ? connection - 1 : NO_ROW;
}

static uint32_t call_of_collective(const struct profile *p, const struct device *d, size_t op)
{
    const uint64_t connection = d->comm.ops.connection ? d->comm.ops.connection[op] : 0;
    return connection > 0 && connection <= p->host.calls.n ? (uint32_t)(connection - 1) : NO_ROW;
}

/* By call: when it was put into the queue; INT64_MIN: it was not. */
static void queued_find(const struct collection *c, const struct device *d, int64_t *queued_ns)
{
    const struct profile *p = &c->profile;
    const uint32_t device = (uint32_t)(d - p->device);
    for (size_t i = 0; i < p->host.calls.n; i++)
        queued_ns[i] = INT64_MIN;
    for (size_t k = 0; c->tree.task && k < c->kernels.n; k++) {
        const uint32_t task = c->tree.task[k], row = c->kernels.row[k];
        if (task == NO_ROW || c->kernels.device[k] != device)
            continue;
        const uint32_t call = c->kernels.is_collective[k] ? call_of_collective(p, d, row) : call_of_task(p, d, row);
        if (call != NO_ROW)
            queued_ns[call] = c->framework.enqueue.begin_ns[task];
    }
}

static int64_t launch_of(const struct profile *p, const int64_t *queued_ns, uint32_t call, int64_t otherwise_ns)
{
    if (call == NO_ROW)
        return otherwise_ns;
    return queued_ns[call] != INT64_MIN ? queued_ns[call] : source_host_ns(&p->host.source, p->host.calls.begin[call]);
}

bool work_launches_find(struct work_launches *w, const struct collection *c, const struct device *d, struct arena *mem)
{
    const struct profile *p = &c->profile;
    int64_t *queued_ns = arena_take(mem, p->host.calls.n, sizeof *queued_ns);
    *w = (struct work_launches){ arena_take(mem, d->tasks.n, sizeof *w->task_ns),
                                 arena_take(mem, d->comm.ops.n, sizeof *w->collective_ns) };
    if (!queued_ns || !w->task_ns || !w->collective_ns)
        return false;
    queued_find(c, d, queued_ns);
    for (size_t i = 0; i < d->tasks.n; i++) {
        const uint32_t host = d->tasks.host ? d->tasks.host[i] : NO_ROW;
        w->task_ns[i] = launch_of(p, queued_ns, call_of_task(p, d, i),
                                  host < p->host.tasks.n ? source_host_ns(&p->host.source, p->host.tasks.time[host])
                                                         : d->tasks.begin_ns[i]);
    }
    for (size_t i = 0; i < d->comm.ops.n; i++)
        w->collective_ns[i] = launch_of(p, queued_ns, call_of_collective(p, d, i), d->comm.ops.begin_ns[i]);
    arena_drop(mem, queued_ns);
    return true;
}
