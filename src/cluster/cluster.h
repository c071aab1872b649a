/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.h - one or several modes over the ranks of a job.
 *
 * Threads read ranks ahead. The modes get the ranks one after the other, in ascending order, so that the results do not
 * depend on the number of threads. As many ranks are held as the memory limit allows, and at least one. If the modes
 * together keep more than there is memory for, the largest one is postponed: it gets all ranks again when the others
 * are done.
 */
#ifndef ASCOPE_CLUSTER_CLUSTER_H
#define ASCOPE_CLUSTER_CLUSTER_H

#include "base/process/progress.h"
#include "cluster/job/job.h"
#include "cluster/modes.h"
#include "cluster/results/results.h"
#include "cluster/verdicts/verdicts.h"

struct cluster_request {
    const struct mode *const *mode;
    size_t n_modes;
    const struct cluster_options *options;
    const char *out_dir; /* NULL: nothing is written; then no mode may be one that `streams` */
    unsigned n_threads;
    uint64_t memory_bytes; /* for ranks that are held at the same time */
    uint64_t modes_bytes;  /* for what all modes keep of the ranks; 0: no limit */
    struct progress *progress;
};

struct cluster_result {
    size_t n_ranks, n_failed; /* ranks that were read, and that could not be read */
    size_t n_lossy;           /* ranks that were read or analysed with losses */
    LIST(const char *) notes; /* of modes */
    LIST(const char *) findings;
    struct job_report report; /* of the mode verdicts, if it was asked for */
    LIST(struct results_file) files;
    struct arena *mem;
};

/* False: an error, and nothing is written. Ranks that could not be read are reported in job->notes. */
bool cluster_run(struct job *j, const struct cluster_request *r, struct cluster_result *out, struct error *e);
void cluster_result_fini(struct cluster_result *r);

#endif
