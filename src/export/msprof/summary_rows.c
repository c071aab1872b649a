/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

#include <stdio.h>
#include <string.h>

#include "base/memory/sort.h"
#include "export/scope.h"

int64_t summary_begin_ns(const struct export *x, const struct summary_row *r)
{
    const struct device *d = summary_device(x, r);
    return r->is_comm ? d->comm.ops.begin_ns[r->row] : d->tasks.begin_ns[r->row];
}

int64_t summary_end_ns(const struct export *x, const struct summary_row *r)
{
    const struct device *d = summary_device(x, r);
    return r->is_comm ? d->comm.ops.end_ns[r->row] : d->tasks.end_ns[r->row];
}

/* Devices in the order of their ids as text, as the reference lists them: 0, 1, 10, 2. */
static void device_order(const struct profile *p, uint16_t *order)
{
    for (size_t i = 0; i < p->n_devices; i++) {
        char id[16], other[16];
        size_t at = i; /* an insertion sort: there are few devices */
        snprintf(id, sizeof id, "%u", p->device[i].source.device);
        for (; at > 0; at--) {
            snprintf(other, sizeof other, "%u", p->device[order[at - 1]].source.device);
            if (strcmp(other, id) <= 0)
                break;
            order[at] = order[at - 1];
        }
        order[at] = (uint16_t)i;
    }
}

/* Task types whose operators are in other reports. */
struct kinds {
    name_id write_back, invalid, hccl_ai_cpu, communication;
    struct names *names;
};

static bool summary_rows_ends_with(const struct names *names, name_id name, const char *end)
{
    const size_t len = names_len(names, name), n = strlen(end);
    return len >= n && memcmp(names_text(names, name) + len - n, end, n) == 0;
}

static bool is_listed(const struct kinds *k, const struct ops *ops, uint32_t op)
{
    const name_id type = ops->task_type[op];
    if (type == k->communication) /* tasks of a collective are left out, unless one kernel is the whole collective */
        return summary_rows_ends_with(k->names, ops->name[op], "AivKernel");
    return type != k->write_back && type != k->invalid && type != k->hccl_ai_cpu;
}

/* Rows of collectives, sorted by begin. */
struct comm_order {
    size_t n;
    uint32_t *row;
};

static bool order_comms(const struct export *x, const struct device *d, struct comm_order *out)
{
    const struct comm_ops *ops = &d->comm.ops;
    uint64_t *begin = arena_take(x->mem, ops->n, sizeof *begin);
    out->row = arena_take(x->mem, ops->n, sizeof *out->row);
    if (!begin || !out->row)
        return false;
    for (size_t i = 0; i < ops->n && x->profile->chip->task_log != TASK_LOG_CUDA; i++) { /* those of GPUs are kernels */
        begin[i] = (uint64_t)ops->begin_ns[i];
        if (scope_has_collective(x, d, i) && !ops->is_aicpu[i]) /* those that the AI CPU ran are listed as kernels */
            out->row[out->n++] = (uint32_t)i;
    }
    return order_by_u64(out->row, out->n, begin);
}

static bool summary_rows_add_device(const struct export *x, uint16_t device, const struct kinds *kinds,
                                    struct summary_rows *out)
{
    const struct device *d = &x->profile->device[device];
    const struct tasks *t = &d->tasks;
    struct comm_order comms = { 0 };
    if (!order_comms(x, d, &comms))
        return false;
    size_t c = 0;
    for (size_t i = 0; i <= t->n; i++) {
        for (; c < comms.n && (i == t->n || d->comm.ops.begin_ns[comms.row[c]] < t->begin_ns[i]); c++)
            out->at[out->n++] = (struct summary_row){ comms.row[c], device, true };
        if (i == t->n || t->op[i] == NO_ROW || !is_listed(kinds, &x->profile->host.ops, t->op[i]))
            continue;
        if (scope_has_task(x, t, i) && scope_task_host(x, t, i) != NO_ROW)
            out->at[out->n++] = (struct summary_row){ (uint32_t)i, device, false };
    }
    return true;
}

bool summary_rows_build(const struct export *x, struct summary_rows *out, struct error *e)
{
    const struct profile *p = x->profile;
    struct kinds kinds = { .names = p->names,
                           .write_back = names_addz(p->names, "WRITE_BACK"),
                           .invalid = names_addz(p->names, "INVALID"),
                           .hccl_ai_cpu = names_addz(p->names, "HCCL_AI_CPU"),
                           .communication = names_addz(p->names, "COMMUNICATION") };
    size_t most = 0;
    for (size_t i = 0; i < p->n_devices; i++)
        most += p->device[i].tasks.n + p->device[i].comm.ops.n;
    uint16_t *order = arena_take(x->mem, p->n_devices, sizeof *order);
    *out = (struct summary_rows){ .at = arena_take(x->mem, most, sizeof *out->at), .has_ops = p->host.ops.n > 0 };
    bool done = order && out->at;
    if (done)
        device_order(p, order);
    for (size_t i = 0; i < p->n_devices && done; i++)
        done = summary_rows_add_device(x, order[i], &kinds, out);
    return done || error_no_memory(e, p->path);
}
