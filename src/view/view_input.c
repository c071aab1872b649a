/* SPDX-License-Identifier: Apache-2.0 */
#include "view/view_input.h"

#include <stdio.h>
#include <string.h>

#include "base/background.h"
#include "load/chrome_load.h"

static void *run(void *of)
{
    struct view_input *in = of;
    const bool is_there = in->load(in, &in->error) && (view_timeline_build(&in->timeline, &in->trace, in->mem) ||
                                                       error_no_memory(&in->error, in->path));
    atomic_store(&in->percent, 100);
    atomic_store(&in->state, is_there ? VIEW_READY : VIEW_FAILED);
    return NULL;
}

bool view_input_start(struct view_input *in, struct error *e)
{
    in->mem = arena_new();
    if (!in->mem)
        return error_no_memory(e, in->path);
    const int failed = background_thread(&in->thread, "ascope-load", run, in);
    if (failed)
        return error_set(e, FAULT_LIMIT, "%s: no thread: %s", in->path, strerror(failed));
    in->has_thread = true;
    return true;
}

void view_input_close(struct view_input *in)
{
    if (in->has_thread)
        pthread_join(in->thread, NULL);
    chrome_trace_free(&in->trace);
    memory_unmap(&in->drawn);
    arena_free(in->mem);
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
