/* SPDX-License-Identifier: Apache-2.0 */
/* targets.h - the arguments of a command line: collections of frameworks, and PROF directories outside of them. */
#ifndef ASCOPE_CLI_TARGETS_H
#define ASCOPE_CLI_TARGETS_H

#include "cli/command.h"
#include "pipeline/framework_kinds.h"

struct target {
    const char *path;
    const struct framework_kind *kind; /* of a collection; NULL: a PROF directory */
};

struct targets {
    LIST(struct target) list;
    size_t n_refused; /* directories without one: reported on stderr, one line each */
    struct arena *mem;
};

/* -dir and all words. With ruins: see collections_find(). Anything but STATUS_DONE: there is nothing to do, and stderr says why. */
enum exit_status targets_find(struct targets *t, struct arguments *a, bool with_ruins);

/* The same of one path, behind what is in the list. */
enum exit_status targets_add(struct targets *t, const char *given, bool with_ruins);

/* "give a *_ascend_pt or PROF_XXX directory, or a directory that contains some" */
enum { TARGETS_WANTED = FRAMEWORK_PATTERNS + 80 };
const char *targets_wanted(char out[TARGETS_WANTED]);

#endif
