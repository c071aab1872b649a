/* SPDX-License-Identifier: Apache-2.0 */
/* job_read.h - reads all directories and traces of a command line, several at a time, and keeps what is known of each rank.
 *
 * Directories are released once they are read, so that a job of many ranks needs the memory of a few; the only directory of a command
 * line stays in memory.
 */
#ifndef ASCOPE_CLI_JOB_READ_H
#define ASCOPE_CLI_JOB_READ_H

#include "answers/job_steps.h"
#include "cli/loaded.h"

struct job_read {
    struct arguments *a;
    unsigned also;    /* see targets_find() */
    bool needs_steps; /* of several directories, those without steps are reported and left out */
    /* What else is kept of a device; NULL: no memory. The function may be NULL. */
    void *(*look)(const struct loaded *l, const struct device *d, struct arena *mem);
    /* Results. */
    size_t n;
    struct job_rank *rank;
    void **more; /* what look() returned */
    /* Its own. */
    struct targets targets;
    struct read_one *one;
    struct loaded only;
};

/* STATUS_DONE or STATUS_LOSSES: there are ranks. Anything else: there is none, and stderr says why. */
enum exit_status job_read_all(struct job_read *j);
void job_read_end(struct job_read *j);

/* The directory of a rank, which is read again into `again` unless it is the only one. NULL: with the reason in e. */
const struct loaded *job_read_again(struct job_read *j, const struct job_rank *r, struct loaded *again,
                                    struct error *e);

#endif
