/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view_chrome.h"

#include "cli/view_chrome_work.h"
#include "cli/view_steps.h"

bool view_chrome_load(struct view_input *in, struct error *e)
{
    if (!view_load_chrome(in, e))
        return false;
    struct names *names = names_new();
    const struct subject subject = subject_of_trace(&in->trace, names);
    const bool done = names && view_steps_add(in, &subject);
    names_free(names);
    return (done || error_no_memory(e, in->path)) && view_chrome_work(in, &in->trace, "", e);
}
