/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.h - statistics of the ranges that the user named, by domain and name: count and durations. Ranges are those of
 * marks, and operators of the user's scope: record_function() of PyTorch, and what PyTorch names itself, such as steps
 * of optimizers.
 *
 * Built on demand from columns, after the analysis; its memory is the arena's that it was built in.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_RANGES_H
#define ASCOPE_ANALYSE_FRAMEWORK_RANGES_H

#include "profile/framework.h"
#include "profile/profile.h"

struct range_sum {
    name_id domain; /* NAME_EMPTY: none, which is the default domain */
    name_id name;
    uint64_t n;
    double total_ns;
    int64_t p50_ns, p99_ns, max_ns; /* durations that occurred: the n/2-th and the 0.99 n-th, rounded up */
};

struct ranges {
    size_t n; /* by total, the largest first; of equal ones by text */
    struct range_sum *at;
};

/* Times are those on the host. Points are left out, and the ranges of steps, which have names of their own. Without a
 * framework: no operators (NULL). False only without memory. */
bool ranges_sum(struct ranges *r, const struct profile *p, const struct framework_ops *ops, struct arena *mem);

#endif
