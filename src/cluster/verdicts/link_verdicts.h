/* SPDX-License-Identifier: Apache-2.0 */
/* link_verdicts.h - links between two ranks that carry less than others of their kind.
 *
 * A use is what a link carried for one kind of operator in one step (the rows "-total" of the matrices). Uses with the
 * same transport, operator and size are of one kind. Each use is compared with the median of the uses of its kind by
 * other pairs of ranks. A link is slow if the median of its uses is far below that, or if a part of its uses is very
 * far below.
 */
#ifndef ASCOPE_CLUSTER_VERDICTS_LINK_VERDICTS_H
#define ASCOPE_CLUSTER_VERDICTS_LINK_VERDICTS_H

#include "cluster/modes.h"
#include "cluster/rank/rank_groups.h"
#include "base/memory/tuples.h"
#include "cluster/verdicts/verdicts.h"

struct link_use {
    uint32_t kind; /* number of (operator, transport, size) */
    name_id transport, group;
    uint32_t src, dst; /* in the group */
    double gbs;
};

struct link_verdicts {
    struct tuples kinds;
    LIST(struct link_use) uses;
    struct names *names;
    struct arena *mem;
};

bool link_verdicts_add(struct link_verdicts *l, const struct rank_summary *s, const struct cluster_options *o);
bool link_verdicts_finish(struct link_verdicts *l, const struct groups *g,
                          struct job_report *out); /* false: no memory */

#endif
