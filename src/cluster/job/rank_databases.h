/* SPDX-License-Identifier: Apache-2.0 */
/* rank_databases.h - copies of the ranks' databases, with what the modes p2p_pairing and pp_chart found for each rank.
 *
 * MindStudio Insight reads both from the database of a rank: the column opConnectionId of COMMUNICATION_OP, and the
 * table StepTaskInfo. The recorded databases are never changed: a copy has the same path below the output directory as
 * its original below the job's, and is renamed when it is complete. The rows are those of cluster_analysis.db, which
 * has them in the order of the ranks.
 */
#ifndef ASCOPE_CLUSTER_JOB_RANK_DATABASES_H
#define ASCOPE_CLUSTER_JOB_RANK_DATABASES_H

#include "cluster/job/job.h"

struct rank_databases {
    const char *results;     /* cluster_analysis.db */
    const char *dir;         /* of the copies; it exists */
    const char *const *root; /* real paths of the job's directories */
    size_t n_roots;
};

/* Ranks that have no copy are lines of the job's notes. *n: copies that were written. False: see e. */
bool rank_databases_write(struct job *j, const struct rank_databases *r, size_t *n, struct error *e);

#endif
