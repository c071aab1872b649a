#include "analyse/analyse.h"

#include "analyse/aicpu_comm.h"
#include "analyse/blocks.h"
#include "analyse/calls.h"
#include "analyse/comm.h"
#include "analyse/copies.h"
#include "analyse/core_samples.h"
#include "analyse/device_tasks.h"
#include "analyse/marks.h"
#include "analyse/memory.h"
#include "analyse/operators.h"
#include "analyse/overlap.h"
#include "analyse/pmu.h"
#include "analyse/rates.h"
#include "analyse/release.h"
#include "analyse/steps.h"
#include "analyse/ts_copies.h"
#include "load/records.h"
#include "base/pool.h"

static bool release_log(struct profile *p, struct device *d, struct error *e)
{
    (void)p, (void)e;
    release_device_log(d);
    return true;
}

/* What is computed of each device, in this order: every step may use what the ones before it have filled in. */
/* clang-format off */
static bool (*const device_step[])(struct profile *p, struct device *d, struct error *e) = {
    device_log_analyse,
    blocks_analyse,
    tasks_analyse,
    pmu_analyse,
    release_log,
    copies_analyse,
    ts_copies_analyse,
    comm_analyse,
    aicpu_comm_analyse,
    overlap_analyse,
    counters_analyse,
    core_samples_analyse,
    steps_analyse,
    device_marks_analyse,
};
/* clang-format on */

struct analysis {
    struct profile *profile;
    struct error *error; /* one for each device */
};

static void analyse_device(void *context, size_t i)
{
    const struct analysis *a = context;
    for (size_t k = 0; k < sizeof device_step / sizeof *device_step; k++)
        if (!device_step[k](a->profile, &a->profile->device[i], &a->error[i]))
            return;
}

/* Numbers in the order of the ids, so that they are the same every time. */
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
    if (profile_has_host(p) &&
        (!calls_analyse(p, e) || !operators_analyse(p, e) || !marks_analyse(p, e) || !memory_analyse(p, e)))
        return false;
    if (profile_has_host(p))
        release_host_records(p);
    struct analysis a = { p, arena_take(p->mem, p->n_devices, sizeof *a.error) };
    if (!a.error)
        return error_set(e, FAULT_LIMIT, "%s: no memory", p->path);
    pool_run(p->n_devices, n_threads, analyse_device, &a);
    for (size_t i = 0; i < p->n_devices; i++) {
        if (a.error[i].fault != FAULT_NONE)
            return error_set(e, a.error[i].fault, "%s", a.error[i].text);
        records_count_unread(&p->device[i].source);
        losses_merge(&p->lost, &p->device[i].source.lost);
    }
    if (profile_has_host(p))
        losses_merge(&p->lost, &p->host.source.lost);
    if (!number_tasks(p))
        return error_set(e, FAULT_LIMIT, "%s: no memory to number its tasks", p->path);
    if (profile_has_host(p))
        release_requests(p);
    return !names_failed(p->names) || error_set(e, FAULT_LIMIT, "%s: no memory for its names", p->path);
}
