/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/comm/comm_analysis.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory/sort.h"

#define TAKE(column, n) ((column) = arena_take(mem, (n), sizeof *(column)))

enum { STREAM_IDS = UINT16_MAX + 1 };
static const char kernel_word[] = "AicpuKernel";

/* Types and names of tasks on the streams of schedulers that do not schedule anything. */
struct excluded {
    name_id wait, copy, init, hccl_ai_cpu, communication;
};

static bool is_scheduler(const struct profile *p, const struct tasks *t, size_t row, const struct excluded *no)
{
    const uint32_t op = t->op[row], *kfc = p->host.records.mc2_groups.row_of_kfc;
    if (op == NO_ROW || t->host[row] == NO_ROW)
        return false;
    const struct ops *o = &p->host.ops;
    const name_id type = p->host.tasks.type[t->host[row]];
    if (type == no->wait || type == no->copy || o->name[op] == no->init || o->task_type[op] == no->hccl_ai_cpu ||
        o->task_type[op] == no->communication)
        return false;
    const char *name = names_text(p->names, o->name[op]);
    const size_t len = names_len(p->names, o->name[op]), word = sizeof kernel_word - 1;
    return kfc[t->stream[row]] != NO_ROW || (len >= word && strcasecmp(name + len - word, kernel_word) == 0);
}

/* By (stream, begin). */
static bool find_schedulers(const struct profile *p, const struct device *d, struct arena *mem, struct aicpu_ops *out)
{
    const struct tasks *t = &d->tasks;
    const struct excluded no = { names_addz(p->names, "NOTIFY_WAIT"), names_addz(p->names, "MEMCPY_ASYNC"),
                                 names_addz(p->names, "hcomAicpuInit"), names_addz(p->names, "HCCL_AI_CPU"),
                                 names_addz(p->names, "COMMUNICATION") };
    const struct mc2_groups *g = &p->host.records.mc2_groups;
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += is_scheduler(p, t, i, &no);
    uint32_t *row;
    if (!TAKE(row, n) || !TAKE(out->at, n))
        return false;
    n = 0;
    for (uint32_t i = 0; i < t->n; i++)
        if (is_scheduler(p, t, i, &no))
            row[n++] = i;
    if (!order_by_u16(row, n, t->stream))
        return false;
    for (size_t i = 0; i < n; i++) {
        const uint32_t kfc = g->row_of_kfc[t->stream[row[i]]];
        out->at[i] = (struct aicpu_op){ .task = row[i],
                                        .info = NO_ROW,
                                        .collective = NO_ROW,
                                        .big = NO_ROW,
                                        .begin = t->begin_tick[row[i]],
                                        .end = t->end_tick[row[i]],
                                        .group = kfc == NO_ROW ? 0 : g->group[kfc],
                                        .has_group = kfc != NO_ROW };
    }
    out->n = n;
    return true;
}

/* Each operator takes the next report of its stream that was made while it ran. If a stream has a report at all, its
 * operators are collectives. */
static bool join_infos(const struct device *d, struct aicpu_ops *ops, struct arena *mem)
{
    const struct aicpu_comm *c = &d->aicpu_comm;
    uint32_t *order;
    bool *has_infos;
    if (!TAKE(order, c->ops.n) || !TAKE(has_infos, STREAM_IDS))
        return false;
    for (size_t i = 0; i < c->ops.n; i++)
        has_infos[c->ops.stream[i]] = true;
    order_fill(order, c->ops.n);
    if (!order_by_u64(order, c->ops.n, c->ops.tick) || !order_by_u16(order, c->ops.n, c->ops.stream))
        return false;
    size_t at = 0;
    for (size_t i = 0; i < ops->n; i++) {
        struct aicpu_op *op = &ops->at[i];
        const uint16_t stream = d->tasks.stream[op->task];
        op->is_collective = has_infos[stream];
        while (at < c->ops.n && (c->ops.stream[order[at]] < stream ||
                                 (c->ops.stream[order[at]] == stream && c->ops.tick[order[at]] < op->begin)))
            at++;
        if (at == c->ops.n || c->ops.stream[order[at]] != stream || c->ops.tick[order[at]] > op->end)
            continue;
        op->info = order[at++];
        op->group = c->ops.group[op->info];
        op->has_group = true;
    }
    return true;
}

/* An operator lasts from its first to its last task; the AI CPU ends long before the last one. */
static void apply_marks(const struct device *d, const struct aicpu_marks *m, struct aicpu_ops *ops)
{
    const struct tasks *t = &d->tasks;
    size_t at = 0;
    for (size_t i = 0; i < ops->n; i++) {
        struct aicpu_op *op = &ops->at[i];
        const uint16_t stream = t->stream[op->task];
        const uint64_t from = op->begin, to = op->end;
        while (at < m->n && (m->stream[at] < stream || (m->stream[at] == stream && m->tick[at] < from)))
            at++;
        for (; at < m->n && m->stream[at] == stream && m->tick[at] <= to; at++) {
            op->begin = m->is_head[at] ? t->begin_tick[m->task[at]] : op->begin;
            op->end = t->end_tick[m->task[at]];
        }
    }
}

static bool count_iterations(const struct device *d, struct aicpu_ops *ops, struct arena *mem)
{
    uint32_t *order, *context;
    uint64_t *key;
    if (!TAKE(order, ops->n) || !TAKE(context, ops->n) || !TAKE(key, ops->n))
        return false;
    for (size_t i = 0; i < ops->n; i++) {
        key[i] = d->tasks.key[ops->at[i].task];
        context[i] = d->tasks.context[ops->at[i].task];
    }
    order_fill(order, ops->n);
    if (!order_by_u32(order, ops->n, context) || !order_by_u64(order, ops->n, key))
        return false;
    for (size_t i = 0; i < ops->n; i++) {
        const bool again = i > 0 && key[order[i]] == key[order[i - 1]] && context[order[i]] == context[order[i - 1]];
        ops->at[order[i]].iteration = again ? ops->at[order[i - 1]].iteration + 1 : 1;
    }
    return true;
}

/* The host requests a collective in a node call, and launches the AI CPU in a node call inside it. */
static bool find_requests(const struct profile *p, const struct device *d, struct aicpu_ops *ops, struct arena *mem)
{
    const struct comm_requests *r = &p->host.comm;
    size_t n = 0;
    uint32_t *order;
    if (!TAKE(order, r->big.n))
        return false;
    for (uint32_t i = 0; i < r->big.n; i++)
        if (r->big.device[i] == d->source.device && r->big.kfc_call[i] != NO_ROW)
            order[n++] = i;
    if (!order_by_u32(order, n, r->big.kfc_call))
        return false;
    for (size_t i = 0; i < ops->n; i++) {
        const uint32_t connection = p->host.tasks.connection[d->tasks.host[ops->at[i].task]];
        const size_t after = SEARCH_FIRST_NOT(k, 0, n, r->big.kfc_call[order[k]] + 1 <= connection);
        if (ops->at[i].is_collective && after > 0 && r->big.kfc_call[order[after - 1]] + 1 == connection)
            ops->at[i].big = order[after - 1]; /* the last request with this connection */
    }
    return true;
}

static name_id group_name(const struct profile *p, const struct aicpu_op *op)
{
    const name_id name = dictionary_hash(&p->dictionary, op->group);
    char text[600];
    if (op->is_collective)
        return name;
    const int len = snprintf(text, sizeof text, "%.500s Aicpu", names_text(p->names, name));
    return names_add(p->names, text, (size_t)len);
}

/* The collective that an operator carries out: requested by the host in the same call, and run in the same iteration of
 * a captured graph. */
static bool find_collectives(const struct profile *p, const struct device *d, struct aicpu_ops *ops, struct arena *mem)
{
    const struct comm_ops *c = &d->comm.ops;
    uint32_t *order;
    uint64_t *key;
    if (!TAKE(order, c->n) || !TAKE(key, c->n))
        return false;
    for (size_t i = 0; i < c->n; i++)
        key[i] = (uint64_t)c->connection[i] << 32 | c->iteration[i];
    order_fill(order, c->n);
    if (!order_by_u64(order, c->n, key))
        return false;
    for (size_t i = 0; i < ops->n; i++) {
        struct aicpu_op *op = &ops->at[i];
        if (op->big == NO_ROW)
            continue;
        const uint64_t wanted = (uint64_t)(p->host.comm.big.call[op->big] + 1) << 32 | op->iteration;
        const name_id group = op->has_group ? group_name(p, op) : NAME_NA;
        for (size_t k = order_first_u64(order, c->n, key, wanted); k < c->n && key[order[k]] == wanted; k++)
            if (op->collective == NO_ROW || c->group[order[k]] == group)
                op->collective = order[k];
    }
    return true;
}

static name_id base_name(const struct profile *p, const struct device *d, const struct aicpu_op *op)
{
    return op->big != NO_ROW ? dictionary_hash(&p->dictionary, p->host.calls.item[p->host.comm.big.call[op->big]])
                             : p->host.ops.name[d->tasks.op[op->task]];
}

/* The operators of a group are counted on each stream, in the order in which they ran. Runs of the same request count
 * once. */
static bool name_ops(const struct profile *p, const struct device *d, struct aicpu_ops *ops, struct arena *mem)
{
    uint32_t *order;
    uint64_t *kind, *group; /* kind: stream, whether there is a group, and whether the name is that of a kernel */
    if (!TAKE(order, ops->n) || !TAKE(kind, ops->n) || !TAKE(group, ops->n))
        return false;
    for (size_t i = 0; i < ops->n; i++) {
        const struct aicpu_op *op = &ops->at[i];
        const bool is_kernel = strstr(names_text(p->names, base_name(p, d, op)), kernel_word) != NULL;
        kind[i] = (uint64_t)d->tasks.stream[op->task] << 2 | (uint64_t)op->has_group << 1 | is_kernel;
        group[i] = op->group;
    }
    order_fill(order, ops->n);
    if (!order_by_u64(order, ops->n, group) || !order_by_u64(order, ops->n, kind))
        return false;
    uint64_t last_asked = 0;
    int64_t count = -1;
    for (size_t i = 0; i < ops->n; i++) {
        struct aicpu_op *op = &ops->at[order[i]];
        if (i == 0 || kind[order[i]] != kind[order[i - 1]] || group[order[i]] != group[order[i - 1]])
            count = -1, last_asked = 0;
        const uint64_t asked = p->host.tasks.time[d->tasks.host[op->task]];
        if (source_device_ns(&d->source, op->begin) > d->source.begin_ns && asked > last_asked) {
            last_asked = asked;
            count++;
        }
        op->group_name = op->has_group ? group_name(p, op) : NAME_NA;
        op->name = op->collective != NO_ROW
                       ? d->comm.ops.name[op->collective]
                       : comm_op_name(p, base_name(p, d, op), op->has_group ? &op->group : NULL, count, op->iteration);
    }
    return true;
}

static bool sort_ops(struct aicpu_ops *ops, struct arena *mem)
{
    uint32_t *order;
    uint64_t *key;
    struct aicpu_op *sorted;
    if (!TAKE(order, ops->n) || !TAKE(key, ops->n) || !TAKE(sorted, ops->n))
        return false;
    order_fill(order, ops->n);
    for (size_t i = 0; i < ops->n; i++)
        key[i] = ops->at[i].begin;
    if (!order_by_u64(order, ops->n, key))
        return false;
    for (size_t i = 0; i < ops->n; i++)
        key[i] = ops->at[i].group;
    if (!order_by_u64(order, ops->n, key))
        return false;
    for (size_t i = 0; i < ops->n; i++)
        sorted[i] = ops->at[order[i]];
    ops->at = sorted;
    return true;
}

bool aicpu_ops_find(const struct profile *p, const struct device *d, const struct aicpu_marks *marks, struct arena *mem,
                    struct aicpu_ops *out)
{
    *out = (struct aicpu_ops){ 0 };
    if (!find_schedulers(p, d, mem, out) || !join_infos(d, out, mem) || !count_iterations(d, out, mem) ||
        !find_requests(p, d, out, mem) || !find_collectives(p, d, out, mem))
        return false;
    apply_marks(d, marks, out);
    return name_ops(p, d, out, mem) && sort_ops(out, mem);
}
