/* SPDX-License-Identifier: Apache-2.0 */
/* collections.h - the collections that a command line names. */
#ifndef ASCOPE_CLI_COLLECTIONS_H
#define ASCOPE_CLI_COLLECTIONS_H

#include "cli/command.h"

struct collections {
    char **path; /* of PROF directories, in the order of the command line */
    size_t n;
    size_t n_refused; /* directories without one: reported on stderr, one line each */
};

/* -dir and the words from `first` on. Ruins are collections whose folders all lack their info.json: nothing can be
 * exported, but there is something to look at. Anything but STATUS_DONE: there is nothing to do, and stderr says why. */
enum exit_status collections_find(struct arguments *a, size_t first, bool with_ruins, struct collections *out);
void collections_free(struct collections *c);
bool collection_is_ruin(const char *path);
char *path_with_name(const char *path); /* whose last part is a name, not "." or ".."; to be freed; NULL: no memory */

/* What several collections amount to. */
struct tally {
    size_t n_done, n_lossy, n_failed;
};
enum exit_status tally_status(const struct tally *t);

/* A line on stderr that is no error; --quiet leaves it out. */
void advise(const struct arguments *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
