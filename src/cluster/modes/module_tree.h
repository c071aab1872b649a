/* SPDX-License-Identifier: Apache-2.0 */
/* module_tree.h - operators and kernels of a rank by the modules of the network in which they ran.
 *
 * Modules are ranges of the domain "Module". Those of the backward pass are made up from the operators that belong to
 * operators of the forward pass. An operator belongs to the innermost module that contains it; kernels belong to the
 * operator that launched them.
 */
#ifndef ASCOPE_CLUSTER_MODES_MODULE_TREE_H
#define ASCOPE_CLUSTER_MODES_MODULE_TREE_H

#include "cluster/rank/rank.h"

/* An operator of a module: the same one in the same place, with the same kernels, over all runs of the module. */
struct module_stat {
    name_id parent, module, op, kernels; /* "encoder/layer", "[Backward]attention", "aten::mm", "MatMul, Add" */
    uint32_t place;                      /* in its module */
    uint32_t sequence;                   /* which sequence of operators the module ran */
    uint64_t count;
    int64_t total_ns, begin_ns;   /* of kernels; of the first operator */
    size_t first_value, n_values; /* rows of values: one for each of its kernels */
};

/* The mean of what is above 0, of the kernel in one place over all runs. */
struct module_value {
    double sum;
    uint64_t n;
};

struct module_stats {
    LIST(struct module_stat) list; /* by begin */
    LIST(struct module_value) values;
};

/* value: one for each task of the rank, or NULL. False: no memory. */
bool module_stats_find(struct module_stats *out, const struct rank *r, const double *value, struct arena *mem);

#endif
