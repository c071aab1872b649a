/* SPDX-License-Identifier: Apache-2.0 */
/* targets.h - the arguments of a command line: collections of frameworks, PROF directories outside of them, traces. */
#ifndef ASCOPE_CLI_TARGETS_H
#define ASCOPE_CLI_TARGETS_H

#include "cli/command.h"
#include "pipeline/framework_kinds.h"

struct target {
    const char *path;
    const struct framework_kind *kind; /* of a collection; NULL: a PROF directory, or a trace */
    bool is_trace;                     /* a file in Chrome's JSON form, such as torch.profiler writes */
};

struct targets {
    LIST(struct target) list;
    size_t n_refused; /* directories without one: reported on stderr, one line each */
    struct arena *mem;
};

/* What else is looked for. */
enum {
    TARGET_RUINS = 1, /* see collections_find() */
    TARGET_TRACES = 2 /* files, and those of the ranks of a job that torch.profiler has written into a directory */
};

/* -dir and all words. Anything but STATUS_DONE: there is nothing to do, and stderr says why. */
enum exit_status targets_find(struct targets *t, struct arguments *a, unsigned also);

/* The same of one path, behind what is in the list. */
enum exit_status targets_add(struct targets *t, const char *given, unsigned also);

/* "give a *_ascend_pt or PROF_XXX directory, or a directory that contains some" */
enum { TARGETS_WANTED = FRAMEWORK_PATTERNS + 80 };
const char *targets_wanted(char out[TARGETS_WANTED]);

#endif
