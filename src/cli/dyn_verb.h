/* SPDX-License-Identifier: Apache-2.0 */
/* dyn_verb.h - what the verbs of `ascope dyn` share. A verb is a row in cmd_dyn.c; it prints its report unless --json or --quiet was given. */
#ifndef ASCOPE_CLI_DYN_VERB_H
#define ASCOPE_CLI_DYN_VERB_H

#include <jansson.h>

#include "cli/command.h"
#include "cli/dyn_listeners.h"
#include "cli/term.h"

struct dyn {
    struct arguments *a;
    const char *dir; /* the configuration directory, which exists */
    struct term term;
    struct listeners who;
    json_t *more; /* members of the report beside the listeners; NULL: none. The command releases it */
    /* How the command ends: if the verb did what was asked, and if it did not. */
    enum exit_status done, refused;
};

static inline bool dyn_prints(const struct dyn *d)
{
    return !d->a->json && !d->a->quiet;
}

#endif
