/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_matrix.h - ClusterCommunicationMatrix and cluster_communication_matrix.json: what each link carried, between
 * ranks of the job.
 *
 * A rank reports links by numbers within the group. They become ranks of the job by what the job noted of the group, or
 * else by the rank that reports a link to itself; links with an end that is unknown are left out and counted.
 */
#ifndef ASCOPE_CLUSTER_RESULTS_CLUSTER_MATRIX_H
#define ASCOPE_CLUSTER_RESULTS_CLUSTER_MATRIX_H

#include "cluster/results/rank_sets.h"
#include "cluster/results/results_write.h"
#include "base/memory/tuples.h"

struct link {
    double mb, ms;
    name_id transport, op_name;
    bool is_p2p;
};

struct cluster_matrix {
    struct tuples keys; /* step, operator, group, both ends within it */
    LIST(struct link) links;
    struct names *names;
    struct arena *mem;
};

/* A link of the job behind the last rank: sums of all operators of a group in a step. */
struct job_link {
    name_id step, group, transport, op, op_name;
    int64_t src, dst;
    double mb, ms;
    bool is_total, is_p2p;
};
struct job_links {
    const struct cluster_matrix *matrix;
    const struct groups *groups;
    LIST(struct job_link) totals;
    size_t n; /* of operators, then totals */
    size_t n_unmapped;
};

bool cluster_matrix_add(struct cluster_matrix *m, const struct rank_summary *s); /* false: no memory */
bool cluster_matrix_links(const struct cluster_matrix *m, const struct groups *g, struct job_links *out);
bool cluster_matrix_table(const struct job_links *l, struct results_writer *w, const char *class_name, struct error *e);
bool cluster_matrix_json(const struct job_links *l, const struct rank_sets *sets, struct out *o, struct arena *mem);

#endif
