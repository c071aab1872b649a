/* SPDX-License-Identifier: Apache-2.0 */
/* aicpu_ops.h - the AI CPU tasks of a device that schedule communication.
 *
 * Their names and groups, when they really began and ended, and which collective of the host each carries out.
 */
#ifndef ASCOPE_ANALYSE_COMM_AICPU_OPS_H
#define ASCOPE_ANALYSE_COMM_AICPU_OPS_H

#include "analyse/comm/aicpu_tasks.h"
#include "profile/profile.h"

struct aicpu_op {
    uint32_t task;       /* row of the device's tasks: the AI CPU's own */
    uint32_t info;       /* row of aicpu_comm.ops, or NO_ROW */
    uint32_t collective; /* row of comm.ops that it carries out, or NO_ROW */
    uint32_t big;        /* row of the host's requests that it carries out, or NO_ROW */
    uint32_t iteration;  /* how often the same task has run */
    uint64_t begin, end; /* ticks; from its first to its last small task where those were marked */
    uint64_t group;      /* hash */
    bool has_group;
    bool is_collective; /* false: it computes too (MC2) */
    name_id name;       /* with its suffix */
    name_id group_name; /* as tracks show it; that of an operator that also computes ends with "Aicpu" */
};

struct aicpu_ops { /* by (group, begin) */
    struct aicpu_op *at;
    size_t n;
};

/* False only without memory. */
bool aicpu_ops_find(const struct profile *p, const struct device *d, const struct aicpu_marks *marks, struct arena *mem,
                    struct aicpu_ops *out);

#endif
