#include "analyse/analyse.h"

#include "analyse/calls.h"
#include "analyse/copies.h"
#include "analyse/device_tasks.h"
#include "analyse/operators.h"
#include "analyse/rates.h"
#include "base/pool.h"

/* What is computed of each device, in this order: every step may use what the ones before it have filled in. */
static bool (*const device_step[])(struct profile *p, struct device *d, struct error *e) = {
    device_log_analyse,
    tasks_analyse,
    copies_analyse,
    counters_analyse,
};

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

bool profile_analyse(struct profile *p, unsigned n_threads, struct error *e)
{
    if (profile_has_host(p) && (!calls_analyse(p, e) || !operators_analyse(p, e)))
        return false;
    struct analysis a = { p, arena_take(p->mem, p->n_devices, sizeof *a.error) };
    if (!a.error)
        return error_set(e, FAULT_LIMIT, "%s: no memory", p->path);
    pool_run(p->n_devices, n_threads, analyse_device, &a);
    for (size_t i = 0; i < p->n_devices; i++) {
        if (a.error[i].fault != FAULT_NONE)
            return error_set(e, a.error[i].fault, "%s", a.error[i].text);
        losses_merge(&p->lost, &p->device[i].source.lost);
    }
    if (profile_has_host(p))
        losses_merge(&p->lost, &p->host.source.lost);
    return !names_failed(p->names) || error_set(e, FAULT_LIMIT, "%s: no memory for its names", p->path);
}
