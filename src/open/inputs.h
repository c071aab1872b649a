/* SPDX-License-Identifier: Apache-2.0 */
/* inputs.h - what a path is: recorded data (collections of frameworks, separate PROF directories), or a file that is
 * read instead of it (a trace, a database of results).
 */
#ifndef ASCOPE_OPEN_INPUTS_H
#define ASCOPE_OPEN_INPUTS_H

#include "base/memory/arena.h"
#include "open/framework_kinds.h"

struct input {
    const char *path;                  /* a collection with recorded data or results, or a file that was given */
    const struct framework_kind *kind; /* of recorded data of a framework; NULL: a PROF directory, or `file` */
    const char *steps_by;              /* --steps-by, lent; NULL: not given */
    const char *file; /* in Chrome's JSON format, or a database of results; NULL: recorded data is read */
};

struct inputs {
    LIST(struct input) list;
    const char *steps_by; /* of those that are added */
    struct arena *mem;    /* of the caller */
};

/* What else is accepted. */
enum {
    INPUT_RUINS =
        1, /* PROF directories whose folders all lack their info.json: they cannot be exported, only looked at */
    INPUT_RESULTS = 2 /* traces and databases; directories of traces, and of results without recorded data */
};

/* Appends the inputs that a path is or contains. False: none, or not all of them could be read, with the reason in e;
 * FAULT_ASKED: the path cannot be used, whatever it contains. */
bool inputs_add(struct inputs *t, const char *given, unsigned also, struct error *e);

/* Of a path without recorded data: if it is or has results, sets e to what reads them instead. */
bool inputs_are_results(const char *given, struct error *e);

/* "give a *_ascend_pt or PROF_XXX directory, or a directory that contains some" */
enum { INPUTS_WANTED = FRAMEWORK_PATTERNS + 80 };
const char *inputs_wanted(char out[INPUTS_WANTED]);

/* A path whose last part is not "." or "..", as a root. Owner: the caller, free(). NULL: no memory. */
char *path_with_name(const char *path);

#endif
