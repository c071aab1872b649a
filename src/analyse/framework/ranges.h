/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.h - statistics of the ranges that the user marked, by domain and name: count and durations.
 *
 * Built on demand from columns, after the analysis; its memory is the arena's that it was built in.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_RANGES_H
#define ASCOPE_ANALYSE_FRAMEWORK_RANGES_H

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

/* Times are those on the host. Points are left out, and the marks of steps, which have names of their own. False only without memory. */
bool ranges_sum(struct ranges *r, const struct profile *p, struct arena *mem);

#endif
