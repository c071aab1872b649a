/* SPDX-License-Identifier: Apache-2.0 */
/* job_read.h - reads all directories and traces of a command line in parallel, and keeps the data of each rank.
 *
 * A directory is released after it was read, so that a job of many ranks needs the memory of a few. If there is only
 * one, it stays loaded.
 */
#ifndef ASCOPE_CLI_JOB_READ_H
#define ASCOPE_CLI_JOB_READ_H

#include "answers/job_steps.h"
#include "open/recording_open.h"

struct job_read {
    struct arguments *a;
    unsigned also;    /* see given_inputs() */
    bool needs_steps; /* if some directories have steps, those without are reported and left out */
    /* Extracts additional data of a device; NULL: no memory. May be NULL. */
    void *(*look)(const struct recording *l, const struct device *d, struct arena *mem);
    /* Results. */
    size_t n;
    struct job_rank *rank;
    void **more; /* what look() returned */
    /* Private. */
    struct inputs inputs;
    struct read_one *one;
    struct recording only;
};

/* STATUS_DONE or STATUS_LOSSES: there are ranks. Anything else: there are none, and the reason was reported. */
enum exit_status job_read_all(struct job_read *j);
void job_read_end(struct job_read *j);

/* Loads the directory of a rank again, into `again`, unless it is the only one and still loaded. NULL: see e. */
const struct recording *job_read_again(struct job_read *j, const struct job_rank *r, struct recording *again,
                                       struct error *e);

#endif
