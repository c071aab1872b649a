/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.h - one or several modes over the ranks of a job.
 *
 * Threads read ranks ahead; the modes get them one after the other, in ascending order, so that the results do not depend on
 * the threads. As many ranks are held as the memory limit allows, and at least one. Modes that keep more of them all than there is
 * room for wait: they get all ranks again when the others are done.
 */
#ifndef ASCOPE_CLUSTER_CLUSTER_H
#define ASCOPE_CLUSTER_CLUSTER_H

#include "base/progress.h"
#include "cluster/job.h"
#include "cluster/modes.h"
#include "cluster/results_write.h"
#include "cluster/verdicts.h"

struct cluster_request {
    const struct mode *const *mode;
    size_t n_modes;
    const struct cluster_options *options;
    const char *out_dir; /* NULL: nothing is written; modes that write rows as they come cannot be asked for */
    unsigned n_threads;
    uint64_t memory_bytes; /* for ranks that are held at the same time */
    uint64_t modes_bytes;  /* for what modes keep of them; 0: no limit */
    struct progress *progress;
};

struct cluster_result {
    size_t n_ranks, n_failed,
        n_lossy;              /* ranks that could not be read; that were read with losses, or analysed with some */
    LIST(const char *) notes; /* of modes */
    LIST(const char *) findings;
    struct job_report report; /* of the mode verdicts, if it was asked for */
    LIST(struct results_file) files;
    struct arena *mem;
};

/* False: nothing is written. What could not be read is in job->notes. */
bool cluster_run(struct job *j, const struct cluster_request *r, struct cluster_result *out, struct error *e);
void cluster_result_fini(struct cluster_result *r);

#endif
