/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/run_rank.h"

#include "analyse/device/device_analysis.h"
#include "answers/run/chrome_kinds.h"
#include "answers/run/chrome_steps.h"
#include "profile/profile.h"

static int64_t earliest(const int64_t *begin_ns, size_t n, int64_t least)
{
    for (size_t i = 0; i < n; i++)
        least = begin_ns[i] < least ? begin_ns[i] : least;
    return least;
}

/* As --time-base start of export has it: the begin of the framework's first event or of the device's part. */
static int64_t recording_begin(const struct profile *p, const struct collection *c)
{
    int64_t least = p->n_devices > 0 || profile_has_host(p) ? profile_main_source(p)->begin_ns : INT64_MAX;
    if (c) {
        const struct framework *f = &c->framework;
        least = earliest(f->ops.begin_ns, f->ops.n, least);
        least = earliest(f->enqueue.begin_ns, f->enqueue.n, least);
        least = earliest(f->dequeue.begin_ns, f->dequeue.n, least);
        least = earliest(f->python.begin_ns, f->python.n, least);
        least = earliest(f->gc.begin_ns, f->gc.n, least);
    }
    return least;
}

struct run_rank run_rank_of(const struct profile *p, const struct device *d, const struct collection *collection)
{
    return (struct run_rank){ .profile = p,
                              .device = d,
                              .collection = collection,
                              .names = p->names,
                              .begin_ns = recording_begin(p, collection) };
}

struct run_rank run_rank_of_trace(const struct chrome_trace *t, struct names *names)
{
    return (struct run_rank){ .trace = t,
                              .names = names,
                              .begin_ns = earliest(t->slices.begin_ns, t->slices.n, INT64_MAX) };
}

bool run_rank_series(struct step_series *s, const struct run_rank *q, struct arena *mem)
{
    return q->trace        ? step_series_of_chrome(s, q->trace, q->names, mem)
           : q->collection ? step_series_of_collection(s, q->collection, q->device, NULL, mem)
                           : step_series_of_profile(s, q->profile, q->device, NULL, mem);
}

bool run_rank_division(struct step_division *out, const struct step_series *s, const struct run_rank *q,
                       const uint32_t *wanted, size_t n_wanted, struct arena *mem)
{
    return q->trace ? step_division_of_chrome(out, s, q->trace, q->waits, wanted, n_wanted, mem)
                    : step_division_find(out, s, q->profile, q->device, q->collection, q->waits, wanted, n_wanted, mem);
}

bool run_rank_number(const struct run_rank *q, int64_t *rank)
{
    if (q->trace)
        return chrome_rank(q->trace, rank);
    if (q->collection) {
        *rank = q->collection->settings.rank;
        return q->collection->settings.has_rank;
    }
    *rank = q->device ? q->device->source.settings.rank : -1;
    *rank = *rank >= 0 ? *rank : profile_main_source(q->profile)->settings.rank;
    return *rank >= 0;
}

static bool trace_has_python(const struct chrome_trace *t)
{
    struct arena *mem = arena_new();
    struct chrome_kinds kinds;
    bool has = !mem || !chrome_kinds_init(&kinds, t, mem);
    for (size_t i = 0; i < t->slices.n && !has; i++)
        has = chrome_kind(&kinds, i) == SLICE_PYTHON;
    arena_free(mem);
    return has;
}

bool run_rank_lacks_python(const struct run_rank *q)
{
    if (q->trace)
        return !trace_has_python(q->trace);
    return q->collection && !q->collection->collector.is_native && q->collection->framework.python.n == 0;
}

size_t run_rank_kernels(const struct run_rank *q)
{
    struct arena *mem = q->trace ? arena_new() : NULL;
    struct chrome_kinds kinds;
    size_t n = 0;
    const bool has_kinds = mem && chrome_kinds_init(&kinds, q->trace, mem);
    for (size_t i = 0; has_kinds && i < q->trace->slices.n; i++) {
        const enum slice_kind kind = chrome_kind(&kinds, i);
        n += kind == SLICE_KERNEL || kind == SLICE_TASK;
    }
    arena_free(mem);
    for (size_t i = 0; q->device && i < q->device->tasks.n; i++)
        n += task_does(q->profile, &q->device->tasks, i) == TASK_COMPUTES;
    return n;
}

/* Tasks of NPUs that wait for others (Notify_Wait) are recorded; kernels of GPUs and calls of gloo do both. */
bool run_rank_knows_waits(const struct run_rank *q)
{
    if (q->waits && q->waits->n > 0 && q->waits->n_unknown == 0)
        return true;
    return !q->trace && q->device && q->device->source.platform != PLATFORM_CUDA;
}
