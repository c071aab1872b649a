/* SPDX-License-Identifier: Apache-2.0 */
#include "view/view_input.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/background.h"
#include "load/chrome_load.h"
#include "view/bus_guard.h"
#include "view/source_stamp.h"

enum { LOOK_NS = 1000000000 };

static void release(struct view_input *in)
{
    chrome_trace_free(&in->trace);
    memory_unmap(&in->drawn);
    arena_free(in->mem);
    const size_t kept = offsetof(struct view_input, error);
    memset((char *)in + kept, 0, sizeof *in - kept);
}

static void *run(void *of)
{
    struct view_input *in = of;
    bus_guard_here();
    pthread_rwlock_wrlock(&in->lock); /* whoever still reads what was loaded before */
    release(in);
    in->mem = arena_new();
    pthread_rwlock_unlock(&in->lock);
    atomic_store(&in->stamp, source_stamp(in->path));
    atomic_store(&in->looked_ns, 0);
    const bool is_there =
        in->mem ? in->load(in, &in->error) &&
                      (view_timeline_build(&in->timeline, &in->trace, in->mem) || error_no_memory(&in->error, in->path))
                : error_no_memory(&in->error, in->path);
    atomic_store(&in->percent, 100);
    atomic_fetch_add(&in->n_loads, 1);
    atomic_store(&in->state, is_there ? VIEW_READY : VIEW_FAILED);
    return NULL;
}

void view_input_init(struct view_input *in)
{
    pthread_rwlock_init(&in->lock, NULL);
    atomic_store(&in->state, VIEW_NEW);
}

bool view_input_start(struct view_input *in, struct error *e)
{
    int was = atomic_load(&in->state);
    do
        if (was == VIEW_LOADING)
            return true;
    while (!atomic_compare_exchange_weak(&in->state, &was, VIEW_LOADING));
    atomic_store(&in->percent, 0);
    if (in->has_thread)
        pthread_join(in->thread, NULL);
    const int failed = background_thread(&in->thread, "ascope-load", run, in);
    in->has_thread = failed == 0;
    if (failed) {
        atomic_store(&in->state, was);
        return error_set(e, FAULT_LIMIT, "%s: no thread: %s", in->path, strerror(failed));
    }
    return true;
}

enum view_source view_input_source(struct view_input *in)
{
    const uint64_t now = steady_ns();
    unsigned long long looked = atomic_load(&in->looked_ns);
    if ((looked == 0 || now - looked >= LOOK_NS) && atomic_compare_exchange_strong(&in->looked_ns, &looked, now))
        atomic_store(&in->stamp_now, source_stamp(in->path));
    const uint64_t stamp = atomic_load(&in->stamp_now);
    return stamp == SOURCE_GONE ? VIEW_GONE : stamp == atomic_load(&in->stamp) ? VIEW_AS_LOADED : VIEW_CHANGED;
}

void view_input_close(struct view_input *in)
{
    if (in->has_thread)
        pthread_join(in->thread, NULL);
    release(in);
    pthread_rwlock_destroy(&in->lock);
}

static bool fact_add(struct view_input *in, const char *name, uint64_t n)
{
    struct view_fact *f = list_add(&in->facts, in->mem);
    if (f)
        *f = (struct view_fact){ name, arena_printf(in->mem, "%llu", (unsigned long long)n) };
    return f && f->text;
}

bool view_load_chrome(struct view_input *in, struct error *e)
{
    if (!chrome_load(&in->trace, in->path, e))
        return false;
    const struct chrome_trace *t = &in->trace;
    return (fact_add(in, "events", t->n_events) && fact_add(in, "slices", t->slices.n) &&
            fact_add(in, "flow events", t->flows.n) && fact_add(in, "lost events", losses_damage(&t->lost))) ||
           error_no_memory(e, in->path);
}
