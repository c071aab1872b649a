/* SPDX-License-Identifier: Apache-2.0 */
#include "export/comm/communication.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/sort.h"
#include "base/text/stamp.h"
#include "raw/nccl_names.h"

const char *const link_kind_name[LINK_KINDS] = {
    [LINK_RDMA] = "RDMA", [LINK_HCCS] = "HCCS", [LINK_PCIE] = "PCIE", [LINK_SDMA] = "SDMA", [LINK_SIO] = "SIO"
};

/* The order in which the reference reads the folders of devices. Of devices with the same collective the last one
 * counts. */
static int by_name_backwards(const void *a, const void *b)
{
    const struct device *const *x = a, *const *y = b;
    return strcmp((*y)->source.name, (*x)->source.name);
}

/* Tasks of a device in the order of the reference: by begin, then those of the AI CPUs, by end. */
static uint32_t *order_tasks(const struct device *d, struct arena *mem)
{
    const struct comm_tasks *t = &d->comm.tasks;
    uint32_t *order = arena_take(mem, t->n, sizeof *order);
    uint64_t *when = arena_take(mem, t->n, sizeof *when);
    if (!order || !when)
        return NULL;
    for (size_t i = 0; i < t->n; i++)
        when[i] = t->is_aicpu[i] ? d->tasks.end_tick[t->task_row[i]] : 0;
    order_fill(order, t->n);
    return order_by_u64(order, t->n, when) ? order : NULL;
}

/* Fills the list and the events from the tasks of all devices. Collectives are in the order of their first events. */
static bool collectives_gather(struct collectives *out, const struct profile *p, struct arena *mem)
{
    const struct device **device = arena_take(mem, p->n_devices, sizeof *device);
    size_t n = 0;
    for (size_t k = 0; device && k < p->n_devices; k++) {
        device[k] = &p->device[k];
        n += p->device[k].comm.tasks.n;
    }
    struct comm_event *event = arena_take(mem, n, sizeof *event);
    uint32_t *of = arena_take(mem, n, sizeof *of), *order = arena_take(mem, n, sizeof *order);
    struct keys seen = { 0 };
    out->event = arena_take(mem, n, sizeof *out->event);
    if (!device || !event || !of || !order || !out->event)
        return false;
    qsort(device, p->n_devices, sizeof *device, by_name_backwards);
    n = 0;
    for (size_t k = 0; k < p->n_devices; k++) {
        const struct communication *c = &device[k]->comm;
        const uint32_t *row = order_tasks(device[k], mem);
        if (!row)
            return false;
        for (size_t i = 0; i < c->tasks.n; i++, n++) {
            const uint32_t op = c->tasks.op[row[i]];
            of[n] = keys_add(&seen, (uint64_t)c->ops.name[op] << 32 | c->ops.group_id[op], mem);
            event[n] = (struct comm_event){ device[k], row[i] };
            struct collective *new = of[n] == out->list.n ? list_add(&out->list, mem) : &out->list.at[of[n]];
            if (of[n] == KEYS_NO_MEMORY || !new)
                return false;
            if (new->device != device[k])
                *new = (struct collective){ c->ops.name[op], c->ops.group_id[op], device[k], 0, new->n_all, 0 };
            new->n_own++;
            new->n_all++;
        }
    }
    order_fill(order, n);
    if (!order_by_u32(order, n, of))
        return false;
    for (size_t i = 0; i < n; i++)
        out->event[i] = event[order[i]];
    for (size_t i = 0, first = 0; i < out->list.n; first += out->list.at[i++].n_all) {
        out->list.at[i].first = first;
        out->most_events = out->list.at[i].n_all > out->most_events ? out->list.at[i].n_all : out->most_events;
    }
    return true;
}

/* The same from kernels of NCCL. Each is a collective; its name has its number among those of its type and group, which
 * is the same in all ranks. */
static bool gather_kernels(struct collectives *out, const struct profile *p, struct arena *mem)
{
    size_t n = 0;
    struct keys seen = { 0 };
    LIST(uint32_t) next = { 0 };
    for (size_t k = 0; k < p->n_devices; k++)
        n += p->device[k].comm.ops.n;
    out->event = arena_take(mem, n, sizeof *out->event);
    for (size_t k = 0, at = 0; out->event && k < p->n_devices; k++) {
        const struct comm_ops *o = &p->device[k].comm.ops;
        for (uint32_t i = 0; i < o->n; i++, at++) {
            char text[200];
            const uint32_t of = keys_add(&seen, (uint64_t)o->op_type[i] << 32 | o->group_id[i], mem);
            const bool is_first = of == next.n;
            if (of == KEYS_NO_MEMORY)
                return false;
            uint32_t *const number = is_first ? list_add(&next, mem) : &next.at[of];
            struct collective *const new = list_add(&out->list, mem);
            if (!number || !new)
                return false;
            if (is_first)
                *number = 0;
            const int length =
                snprintf(text, sizeof text, "%.150s__%u", names_text(p->names, o->op_type[i]), (*number)++);
            *new = (struct collective){
                names_add(p->names, text, (size_t)length), o->group_id[i], &p->device[k], at, 1, 1
            };
            out->event[at] = (struct comm_event){ &p->device[k], i };
        }
    }
    return out->event != NULL;
}

bool collectives_find(struct collectives *c, const struct profile *p, struct arena *mem)
{
    *c = (struct collectives){ .names = p->names, .mem = mem, .are_kernels = p->chip->task_log == TASK_LOG_CUDA };
    if (c->are_kernels)
        return gather_kernels(c, p, mem);
    if (!collectives_gather(c, p, mem))
        return false;
    c->copy = arena_take(mem, c->most_events, sizeof *c->copy);
    return c->copy && comm_sorter_init(&c->sorter, p, c->most_events, mem);
}

static double kernel_begin_ns(const struct collectives *c, const struct collective *of)
{
    return (double)(of->device->comm.ops.begin_ns[c->event[of->first].row] - of->device->source.wall_offset_ns);
}

static bool kernel_cost(const struct collectives *c, const struct collective *of, struct comm_cost *cost)
{
    const struct comm_ops *o = &of->device->comm.ops;
    const uint32_t i = c->event[of->first].row;
    uint64_t bytes;
    if (o->count[i] == UINT64_MAX || __builtin_mul_overflow(o->count[i], nccl_type_bytes(o->data_type[i]), &bytes))
        bytes = 0;
    comm_cost_clear(cost);
    return comm_cost_whole(cost, kernel_begin_ns(c, of), o->dur_ns[i], bytes);
}

bool collective_cost(struct collectives *c, const struct collective *of, struct comm_cost *cost)
{
    if (c->are_kernels)
        return kernel_cost(c, of, cost);
    const size_t skipped = of->n_all - of->n_own;
    memcpy(c->copy, c->event + of->first + skipped, of->n_own * sizeof *c->copy);
    comm_cost_clear(cost);
    return comm_cost_fill(cost, &c->sorter, c->copy, of->n_own, comm_closing(names_text(c->names, of->name)));
}

bool collective_links(struct collectives *c, const struct collective *of, struct comm_links *links)
{
    comm_links_clear(links);
    if (c->are_kernels) /* it is unknown between which ranks they move data */
        return true;
    memcpy(c->copy, c->event + of->first, of->n_all * sizeof *c->copy);
    return comm_links_fill(links, &c->sorter, c->copy, of->n_all, comm_closing(names_text(c->names, of->name)));
}

/* The reference has the offset between the clocks as a double of microseconds since 1970, in steps of 0.25, and rounds
 * it to one decimal. The begin of a collective depends on that, so the offset is computed in the same way here. */
double collective_start_us(const struct collective *of, double begin_ns)
{
    const struct source *s = &of->device->source;
    const int64_t mono_ns = wrap_sub(s->begin_ns, s->wall_offset_ns);
    const double offset_us = (double)(s->begin_ns / 1000) - (double)mono_ns / 1000;
    const double whole_us = floor(offset_us);
    const __int128 offset_ns = (__int128)whole_us * 1000 + (int64_t)nearbyint((offset_us - whole_us) * 10) * 100;
    const int64_t ns = stamp_held((__int128)nearbyint(begin_ns) + offset_ns);
    char text[32];
    snprintf(text, sizeof text, "%s%" PRId64 ".%03d", ns < 0 ? "-" : "", ns < 0 ? -ns / 1000 : ns / 1000,
             (int)(ns < 0 ? -ns % 1000 : ns % 1000));
    return strtod(text, NULL);
}

bool collective_begin(const struct collectives *c, const struct collective *of, double *begin_ns)
{
    const struct comm_event *own = c->event + of->first + (of->n_all - of->n_own);
    bool has_master = c->are_kernels;
    if (c->are_kernels)
        *begin_ns = kernel_begin_ns(c, of);
    for (size_t i = 0; !c->are_kernels && i < of->n_own; i++) {
        if (!event_tasks(&own[i])->is_master[own[i].row])
            continue;
        const double begin = event_time(&own[i]).begin_ns;
        *begin_ns = !has_master || begin < *begin_ns ? begin : *begin_ns;
        has_master = true;
    }
    return has_master;
}
