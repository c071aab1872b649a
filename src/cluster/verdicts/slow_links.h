/* SPDX-License-Identifier: Apache-2.0 */
/* slow_links.h - links between two ranks that are slower than others of their kind.
 *
 * Links with the same transport that carried the same number of bytes for the same kind of operator are of one kind. A
 * link is slow if its bandwidth is below the median of its kind by more than three deviations (1.4826 times the median
 * absolute deviation) and by a fifth. For single uses (-top1, -middle, -bottom…), which vary more, it has to be below
 * by a half.
 */
#ifndef ASCOPE_CLUSTER_VERDICTS_SLOW_LINKS_H
#define ASCOPE_CLUSTER_VERDICTS_SLOW_LINKS_H

#include "cluster/rank/rank_groups.h"
#include "cluster/results/recipe.h"
#include "base/memory/tuples.h"

struct link_sum {
    name_id op, transport, group;
    int64_t src, dst; /* in the group */
    double mb, ms;
    uint32_t steps;
};

struct slow_links {
    struct groups groups;
    struct tuples keys; /* (op, group, transport, src, dst) */
    LIST(struct link_sum) links;
    struct names *names;
    struct arena *mem;
};

void slow_links_init(struct slow_links *l, struct names *names, struct arena *mem);
bool slow_links_add(struct slow_links *l, const struct rank_summary *r,
                    const struct cluster_options *o); /* false: no memory */
/* The table SlowLinks, and a line for each of the slowest. */
bool slow_links_finish(struct slow_links *l, struct results *out);

#endif
