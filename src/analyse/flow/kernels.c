/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/flow/flows.h"

#include "base/memory/sort.h"
#include "base/text/stamp.h"

bool kernels_take(struct kernels *k, size_t n, struct arena *mem)
{
    *k = (struct kernels){
        .launch_ns = arena_take(mem, n, sizeof *k->launch_ns),
        .launch_end_ns = arena_take(mem, n, sizeof *k->launch_end_ns),
        .begin_ns = arena_take(mem, n, sizeof *k->begin_ns),
        .end_ns = arena_take(mem, n, sizeof *k->end_ns),
        .dur_us = arena_take(mem, n, sizeof *k->dur_us),
        .is_aicore = arena_take(mem, n, sizeof *k->is_aicore),
        .device = arena_take(mem, n, sizeof *k->device),
        .is_collective = arena_take(mem, n, sizeof *k->is_collective),
        .launch_thread = arena_take(mem, n, sizeof *k->launch_thread),
        .row = arena_take(mem, n, sizeof *k->row),
        .track = arena_take(mem, n, sizeof *k->track),
        .name = arena_take(mem, n, sizeof *k->name),
    };
    return !arena_failed(mem);
}

struct collecting {
    const struct profile *p;
    bool is_generic; /* which of the two presentations the timeline has */
    struct kernels *k;
    uint32_t *of_call; /* row of kernels + 1 at which the flow of a call ends, or 0 */
    name_id aicore;
};

/* Counts the flow events, so that the columns are taken once. */
static size_t count_flows(const struct collecting *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->p->n_devices; i++) {
        const struct device *d = &c->p->device[i];
        for (size_t row = 0; row < d->tasks.n; row++)
            n += flow_of_task(c->p, d, row, c->is_generic) != FLOW_NONE;
        for (size_t op = 0; op < d->comm.ops.n; op++)
            n += flow_of_collective(c->p, d, op);
    }
    return n;
}

/* The row of the kernel at which the flow of a call ends; a new row if the call has none yet. */
static size_t row_of_call(const struct collecting *c, uint32_t call)
{
    if (c->of_call[call] == 0) {
        c->k->launch_ns[c->k->n] = source_host_ns(&c->p->host.source, c->p->host.calls.begin[call]);
        c->k->launch_end_ns[c->k->n] = source_host_ns(&c->p->host.source, c->p->host.calls.end[call]);
        c->k->launch_thread[c->k->n] = c->p->host.calls.thread[call];
        c->of_call[call] = (uint32_t)++c->k->n;
    }
    return c->of_call[call] - 1;
}

/* Tasks are sorted by begin: the row of a call is its first task. */
static void collect_tasks(const struct collecting *c, uint32_t device)
{
    const struct device *d = &c->p->device[device];
    const struct host_tasks *h = &c->p->host.tasks;
    const struct tasks *t = &d->tasks;
    for (size_t row = 0; row < t->n; row++) {
        const enum flow_kind flow = flow_of_task(c->p, d, row, c->is_generic);
        if (flow == FLOW_NONE || (flow == FLOW_OF_CALL && c->of_call[h->connection[t->host[row]] - 1] > 0))
            continue;
        const uint32_t host = t->host[row];
        const struct task_label label = task_label(c->p, t, row, host, c->is_generic);
        const size_t i = flow == FLOW_OF_CALL ? row_of_call(c, h->connection[host] - 1) : c->k->n++;
        if (flow == FLOW_OF_TASK) {
            c->k->launch_ns[i] = c->k->launch_end_ns[i] = source_host_ns(&c->p->host.source, h->time[host]);
            c->k->launch_thread[i] = h->thread[host];
        }
        c->k->begin_ns[i] = t->begin_ns[row];
        c->k->end_ns[i] = stamp_add(t->begin_ns[row], (int64_t)t->dur_ns[row]);
        c->k->dur_us[i] = t->dur_ns[row] / 1000;
        c->k->is_aicore[i] = label.type == c->aicore;
        c->k->device[i] = device;
        c->k->is_collective[i] = false;
        c->k->row[i] = (uint32_t)row;
        c->k->track[i] = task_stream_id(&c->p->device[device], row);
        c->k->name[i] = label.name;
    }
}

/* A collective replaces its tasks: the operator waits for the whole collective. */
static void collect_collectives(const struct collecting *c, uint32_t device)
{
    const struct device *d = &c->p->device[device];
    const struct comm_ops *o = &d->comm.ops;
    for (size_t op = o->n; op-- > 0;) { /* backwards, so that the first of several collectives remains */
        if (!flow_of_collective(c->p, d, op))
            continue;
        const size_t i = row_of_call(c, o->connection[op] - 1);
        c->k->begin_ns[i] = o->begin_ns[op];
        c->k->end_ns[i] = o->end_ns[op];
        c->k->dur_us[i] = (double)(o->end_ns[op] - o->begin_ns[op]) / 1000;
        c->k->is_aicore[i] = false;
        c->k->device[i] = device;
        c->k->is_collective[i] = true;
        c->k->row[i] = (uint32_t)op;
        c->k->track[i] = o->group[op];
        c->k->name[i] = o->name[op];
    }
}

bool kernels_sort(struct kernels *k, struct arena *mem)
{
    static const uint64_t sign = UINT64_C(1) << 63;
    struct arena *spare = arena_new();
    uint32_t *order = spare ? arena_take(spare, k->n, sizeof *order) : NULL;
    uint64_t *begin = spare ? arena_take(spare, k->n, sizeof *begin) : NULL;
    uint64_t *launch = spare ? arena_take(spare, k->n, sizeof *launch) : NULL;
    struct kernels sorted;
    bool ok = order && begin && launch && kernels_take(&sorted, k->n, mem);
    for (size_t i = 0; ok && i < k->n; i++) {
        begin[i] = (uint64_t)k->begin_ns[i] ^ sign;
        launch[i] = (uint64_t)k->launch_ns[i] ^ sign;
    }
    if (ok)
        order_fill(order, k->n);
    ok = ok && order_by_u64(order, k->n, begin) && order_by_u32(order, k->n, k->device) &&
         order_by_u64(order, k->n, launch);
    if (ok) {
        const struct {
            void *to;
            const void *from;
            size_t size;
        } column[] = {
            { sorted.launch_ns, k->launch_ns, sizeof *k->launch_ns },
            { sorted.launch_end_ns, k->launch_end_ns, sizeof *k->launch_end_ns },
            { sorted.begin_ns, k->begin_ns, sizeof *k->begin_ns },
            { sorted.end_ns, k->end_ns, sizeof *k->end_ns },
            { sorted.dur_us, k->dur_us, sizeof *k->dur_us },
            { sorted.is_aicore, k->is_aicore, sizeof *k->is_aicore },
            { sorted.device, k->device, sizeof *k->device },
            { sorted.is_collective, k->is_collective, sizeof *k->is_collective },
            { sorted.launch_thread, k->launch_thread, sizeof *k->launch_thread },
            { sorted.row, k->row, sizeof *k->row },
            { sorted.track, k->track, sizeof *k->track },
            { sorted.name, k->name, sizeof *k->name },
        };
        for (size_t c = 0; c < sizeof column / sizeof *column; c++)
            order_apply(column[c].to, column[c].from, order, k->n, column[c].size);
        sorted.n = k->n;
        sorted.process = k->process;
        *k = sorted;
    }
    arena_free(spare);
    return ok;
}

bool kernels_collect(struct kernels *k, const struct profile *p, struct arena *mem)
{
    struct arena *spare = arena_new();
    struct kernels found;
    struct collecting c = { .p = p, .is_generic = !p->chip->is_native, .k = &found };
    const size_t n = count_flows(&c);
    bool ok = spare && kernels_take(&found, n, spare);
    if (ok) {
        found.process = p->host.source.pid;
        c.of_call = arena_take(spare, p->host.calls.n, sizeof *c.of_call);
        c.aicore = names_addz(p->names, "AI_CORE");
        ok = !arena_failed(spare);
    }
    for (uint32_t i = 0; ok && i < p->n_devices; i++) {
        collect_tasks(&c, i);
        collect_collectives(&c, i);
    }
    ok = ok && kernels_sort(&found, mem);
    if (ok)
        *k = found;
    arena_free(spare);
    return ok;
}
