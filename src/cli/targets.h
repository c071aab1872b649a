/* SPDX-License-Identifier: Apache-2.0 */
/* targets.h - finds the inputs of a command line: collections of frameworks, separate PROF directories, traces. */
#ifndef ASCOPE_CLI_TARGETS_H
#define ASCOPE_CLI_TARGETS_H

#include "cli/command.h"
#include "open/framework_kinds.h"

struct target {
    const char *path;
    const struct framework_kind *kind; /* of a collection; NULL: a PROF directory, or a trace */
    bool is_trace;                     /* a file in Chrome's JSON format, as written by torch.profiler */
};

struct targets {
    LIST(struct target) list;
    size_t n_refused; /* arguments without a target, each reported on stderr */
    struct arena *mem;
};

/* What else is accepted. */
enum {
    TARGET_RUINS =
        1, /* PROF directories whose folders all lack their info.json: they cannot be exported, only looked at */
    TARGET_TRACES = 2 /* trace files, and directories of trace files that torch.profiler has written */
};

/* Finds the targets of -dir and all words. Anything but STATUS_DONE: there are none, and the reason was reported. */
enum exit_status targets_find(struct targets *t, struct arguments *a, unsigned also);

/* Appends the targets of one path to the list. */
enum exit_status targets_add(struct targets *t, const char *given, unsigned also);

/* "give a *_ascend_pt or PROF_XXX directory, or a directory that contains some" */
enum { TARGETS_WANTED = FRAMEWORK_PATTERNS + 80 };
const char *targets_wanted(char out[TARGETS_WANTED]);

#endif
