/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/flow/flows.h"

#include "analyse/device/tasks/device_tasks.h"

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
