/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view_chrome.h"

#include "cli/view_chrome_work.h"
#include "cli/view_steps.h"

/* Without memory the page has no roofline. */
static void add_work(struct view_input *in)
{
    struct error e = { 0 };
    view_chrome_work(in, &in->trace, "", &e);
}

bool view_chrome_load(struct view_input *in, struct error *e)
{
    if (!view_load_chrome(in, e))
        return false;
    struct names *names = names_new();
    const struct subject subject = subject_of_trace(&in->trace, names);
    const bool done = names && view_steps_add(in, &subject);
    names_free(names);
    if (!done)
        return error_no_memory(e, in->path);
    if (!view_is_large(in->trace.n_bytes))
        return view_chrome_work(in, &in->trace, "", e);
    in->add = add_work; /* reads the arguments of all operators and kernels again: later, in the background */
    return true;
}
