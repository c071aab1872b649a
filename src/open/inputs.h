/* SPDX-License-Identifier: Apache-2.0 */
/* inputs.h - what a path is: collections of frameworks, separate PROF directories, traces. */
#ifndef ASCOPE_OPEN_INPUTS_H
#define ASCOPE_OPEN_INPUTS_H

#include "base/arena.h"
#include "open/framework_kinds.h"

struct input {
    const char *path;
    const struct framework_kind *kind; /* of a collection; NULL: a PROF directory, or a trace */
    bool is_trace;                     /* a file in Chrome's JSON format, as written by torch.profiler */
};

struct inputs {
    LIST(struct input) list;
    struct arena *mem; /* of the caller */
};

/* What else is accepted. */
enum {
    INPUT_RUINS =
        1, /* PROF directories whose folders all lack their info.json: they cannot be exported, only looked at */
    INPUT_TRACES = 2 /* trace files, and directories of trace files that torch.profiler has written */
};

/* Appends the inputs that a path is or contains. False: none, or not all of them could be read, with the reason in e; FAULT_ASKED: the
 * path cannot be used, whatever it contains. */
bool inputs_add(struct inputs *t, const char *given, unsigned also, struct error *e);

/* "give a *_ascend_pt or PROF_XXX directory, or a directory that contains some" */
enum { INPUTS_WANTED = FRAMEWORK_PATTERNS + 80 };
const char *inputs_wanted(char out[INPUTS_WANTED]);

/* A path whose last part is not "." or "..", as a root. Owner: the caller, free(). NULL: no memory. */
char *path_with_name(const char *path);

#endif
