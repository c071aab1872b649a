/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/command.h"

#include "report/term.h"

enum exit_status given_add(struct inputs *t, const char *path, unsigned also)
{
    struct error e = { 0 };
    if (inputs_add(t, path, also, &e))
        return STATUS_DONE;
    complain("%s", e.text);
    return e.fault == FAULT_ASKED ? STATUS_PATH : STATUS_NOTHING;
}

enum exit_status given_inputs(struct inputs *t, size_t *n_refused, struct arguments *a, unsigned also)
{
    *t = (struct inputs){ .mem = a->mem, .steps_by = a->steps_by };
    *n_refused = 0;
    enum exit_status last = STATUS_USAGE;
    char wanted[INPUTS_WANTED];
    if (a->n_words == 0 && !a->dir)
        complain("missing directory; %s", inputs_wanted(wanted));
    if (a->dir && (last = given_add(t, a->dir, also)) != STATUS_DONE)
        ++*n_refused;
    for (size_t i = 0; i < a->n_words; i++) {
        const char *path = path_expand(a, "DIR", a->word[i]);
        const enum exit_status here = path                   ? given_add(t, path, also)
                                      : arena_failed(a->mem) ? STATUS_NOTHING
                                                             : STATUS_PATH;
        if (here != STATUS_DONE) {
            ++*n_refused;
            last = here;
        }
    }
    return t->list.n > 0 ? STATUS_DONE : last;
}
