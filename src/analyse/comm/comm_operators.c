/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/comm/comm_analysis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/keys.h"
#include "base/memory/sort.h"

/* A run of a task of a collective, before it is assigned to its operator. */
struct transfer_run {
    uint32_t small, task, big; /* rows of the request, of the device's tasks, and of the operator that requested it */
    uint32_t iteration;        /* counts the runs of the same task from 1: captured graphs run repeatedly */
    name_id name;              /* of its operator, with the suffix */
    uint64_t group;            /* hash; valid if has_group */
    bool has_group;
};

struct comm_operators_runs {
    struct transfer_run *at;
    size_t n;
};

/* The first position in by_id of the runs of a task id, or the position at which they would be. */
static size_t first_of_id(const struct tasks *t, uint64_t key, uint32_t context)
{
    const uint32_t *row = t->by_id;
    return SEARCH_FIRST_NOT(i, 0, t->n, t->key[row[i]] != key ? t->key[row[i]] < key : t->context[row[i]] < context);
}

static bool same_id(const struct tasks *t, size_t at, uint64_t key, uint32_t context)
{
    return at < t->n && t->key[t->by_id[at]] == key && t->context[t->by_id[at]] == context;
}

/* Finds all runs on this device of the tasks of collectives, in two passes: count, then fill. */
static bool find_runs(const struct profile *p, const struct device *d, struct arena *mem,
                      struct comm_operators_runs *out)
{
    const struct comm_requests *r = &p->host.comm;
    const struct tasks *t = &d->tasks;
    uint32_t *first = arena_take(mem, r->small.n, sizeof *first), *count = arena_take(mem, r->small.n, sizeof *count);
    if (!first || !count)
        return false;
    for (size_t i = 0; i < r->small.n; i++) {
        if (r->small.device[i] != d->source.device)
            continue;
        const uint64_t key = task_key(r->small.stream[i], r->small.batch[i], r->small.task[i]);
        first[i] = (uint32_t)first_of_id(t, key, r->small.context[i]);
        while (same_id(t, first[i] + count[i], key, r->small.context[i]))
            count[i]++;
        out->n += count[i];
    }
    struct transfer_run *run = out->at = arena_take(mem, out->n, sizeof *out->at);
    for (uint32_t i = 0; run && i < r->small.n; i++)
        for (uint32_t k = 0; k < count[i]; k++)
            *run++ =
                (struct transfer_run){ .small = i, .task = t->by_id[first[i] + k], .big = NO_ROW, .iteration = k + 1 };
    return run != NULL;
}

/* Operators of one device by (thread, begin). */
static uint32_t *order_big(const struct profile *p, const struct device *d, struct arena *mem, size_t *n)
{
    const struct comm_requests *r = &p->host.comm;
    uint32_t *order = arena_take(mem, r->big.n, sizeof *order);
    uint64_t *begin = arena_take(mem, r->big.n, sizeof *begin);
    *n = 0;
    if (!order || !begin)
        return NULL;
    for (uint32_t i = 0; i < r->big.n; i++) {
        begin[i] = p->host.calls.begin[r->big.call[i]];
        if (r->big.device[i] == d->source.device)
            order[(*n)++] = i;
    }
    return order_by_u64(order, *n, begin) && order_by_u32(order, *n, r->big.thread) ? order : NULL;
}

/* A task belongs to the operator of its thread during whose call it was launched. Runs are sorted by (thread, time), as
 * the requests are. Runs without an operator are dropped and counted. */
static void assign(const struct profile *p, struct device *d, struct comm_operators_runs *runs, const uint32_t *big,
                   size_t n_big)
{
    const struct comm_requests *r = &p->host.comm;
    const struct calls *c = &p->host.calls;
    size_t at = 0, kept = 0;
    for (size_t i = 0; i < runs->n; i++) {
        const struct transfer_run run = runs->at[i];
        const uint32_t thread = r->small.thread[run.small];
        const uint64_t time = r->small.time[run.small];
        while (at < n_big && (r->big.thread[big[at]] < thread ||
                              (r->big.thread[big[at]] == thread && c->end[r->big.call[big[at]]] < time)))
            at++;
        if (at == n_big || r->big.thread[big[at]] != thread || c->begin[r->big.call[big[at]]] > time)
            continue;
        runs->at[kept] = run;
        runs->at[kept].big = big[at];
        const uint32_t info = r->small.info[run.small], op = r->big.op[big[at]];
        runs->at[kept].has_group = info != NO_ROW || op != NO_ROW;
        if (runs->at[kept].has_group)
            runs->at[kept].group =
                info != NO_ROW ? p->host.records.hccl_infos.group[info] : p->host.records.hccl_ops.group[op];
        kept++;
    }
    losses_add(&d->source.lost, LOSS_UNMATCHED, runs->n - kept, "host/data/additional.hccl_info", 0);
    runs->n = kept;
}

static name_id group_name(const struct profile *p, const struct transfer_run *run)
{
    return run->has_group ? dictionary_hash(&p->dictionary, run->group) : NAME_NA;
}

/* The operators of a group are counted in the order of their requests. Those that an AI CPU schedules have a separate
 * count. */
struct comm_operators_counter {
    uint64_t last_begin;
    int64_t count; /* of the last operator: the first one has 0, and -1 means that there is none yet */
};

struct group_counters {
    struct keys groups; /* place of a group in `at` */
    LIST(struct comm_operators_counter) at;
};

static struct comm_operators_counter *counter_of(struct group_counters *c, struct arena *mem, name_id group,
                                                 bool is_aicpu)
{
    const uint32_t place = keys_add(&c->groups, (uint64_t)group << 1 | is_aicpu, mem);
    if (place < c->at.n)
        return &c->at.at[place];
    struct comm_operators_counter *new = place == KEYS_NO_MEMORY ? NULL : list_add(&c->at, mem);
    if (new)
        new->count = -1;
    return new;
}

name_id comm_op_name(const struct profile *p, name_id base, const uint64_t *group, int64_t count, uint32_t iteration)
{
    char hash[24] = "N/A", text[600];
    if (group)
        snprintf(hash, sizeof hash, "%" PRIu64, *group);
    const size_t len = strlen(hash);
    const int n = snprintf(text, sizeof text, "%.500s_%s_%" PRId64 "_%" PRIu32, names_text(p->names, base),
                           hash + (len > 3 ? len - 3 : 0), count, iteration);
    return names_add(p->names, text, (size_t)n);
}

static name_id suffixed(const struct profile *p, const struct transfer_run *run, int64_t count)
{
    const uint32_t call = p->host.comm.big.call[run->big];
    return comm_op_name(p, dictionary_hash(&p->dictionary, p->host.calls.item[call]),
                        run->has_group ? &run->group : NULL, count, run->iteration);
}

static bool name_runs(const struct profile *p, const struct device *d, struct comm_operators_runs *runs,
                      struct arena *mem)
{
    const struct comm_requests *r = &p->host.comm;
    const struct tasks *t = &d->tasks;
    struct group_counters counters = { 0 };
    uint32_t *order = arena_take(mem, runs->n, sizeof *order);
    uint64_t *key = arena_take(mem, runs->n, sizeof *key);
    if (!order || !key)
        return false;
    order_fill(order, runs->n);
    for (size_t i = 0; i < runs->n; i++)
        key[i] = t->begin_tick[runs->at[i].task];
    if (!order_by_u64(order, runs->n, key))
        return false;
    for (size_t i = 0; i < runs->n; i++)
        key[i] = r->small.time[runs->at[i].small];
    if (!order_by_u64(order, runs->n, key))
        return false;

    const struct transfer_run *last = NULL;
    int64_t last_count = 0;
    for (size_t i = 0; i < runs->n; i++) {
        struct transfer_run *run = &runs->at[order[i]];
        const uint32_t call = r->big.call[run->big];
        const char *item = names_text(p->names, dictionary_hash(&p->dictionary, p->host.calls.item[call]));
        struct comm_operators_counter *c = counter_of(&counters, mem, group_name(p, run), strstr(item, "AicpuKernel"));
        if (!c)
            return false;
        if (t->begin_ns[run->task] > d->source.begin_ns && p->host.calls.begin[call] > c->last_begin) {
            c->last_begin = p->host.calls.begin[call];
            c->count++;
        }
        const bool same = last && last->big == run->big && last->group == run->group &&
                          last->iteration == run->iteration && last_count == c->count;
        run->name = same ? last->name : suffixed(p, run, c->count);
        last = run;
        last_count = c->count;
    }
    return true;
}

/* Sorts runs by their tasks, which are sorted by begin, and drops those that began before the collection. */
static bool sort_runs(struct device *d, struct comm_operators_runs *runs, struct arena *mem)
{
    const struct tasks *t = &d->tasks;
    uint32_t *order = arena_take(mem, runs->n, sizeof *order), *task = arena_take(mem, runs->n, sizeof *task);
    struct transfer_run *sorted = arena_take(mem, runs->n, sizeof *sorted);
    if (!order || !task || !sorted)
        return false;
    size_t n = 0;
    for (uint32_t i = 0; i < runs->n; i++) {
        task[i] = runs->at[i].task;
        if (t->begin_ns[task[i]] >= d->source.begin_ns)
            order[n++] = i;
    }
    if (!order_by_u32(order, n, task))
        return false;
    for (size_t i = 0; i < n; i++)
        sorted[i] = runs->at[order[i]];
    losses_add(&d->source.lost, LOSS_OUTSIDE, runs->n - n, "stars_soc.data", 0);
    *runs = (struct comm_operators_runs){ sorted, n };
    return true;
}

static void fill_task(const struct profile *p, struct device *d, size_t k, const struct transfer_run *run)
{
    const struct hccl_infos *h = &p->host.records.hccl_infos;
    const struct tasks *from = &d->tasks;
    struct comm_tasks *t = &d->comm.tasks;
    const uint32_t info = p->host.comm.small.info[run->small];
    t->task_row[k] = run->task;
    t->begin_ns[k] = from->begin_ns[run->task];
    t->end_ns[k] = from->end_ns[run->task];
    t->dur_ns[k] = from->dur_ns[run->task];
    t->group[k] = group_name(p, run);
    t->is_master[k] = p->host.comm.small.is_master[run->small];
    t->has_info[k] = info != NO_ROW;
    if (info == NO_ROW) {
        t->name[k] = NAME_NA;
        t->plane[k] = -1;
        t->estimate_us[k] = -1;
        t->src_rank[k] = t->dst_rank[k] = UINT32_MAX;
        t->rdma[k] = t->transport[k] = t->link[k] = t->data_type[k] = DATA_TYPE_NONE;
        t->size[k] = UINT64_MAX;
        return;
    }
    t->name[k] = dictionary_hash(&p->dictionary, h->item[info]);
    t->plane[k] = (int32_t)h->plane[info];
    t->estimate_us[k] = h->estimate_us[info];
    t->src_rank[k] = h->local_rank[info];
    t->dst_rank[k] = h->remote_rank[info];
    t->rdma[k] = h->rdma[info];
    t->transport[k] = h->transport[info];
    t->link[k] = h->link[info];
    t->data_type[k] = h->data_type[info];
    t->notify[k] = h->notify[info];
    t->size[k] = h->size[info];
}

static void fill_op(const struct profile *p, struct device *d, size_t k, const struct transfer_run *run)
{
    const struct comm_requests *r = &p->host.comm;
    const struct hccl_ops *h = &p->host.records.hccl_ops;
    struct comm_ops *o = &d->comm.ops;
    const uint32_t big = run->big, op = r->big.op[big], basic = r->big.basic[big];
    o->name[k] = run->name;
    o->op_type[k] =
        basic == NO_ROW ? NAME_NA : dictionary_hash(&p->dictionary, p->host.records.node_basics.op_type[basic]);
    o->group[k] = op == NO_ROW ? group_name(p, run) : dictionary_hash(&p->dictionary, h->group[op]);
    o->group_id[k] = run->has_group ? names_number(p->names, run->group) : NAME_NA;
    o->alg[k] = op == NO_ROW ? NAME_NA : dictionary_hash(&p->dictionary, h->alg[op]);
    o->data_type[k] = op == NO_ROW ? DATA_TYPE_NONE : h->data_type[op];
    o->relay[k] = op == NO_ROW ? -1 : h->flags[op] & 1;
    o->retry[k] = op == NO_ROW ? -1 : h->flags[op] >> 1 & 1;
    o->count[k] = op == NO_ROW ? UINT64_MAX : h->count[op];
    o->asked[k] = p->host.calls.begin[r->big.call[big]];
    o->connection[k] = r->big.call[big] + 1;
    o->iteration[k] = run->iteration;
    o->model[k] = r->big.model[big];
}

/* Tasks of one operator share its name and group; operators are numbered by their first task. */
static bool gather_ops(const struct profile *p, struct device *d, const struct comm_operators_runs *runs,
                       struct arena *mem)
{
    uint32_t *order = arena_take(mem, runs->n, sizeof *order), *first = arena_take(mem, runs->n, sizeof *first);
    uint64_t *key = arena_take(mem, runs->n, sizeof *key);
    if (!order || !first || !key)
        return false;
    order_fill(order, runs->n);
    for (size_t i = 0; i < runs->n; i++)
        key[i] = (uint64_t)runs->at[i].name << 32 | d->comm.tasks.group[i];
    if (!order_by_u64(order, runs->n, key))
        return false;
    size_t n = 0;
    for (size_t i = 0; i < runs->n; i++)
        first[order[i]] = i > 0 && key[order[i]] == key[order[i - 1]] ? first[order[i - 1]] : order[i];
    for (size_t i = 0; i < runs->n; i++)
        n += first[i] == i;
    if (!comm_ops_resize(&d->comm.ops, n, d->source.mem))
        return false;
    n = 0;
    for (size_t i = 0; i < runs->n; i++) {
        if (first[i] == i)
            fill_op(p, d, n++, &runs->at[i]);
        d->comm.tasks.op[i] = first[i] == i ? (uint32_t)n - 1 : d->comm.tasks.op[first[i]];
    }
    return true;
}

/* An operator lasts from the first to the last of its tasks on the master stream. */
static void time_ops(const struct profile *p, struct device *d, const struct comm_operators_runs *runs)
{
    const struct tasks *t = &d->tasks;
    struct comm_ops *o = &d->comm.ops;
    uint64_t *begin = (uint64_t *)(void *)o->begin_ns,
             *end = (uint64_t *)(void *)o->end_ns; /* ticks, until they are ns */
    for (size_t i = 0; i < runs->n; i++) {
        const uint32_t op = d->comm.tasks.op[i], row = runs->at[i].task,
                       info = p->host.comm.small.info[runs->at[i].small];
        if (info != NO_ROW)
            o->rank_size[op] = p->host.records.hccl_infos.rank_size[info];
        if (!d->comm.tasks.is_master[i])
            continue;
        begin[op] = !o->is_shown[op] || t->begin_tick[row] < begin[op] ? t->begin_tick[row] : begin[op];
        end[op] = !o->is_shown[op] || t->end_tick[row] > end[op] ? t->end_tick[row] : end[op];
        o->is_shown[op] = true;
    }
    for (size_t op = 0; op < o->n; op++) {
        const uint64_t from = begin[op], to = end[op];
        o->dur_ns[op] = ticks_to_ns_exact(d->source.device_clock.tick, to - from);
        o->begin_ns[op] = o->is_shown[op] ? source_device_ns(&d->source, from) : 0;
        o->end_ns[op] = o->is_shown[op] ? source_device_ns(&d->source, to) : 0;
    }
}

bool comm_analyse(struct profile *p, struct device *d, struct error *e)
{
    if (p->chip->task_log == TASK_LOG_CUDA)
        return nccl_collectives_analyse(p, d, e);
    if (p->host.comm.small.n == 0)
        return true;
    struct arena *mem = arena_new();
    struct comm_operators_runs runs = { 0 };
    size_t n_big = 0;
    bool done = mem && find_runs(p, d, mem, &runs);
    const uint32_t *big = done ? order_big(p, d, mem, &n_big) : NULL;
    if (big)
        assign(p, d, &runs, big, n_big);
    done = big && name_runs(p, d, &runs, mem) && sort_runs(d, &runs, mem) &&
           comm_tasks_resize(&d->comm.tasks, runs.n, d->source.mem);
    for (size_t i = 0; done && i < runs.n; i++)
        fill_task(p, d, i, &runs.at[i]);
    done = done && gather_ops(p, d, &runs, mem);
    if (done) {
        time_ops(p, d, &runs);
        done = comm_bandwidths(p, &d->comm, mem);
    }
    arena_free(mem);
    return done || error_no_memory(e, d->source.path);
}
