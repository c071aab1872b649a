/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/flow/flows.h"

#include "analyse/device/tasks/device_tasks.h"
#include "raw/host_records.h"

/* Larger connection ids do not belong to a call, and a call that ended before the collection is not shown. */
static bool is_from_call(const struct profile *p, uint32_t connection)
{
    return connection > 0 && connection <= p->host.calls.n && p->host.calls.is_shown[connection - 1];
}

/* Whether a call records an event or waits for one: its task has a flow event although it has no operator. */
static bool is_of_event(const struct profile *p, size_t call)
{
    const struct calls *c = &p->host.calls;
    if (c->level[call] != LEVEL_ACL)
        return false;
    const name_id name = dictionary_type(&p->dictionary, c->level[call], c->type[call]);
    return name == NAME_RECORD_EVENT || name == NAME_WAIT_EVENT;
}

enum flow_kind flow_of_task(const struct profile *p, const struct device *d, size_t row, bool is_generic)
{
    const struct host_tasks *h = &p->host.tasks;
    const uint32_t host = d->tasks.is_hidden[row] ? NO_ROW : d->tasks.host[row];
    if (host == NO_ROW || !is_from_call(p, h->connection[host]))
        return FLOW_NONE;
    if (p->chip->task_log == TASK_LOG_CUDA) /* one call may launch a graph of many */
        return FLOW_OF_TASK;
    if (d->tasks.op[row] != NO_ROW)
        return is_generic ? FLOW_OF_TASK : FLOW_OF_CALL;
    const bool is_copy = h->type[host] == NAME_MEMCPY_ASYNC;
    return is_copy || is_of_event(p, h->connection[host] - 1) ? FLOW_OF_CALL : FLOW_NONE;
}

bool flow_of_collective(const struct profile *p, const struct device *d, size_t op)
{
    return d->comm.ops.is_shown[op] && is_from_call(p, d->comm.ops.connection[op]);
}

struct task_label task_label(const struct profile *p, const struct tasks *t, size_t row, uint32_t host, bool is_generic)
{
    const uint32_t op = host == NO_ROW ? NO_ROW : t->op[row];
    const bool is_copy = host != NO_ROW && p->host.tasks.type[host] == NAME_MEMCPY_ASYNC;
    const name_id device_type =
        host == NO_ROW || is_copy ? task_device_type(p, t, row) : NAME_EMPTY; /* else not used */
    const name_id shown = host == NO_ROW ? device_type : t->type[row];
    const bool has_type = op != NO_ROW && p->host.ops.task_type[op] != NAME_NA;
    return (struct task_label){
        .name = op != NO_ROW ? p->host.ops.name[op] : shown,
        .type = has_type                 ? p->host.ops.task_type[op]
                : is_copy && !is_generic ? device_type
                                         : shown,
    };
}
