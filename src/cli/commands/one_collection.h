/* SPDX-License-Identifier: Apache-2.0 */
/* one_collection.h - registry: commands with the arguments "DIR OUT", which write one file from one collection of a framework
 * or PROF directory. */
#ifndef ASCOPE_CLI_COMMANDS_ONE_COLLECTION_H
#define ASCOPE_CLI_COMMANDS_ONE_COLLECTION_H

#include "cli/options/command.h"
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

/* Reports why there is nothing to write, and damaged records of the collection, if any. */
void complain_nothing(const struct collection *s, const char *why);

#endif
