/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_answer.h - the first lines of a report: which rank, step and link differ most from their kind, and by how much. */
#ifndef ASCOPE_CLUSTER_CLUSTER_ANSWER_H
#define ASCOPE_CLUSTER_CLUSTER_ANSWER_H

#include "cluster/cluster_matrix.h"
#include "cluster/cluster_steps.h"

/* False: no memory. */
bool answer_steps(const struct cluster_steps *c, struct results *out);
bool answer_links(const struct job_links *l, const struct names *names, struct results *out);

#endif
