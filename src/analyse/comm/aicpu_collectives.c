/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/comm/comm_analysis.h"

#include "raw/enums.h"

#define TAKE(column, n) ((column) = arena_take(mem, (n), sizeof *(column)))

enum { STREAM_IDS = UINT16_MAX + 1 };

/* A small task that has found its operator. */
struct aicpu_collectives_part {
    uint32_t small, op; /* rows of aicpu_tasks and of aicpu_ops */
    int32_t plane;
    bool is_master;
};

/* The state of a group while its tasks are processed in the order of their ends. */
struct group_state {
    uint32_t master_stream; /* NO_ROW until the first task is assigned */
    int32_t n_planes;
    int32_t plane[STREAM_IDS]; /* 0: not seen yet */
    uint16_t *seen;            /* streams with a plane */
};

static void group_reset(struct group_state *g)
{
    for (int32_t i = 0; i < g->n_planes; i++)
        g->plane[g->seen[i]] = 0;
    g->n_planes = 0;
    g->master_stream = NO_ROW;
}

/* The first task of an operator identifies its master stream. It is not part of the time of a collective, because it
 * waits for the other ranks. */
static bool is_master(const struct device *d, struct group_state *g, const struct aicpu_tasks *t, size_t i,
                      bool is_collective)
{
    const uint32_t row = t->task[i];
    const bool names_stream = d->tasks.device_type[row] == SQE_C_CORE && d->tasks.context[row] == NO_CONTEXT;
    if (names_stream || t->is_head[i]) {
        g->master_stream = d->tasks.stream[row];
        return !is_collective;
    }
    return g->master_stream == d->tasks.stream[row];
}

/* The master stream is the first plane; other streams are numbered in the order in which they appear. Planes of
 * collectives start at 1: plane 0 is that of the host's tasks. */
static int32_t plane_of(const struct device *d, struct group_state *g, const struct aicpu_tasks *t, size_t i,
                        bool is_collective, bool master)
{
    if (t->entry[i] == NO_ROW)
        return -1;
    if (master || t->is_head[i])
        return is_collective;
    const uint16_t stream = d->tasks.stream[t->task[i]];
    if (g->plane[stream] == 0) {
        g->seen[g->n_planes++] = stream;
        g->plane[stream] = g->n_planes;
    }
    return g->plane[stream] + is_collective;
}

/* Tasks are sorted by (group, end) and operators by (group, begin). A task belongs to the operator during which it
 * ended. */
static bool assign(struct device *d, const struct aicpu_tasks *t, const struct aicpu_ops *ops, struct arena *mem,
                   struct aicpu_collectives_part **out, size_t *n)
{
    struct group_state *g;
    struct aicpu_collectives_part *part;
    if (!TAKE(g, 1) || !TAKE(g->seen, STREAM_IDS) || !TAKE(part, t->n))
        return false;
    g->master_stream = NO_ROW;
    size_t at = 0, n_parts = 0, n_early = 0;
    for (uint32_t k = 0; k < ops->n; k++) {
        const struct aicpu_op *op = &ops->at[k];
        if (k > 0 && op->group != ops->at[k - 1].group)
            group_reset(g);
        while (at < t->n &&
               (t->group[at] < op->group || (t->group[at] == op->group && d->tasks.end_tick[t->task[at]] < op->begin)))
            at++;
        for (; op->has_group && at < t->n && t->group[at] == op->group && d->tasks.end_tick[t->task[at]] <= op->end;
             at++) {
            const bool master = is_master(d, g, t, at, op->is_collective);
            const int32_t plane = plane_of(d, g, t, at, op->is_collective, master);
            if (d->tasks.begin_ns[t->task[at]] >= d->source.begin_ns)
                part[n_parts++] = (struct aicpu_collectives_part){ (uint32_t)at, k, plane, master };
            else
                n_early++;
        }
    }
    losses_add(&d->source.lost, LOSS_UNMATCHED, t->n - n_parts - n_early, "aicpu.data", 0);
    losses_add(&d->source.lost, LOSS_OUTSIDE, n_early, "stars_soc.data", 0);
    *out = part;
    *n = n_parts;
    return true;
}

static void fill_op(const struct profile *p, struct device *d, size_t k, const struct aicpu_op *op)
{
    const struct aicpu_comm *c = &d->aicpu_comm;
    const struct host_tasks *h = &p->host.tasks;
    const uint32_t host = d->tasks.host[op->task], info = op->info;
    struct comm_ops *o = &d->comm.ops;
    o->name[k] = op->name;
    o->op_type[k] = p->host.ops.op_type[d->tasks.op[op->task]];
    o->group[k] = op->group_name;
    o->group_id[k] = names_number(p->names, op->group);
    o->alg[k] = info == NO_ROW ? NAME_NA : dictionary_hash(&p->dictionary, c->ops.alg[info]);
    o->data_type[k] = info == NO_ROW ? DATA_TYPE_NONE : c->ops.data_type[info];
    o->relay[k] = info == NO_ROW ? -1 : c->ops.flags[info] & 1;
    o->retry[k] = info == NO_ROW ? -1 : c->ops.flags[info] >> 1 & 1;
    o->count[k] = info == NO_ROW ? UINT64_MAX : c->ops.count[info];
    o->rank_size[k] = info == NO_ROW ? UINT32_MAX : c->ops.rank_size[info];
    o->asked[k] = h->time[host];
    o->connection[k] = h->connection[host];
    o->model[k] = h->model[host];
    o->iteration[k] = op->iteration;
    o->is_aicpu[k] = !op->is_collective;
}

/* New rows for the operators without a collective of the host. */
static bool add_ops(const struct profile *p, struct device *d, struct aicpu_ops *ops,
                    const struct aicpu_collectives_part *part, size_t n)
{
    const size_t first = d->comm.ops.n;
    size_t more = 0;
    for (size_t i = 0; i < n; i++) {
        struct aicpu_op *op = &ops->at[part[i].op];
        if (op->collective == NO_ROW)
            op->collective = (uint32_t)(first + more++);
    }
    if (!comm_ops_resize(&d->comm.ops, first + more, d->source.mem))
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct aicpu_op *op = &ops->at[part[i].op];
        const struct aicpu_comm *c = &d->aicpu_comm;
        if (i > 0 && part[i].op == part[i - 1].op)
            continue; /* the parts of one operator are consecutive */
        if (op->collective >= first) {
            fill_op(p, d, op->collective, op);
        } else if (op->info != NO_ROW) { /* the device knows better than the host whether it had to try again */
            d->comm.ops.relay[op->collective] = c->ops.flags[op->info] & 1;
            d->comm.ops.retry[op->collective] = c->ops.flags[op->info] >> 1 & 1;
        }
    }
    return true;
}

static void fill_task(const struct profile *p, struct device *d, size_t k, const struct aicpu_tasks *small, size_t i)
{
    const struct aicpu_comm *c = &d->aicpu_comm;
    const uint32_t row = small->task[i], e = small->entry[i];
    struct comm_tasks *t = &d->comm.tasks;
    t->task_row[k] = row;
    t->begin_ns[k] = d->tasks.begin_ns[row];
    t->end_ns[k] = d->tasks.end_ns[row];
    t->dur_ns[k] = d->tasks.dur_ns[row];
    t->is_aicpu[k] = true;
    t->has_info[k] = e != NO_ROW;
    if (e == NO_ROW) {
        t->name[k] = NAME_NA;
        t->estimate_us[k] = -1;
        t->src_rank[k] = t->dst_rank[k] = UINT32_MAX;
        t->rdma[k] = t->transport[k] = t->link[k] = t->data_type[k] = DATA_TYPE_NONE;
        t->size[k] = UINT64_MAX;
        return;
    }
    t->name[k] = dictionary_hash(&p->dictionary, c->tasks.item[e]);
    t->estimate_us[k] = c->tasks.estimate_us[e];
    t->src_rank[k] = c->tasks.local_rank[e];
    t->dst_rank[k] = c->tasks.remote_rank[e];
    t->rdma[k] = c->tasks.rdma[e];
    t->transport[k] = c->tasks.transport[e];
    t->link[k] = c->tasks.link[e];
    t->data_type[k] = c->tasks.data_type[e];
    t->notify[k] = c->tasks.notify[e];
    t->size[k] = c->tasks.size[e] < INT64_MAX ? c->tasks.size[e] : INT64_MAX;
}

/* An operator of its own lasts from the first to the last of its tasks on the master stream. */
static void time_op(struct device *d, uint32_t op, uint32_t task)
{
    const struct tasks *t = &d->tasks;
    struct comm_ops *o = &d->comm.ops;
    o->begin_ns[op] = !o->is_shown[op] || t->begin_ns[task] < o->begin_ns[op] ? t->begin_ns[task] : o->begin_ns[op];
    o->end_ns[op] = !o->is_shown[op] || t->end_ns[task] > o->end_ns[op] ? t->end_ns[task] : o->end_ns[op];
    o->dur_ns[op] = (double)(o->end_ns[op] - o->begin_ns[op]);
    o->is_shown[op] = true;
}

static bool add_tasks(const struct profile *p, struct device *d, const struct aicpu_tasks *small,
                      const struct aicpu_ops *ops, const struct aicpu_collectives_part *part, size_t n)
{
    struct comm_tasks *t = &d->comm.tasks;
    const size_t first = t->n;
    if (!comm_tasks_resize(t, first + n, d->source.mem))
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct aicpu_op *op = &ops->at[part[i].op];
        fill_task(p, d, first + i, small, part[i].small);
        t->op[first + i] = op->collective;
        t->group[first + i] = op->group_name;
        t->plane[first + i] = part[i].plane;
        t->is_master[first + i] = part[i].is_master;
        if (part[i].is_master && !op->is_collective)
            time_op(d, op->collective, small->task[part[i].small]);
    }
    return true;
}

bool aicpu_comm_analyse(struct profile *p, struct device *d, struct error *e)
{
    struct arena *mem = p->host.records.mc2_groups.n > 0 ? arena_new() : NULL;
    struct aicpu_tasks tasks;
    struct aicpu_marks marks;
    struct aicpu_ops ops;
    struct aicpu_collectives_part *part = NULL;
    size_t n = 0;
    aicpu_ids_unpack(p, d);
    if (p->host.records.mc2_groups.n == 0)
        return true;
    const bool done = mem && aicpu_tasks_find(p, d, mem, &tasks, &marks) && aicpu_ops_find(p, d, &marks, mem, &ops) &&
                      assign(d, &tasks, &ops, mem, &part, &n) && add_ops(p, d, &ops, part, n) &&
                      add_tasks(p, d, &tasks, &ops, part, n) && comm_tasks_sort(&d->comm.tasks, mem) &&
                      comm_bandwidths(p, &d->comm, mem);
    arena_free(mem);
    return done || error_no_memory(e, d->source.path);
}
