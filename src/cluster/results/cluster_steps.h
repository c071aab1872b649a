/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_steps.h - cluster_step_trace_time: the steps of all ranks, the stages of a pipeline, and where each rank is
 * in the parallel layout of the job; and who the ranks are.
 */
#ifndef ASCOPE_CLUSTER_RESULTS_CLUSTER_STEPS_H
#define ASCOPE_CLUSTER_RESULTS_CLUSTER_STEPS_H

#include "cluster/rank/rank_groups.h"
#include "cluster/results/results.h"

struct step_row {
    int64_t rank;
    name_id step;
    double us[STEP_COLUMNS];
};

struct rank_row_of {
    int64_t rank, device;
    bool has_device;
    const char *host_uid, *host_name, *path;
};

struct cluster_steps {
    LIST(struct step_row) rows; /* by rank */
    LIST(struct rank_row_of) ranks;
    const char *distributed_args; /* of the first rank that has them; NULL: none */
    struct names *names;
    struct arena *mem;
};

bool cluster_steps_add(struct cluster_steps *c, const struct rank_summary *s); /* false: no memory */
/* Tables of steps, hosts, devices and of the layout; lines about what is missing. */
bool cluster_steps_tables(struct cluster_steps *c, const struct groups *g, struct results *out);

/* How many ranks the job says it has; 0: unknown. */
int64_t world_size(const char *distributed_args);

#endif
