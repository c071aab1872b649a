/* SPDX-License-Identifier: Apache-2.0 */
/* one_collection.h - commands that write one file of one collection of a framework, or PROF directory: "DIR OUT". */
#ifndef ASCOPE_CLI_ONE_COLLECTION_H
#define ASCOPE_CLI_ONE_COLLECTION_H

#include <stdio.h>

#include "cli/command.h"
#include "profile/collection.h"

struct one_collection {
    const char *wanted; /* what the second word is: "the file to write, whose name ends with .log or .svg" */
    const char *inside; /* what it is named in a directory that is there; NULL: it must be a file */
    bool
        keeps_tensors; /* for the memory timeline, which needs nothing of what operators started: that is not analysed */
    bool is_timeline;  /* the result is as large as one, for the progress */
    enum exit_status (*write)(struct arguments *a, const struct collection *s, const char *out);
    enum exit_status (*write_prof)(struct arguments *a, const struct profile *p,
                                   const char *out); /* NULL: not of these */
};

/* Loads and analyses the collection that the first word names, and hands it over with the name of the file, the second word. What
 * is wrong with either is reported. The exit code. */
int one_collection_run(struct arguments *a, const struct one_collection *c);

/* How it ended: with losses also where the device's part could not be used at all. */
enum exit_status collection_status(const struct collection *s, const struct losses *lost);
FILE *report_stream(const char *out); /* for people: standard output, unless the result itself goes there */
bool json_has_room(const struct arguments *a, const char *what, const char *out); /* false: both go there: reported */

/* Why there is nothing to write: `why`, and what of the collection could not be used, when something could not. */
void complain_nothing(const struct collection *s, const char *why);

#endif
