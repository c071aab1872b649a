/* SPDX-License-Identifier: Apache-2.0 */
/* dyn_verb.h - what the actions of `ascope dyn` share. An action is a row in cmd_dyn.c; it prints its report unless
 * --json or --quiet was given. */
#ifndef ASCOPE_CLI_DYN_DYN_VERB_H
#define ASCOPE_CLI_DYN_DYN_VERB_H

#include <jansson.h>

#include "cli/options/command.h"
#include "cli/dyn/dyn_listeners.h"
#include "report/term.h"

struct dyn {
    struct arguments *a;
    const char *dir; /* the configuration directory, which exists */
    struct term term;
    struct listeners who;
    json_t *more; /* additional members of the JSON report; NULL: none. The command releases it */
    /* The status of the command if the action succeeds, and if it fails. */
    enum exit_status done, refused;
};

static inline bool dyn_prints(const struct dyn *d)
{
    return !d->a->json && !d->a->quiet;
}

#endif
