/* SPDX-License-Identifier: Apache-2.0 */
#include "view/inputs/view_inputs.h"

#include "answers/run/roofline_chrome.h"

/* Without memory the page has no roofline. */
static void add_work(struct view_input *in)
{
    struct error e = { 0 };
    view_chrome_work(in, &in->trace, "", &e);
}

/* The name of the first device in the properties that torch.profiler writes; NULL: there is none. */
static const char *device_name(const struct chrome_trace *t, struct arena *mem)
{
    const struct json_span list = chrome_fact(t, "deviceProperties");
    struct json_scan scan;
    struct json_span first, name, plain;
    if (!list.at || !json_enter(&scan, list.at, list.at + list.len, '[') || !json_next_element(&scan) ||
        !json_pass(&scan, &first))
        return NULL;
    name = json_find(first, "name");
    return name.len > 2 && json_plain(name, &plain) ? arena_text(mem, plain.at, plain.len) : NULL;
}

bool view_chrome_load(struct view_input *in, struct error *e)
{
    if (!view_load_chrome(in, e))
        return false;
    in->device = device_name(&in->trace, in->mem);
    if (!view_trace_steps(in, e))
        return false;
    if (!view_is_large(in->trace.n_bytes))
        return view_chrome_work(in, &in->trace, "", e);
    in->add = add_work; /* reads the arguments of all operators and kernels again: later, in the background */
    return true;
}

bool view_chrome_work(struct view_input *in, const struct chrome_trace *t, const char *run, struct error *e)
{
    struct arena *const mem = arena_new();
    struct names *const names = names_new();
    struct roofline r;
    bool done = mem && names && roofline_of_chrome(&r, t, names, mem) && !names_failed(names);
    pthread_rwlock_wrlock(&in->lock); /* pages may be reading what is there already */
    done = done && view_roofline_keep(in, &r, true, run);
    pthread_rwlock_unlock(&in->lock);
    arena_free(mem);
    names_free(names);
    return done || error_no_memory(e, in->path);
}
