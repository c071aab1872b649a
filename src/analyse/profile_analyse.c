/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/profile_analyse.h"

#include "analyse/comm/comm_analysis.h"
#include "analyse/device/counters/device_counters.h"
#include "analyse/device/device_analysis.h"
#include "analyse/device/tasks/device_tasks.h"
#include "analyse/flow/marks.h"
#include "analyse/host/host_analysis.h"
#include "base/memory/large_memory.h"
#include "base/process/pool.h"
#include "base/process/progress.h"
#include "profile/profile.h"

/* Releases columns that no later step of the analysis and no output reads.
 *
 * Raw records of the host are as large as everything that is derived from them; without this an export would hold
 * both. Each function is called after the last step that needs what it releases. */

#define DROP(column) (arena_drop(mem, (column)), (column) = NULL)

/* without those of communication, which the devices need */
static void release_host_records(struct profile *p)
{
    struct arena *mem = p->host.source.mem;
    struct calls *c = &p->host.calls;
    DROP(c->parent), DROP(c->in_tree);
    arena_drop(p->host.calls_mem, c->request), c->request = NULL;

    struct node_basics *b = &p->host.records.node_basics; /* op_type is needed by comm_operators.c */
    DROP(b->thread), DROP(b->task_type), DROP(b->blocks), DROP(b->op_flag), DROP(b->time), DROP(b->name);
    DROP(b->is_static), DROP(b->call);

    struct node_attrs *a = &p->host.records.node_attrs;
    DROP(a->thread), DROP(a->time), DROP(a->name), DROP(a->text), DROP(a->call);

    struct tensors *t = &p->host.records.tensors;
    DROP(t->thread), DROP(t->time), DROP(t->name), DROP(t->call);
    for (int d = 0; d < 2; d++)
        DROP(t->shapes[d]), DROP(t->types[d]), DROP(t->formats[d]);

    struct contexts *x = &p->host.records.contexts;
    DROP(x->thread), DROP(x->count), DROP(x->level), DROP(x->time), DROP(x->name), DROP(x->ids), DROP(x->call);

    struct tracks *k = &p->host.records.tracks;
    DROP(k->thread), DROP(k->data_len), DROP(k->task), DROP(k->device), DROP(k->stream), DROP(k->batch);
    DROP(k->time), DROP(k->type), DROP(k->kernel), DROP(k->record), DROP(k->call);

    struct hccl_infos *i = &p->host.records.hccl_infos;
    DROP(i->thread), DROP(i->time), DROP(i->call);
}

/* after tasks and counters are built from it */
static void release_device_log(struct device *d)
{
    struct arena *mem = d->source.mem;
    struct device_log *l = &d->log;
    DROP(l->stream), DROP(l->batch), DROP(l->task), DROP(l->context), DROP(l->key), DROP(l->begin), DROP(l->end);
    DROP(l->type);
}

/* once every device is analysed */
static void release_requests(struct profile *p)
{
    struct arena *mem = p->host.source.mem;
    struct hccl_infos *i = &p->host.records.hccl_infos;
    DROP(i->item), DROP(i->group), DROP(i->notify), DROP(i->src), DROP(i->dst), DROP(i->size), DROP(i->estimate_us);
    DROP(i->local_rank), DROP(i->remote_rank), DROP(i->rank_size), DROP(i->plane), DROP(i->context);
    DROP(i->data_type), DROP(i->link), DROP(i->transport), DROP(i->rdma);
    DROP(p->host.records.node_basics.op_type);
    DROP(p->host.tasks.key);

    struct comm_requests *r = &p->host.comm;
    DROP(r->small.device), DROP(r->small.stream), DROP(r->small.batch), DROP(r->small.task), DROP(r->small.context);
    DROP(r->small.thread), DROP(r->small.model), DROP(r->small.connection), DROP(r->small.time), DROP(r->small.info);
    DROP(r->small.is_master);
}

static bool release_log(struct profile *p, struct device *d, struct error *e)
{
    (void)p, (void)e;
    release_device_log(d);
    return true;
}

typedef bool device_step(struct profile *p, struct device *d, struct error *e);

/* The steps for each device, in this order: a step may use the results of earlier ones. The first list needs no data of
 * the host and runs in parallel with the analysis of the host. */
/* clang-format off */
static device_step *const of_device[] = {
    device_log_analyse,
    fused_parts_analyse,
    pmu_prepare,
    counters_analyse,
    core_samples_analyse,
    NULL,
};
static device_step *const of_both[] = {
    device_log_with_host,
    blocks_analyse,
    tasks_analyse,
    pmu_analyse,
    block_spreads_analyse,
    counted_tasks_analyse,
    ccu_analyse,
    release_log,
    copies_analyse,
    ts_copies_analyse,
    comm_analyse,
    aicpu_comm_analyse,
    overlap_analyse,
    steps_analyse,
    device_marks_analyse,
    NULL,
};
/* clang-format on */

struct analysis {
    struct profile *profile;
    struct error *error; /* one for the host, then one for each device */
};

static void analyse_device(const struct analysis *a, size_t i, device_step *const *step)
{
    for (; *step && (*step)(a->profile, &a->profile->device[i], &a->error[1 + i]); step++)
        progress_work(1);
}

enum { HOST_STEPS = 8 }; /* the host takes about as long as this many steps of a device */

uint64_t profile_analyse_steps(const struct profile *p)
{
    return HOST_STEPS + p->n_devices * (sizeof of_device / sizeof *of_device + sizeof of_both / sizeof *of_both - 2);
}

static void analyse_host(struct profile *p, struct error *e)
{
    if (profile_has_host(p) && calls_analyse(p, e) && operators_analyse(p, e) && marks_analyse(p, e) &&
        memory_analyse(p, e))
        release_host_records(p);
    progress_work(HOST_STEPS);
}

static void analyse_alone(void *context, size_t i)
{
    const struct analysis *a = context;
    if (i == 0)
        analyse_host(a->profile, &a->error[0]);
    else
        analyse_device(a, i - 1, of_device);
}

static void analyse_both(void *context, size_t i)
{
    analyse_device(context, i, of_both);
}

/* False: e is the first error. */
static bool has_succeeded(const struct analysis *a, struct error *e)
{
    for (size_t i = 0; i < 1 + a->profile->n_devices; i++)
        if (a->error[i].fault != FAULT_NONE)
            return error_set(e, a->error[i].fault, "%s", a->error[i].text);
    return true;
}

/* Numbers the tasks in the order of their ids, so that the result does not depend on threads. */
static bool number_tasks(struct profile *p)
{
    struct host_tasks *h = &p->host.tasks;
    uint32_t next = 0;
    h->global_id = arena_take(p->mem, h->n, sizeof *h->global_id);
    if (!h->global_id)
        return false;
    for (size_t i = 0; i < h->n; i++) {
        const bool is_new = i == 0 || h->device[i] != h->device[i - 1] || h->key[i] != h->key[i - 1] ||
                            h->context[i] != h->context[i - 1];
        next += is_new;
        h->global_id[i] = next - 1;
    }
    for (size_t d = 0; d < p->n_devices; d++) {
        struct tasks *t = &p->device[d].tasks;
        uint32_t before = NO_ROW;
        t->global_id = arena_take(p->mem, t->n, sizeof *t->global_id);
        if (!t->global_id)
            return false;
        for (size_t i = 0; i < t->n; i++) {
            const uint32_t row = t->by_id[i];
            const bool same =
                before != NO_ROW && t->key[row] == t->key[before] && t->context[row] == t->context[before];
            t->global_id[row] = t->host[row] != NO_ROW ? h->global_id[t->host[row]]
                                : same                 ? t->global_id[before]
                                                       : next++;
            before = row;
        }
    }
    p->n_global_ids = next;
    return true;
}

bool profile_analyse(struct profile *p, unsigned n_threads, struct error *e)
{
    struct analysis a = { p, arena_take(p->mem, 1 + p->n_devices, sizeof *a.error) };
    if (!a.error)
        return error_no_memory(e, p->path);
    pool_run(1 + p->n_devices, n_threads, analyse_alone, &a);
    if (!has_succeeded(&a, e))
        return false;
    pool_run(p->n_devices, n_threads, analyse_both, &a);
    memory_rest();
    if (!has_succeeded(&a, e))
        return false;
    for (size_t i = 0; i < p->n_devices; i++) {
        source_count_unread(&p->device[i].source);
        losses_merge(&p->lost, &p->device[i].source.lost);
    }
    if (profile_has_host(p)) {
        source_count_unread(&p->host.source);
        losses_merge(&p->lost, &p->host.source.lost);
    }
    if (!number_tasks(p))
        return error_no_memory(e, p->path);
    if (profile_has_host(p))
        release_requests(p);
    return !names_failed(p->names) || error_no_memory(e, p->path);
}
