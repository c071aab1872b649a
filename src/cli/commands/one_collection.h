/* SPDX-License-Identifier: Apache-2.0 */
/* one_collection.h - registry: commands with the arguments "DIR OUT", which write one file from one collection of a framework
 * or PROF directory. */
#ifndef ASCOPE_CLI_COMMANDS_ONE_COLLECTION_H
#define ASCOPE_CLI_COMMANDS_ONE_COLLECTION_H

#include <stdio.h>

#include "cli/options/command.h"
#include "open/run_read.h"
#include "profile/collection.h"

struct one_collection {
    const char *wanted; /* describes OUT: "the file to write, whose name ends with .log or .svg" */
    const char *inside; /* name of the file if OUT is an existing directory; NULL: OUT must be a file */
    bool keeps_tensors; /* keep tensors and skip the analysis: for the memory timeline */
    bool is_timeline;   /* the result is as large as a timeline, for the progress display */
    enum exit_status (*write)(struct arguments *a, const struct collection *s, const char *out);
    enum exit_status (*write_prof)(struct arguments *a, const struct profile *p,
                                   const char *out); /* NULL: PROF directories are not accepted */
};

/* Loads and analyses the collection DIR and calls write() or write_prof() with OUT. Reports invalid arguments.
 * Returns the exit code. */
int one_collection_run(struct arguments *a, const struct one_collection *c);

/* STATUS_LOSSES if records are damaged or the device's part could not be used. */
enum exit_status collection_status(const struct collection *s, const struct losses *lost);
FILE *report_stream(const char *out); /* for the text report: stdout, or stderr if the result goes to stdout */
bool json_has_room(
    const struct arguments *a, const char *what,
    const char *out); /* false: --json and the result would both use standard output, which was reported */

/* Reports why there is nothing to write, and damaged records of the collection, if any. */
void complain_nothing(const struct collection *s, const char *why);

/* given_run.c: the run on a command line, or several, read; what cannot be used is reported. */

struct given_run {
    struct inputs inputs;
    struct run run;
    uint32_t *group; /* of given_runs() */
    bool is_begun;   /* private */
};

/* Reads it with `needs_steps` and `look` of a struct run_request. STATUS_DONE or STATUS_LOSSES: there are ranks.
 * Anything else: there are none, and the reason was reported. */
enum exit_status given_run(struct given_run *g, struct arguments *a, unsigned also, bool needs_steps,
                           recording_look *look);

/* Each word of the command line is a run of its own: group[i] is the word of input i. Keeps only what `look` returns. */
enum exit_status given_runs(struct given_run *g, struct arguments *a, recording_look *look, const void *look_of);

/* Limits the memory, before anything is read. Temporary files are beside a collection, never beside a trace. */
void given_run_memory(struct given_run *g, const struct arguments *a);
/* Reads g->inputs, which the caller has found; n_refused of the words could not be used. */
enum exit_status given_run_read(struct given_run *g, struct arguments *a, struct run_request how, size_t n_refused);
void given_run_end(struct given_run *g);

#endif
