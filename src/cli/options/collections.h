/* SPDX-License-Identifier: Apache-2.0 */
/* collections.h - finds the PROF directories of a command line. */
#ifndef ASCOPE_CLI_OPTIONS_COLLECTIONS_H
#define ASCOPE_CLI_OPTIONS_COLLECTIONS_H

#include "cli/options/command.h"

struct collections {
    char **path; /* of PROF directories, in the order of the command line */
    size_t n;
    size_t n_refused; /* arguments without a collection, each reported on stderr */
};

/* -dir and the words from `first` on. Anything but STATUS_DONE: there is nothing to do, and stderr says why. */
enum exit_status collections_find(struct arguments *a, size_t first, struct collections *out);
void collections_free(struct collections *c);

/* The results of several collections, and the status of the command. */
struct results_tally {
    size_t n_done, n_lossy, n_failed;
};
enum exit_status tally_status(const struct results_tally *t);

/* Prints a note on stderr, unless --quiet was given. */
void advise(const struct arguments *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
