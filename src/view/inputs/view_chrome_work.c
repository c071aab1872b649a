/* SPDX-License-Identifier: Apache-2.0 */
#include "view/inputs/view_inputs.h"

#include "answers/run/roofline_chrome.h"

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
