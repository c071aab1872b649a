/* SPDX-License-Identifier: Apache-2.0 */
/* mark_spans.h - what the marks of a rank measure: pairs of marks X_start and X_stop, and ranges.
 *
 * Marks of one thread and name pair up, the last start first. A range inside of another is called "outer::inner". Pairs
 * come first, in the order of their ends, then ranges in the order of their begins.
 */
#ifndef ASCOPE_CLUSTER_MODES_MARK_SPANS_H
#define ASCOPE_CLUSTER_MODES_MARK_SPANS_H

#include "cluster/results/recipe.h"

struct mark_span {
    name_id name;
    int64_t begin_ns, end_ns;
    int64_t framework_ns; /* of a pair: between its operators; 0: unknown, or a range */
    int64_t device_ns;    /* of a range without a task: INT64_MIN; of a pair that has not both: 0 */
};

struct mark_spans {
    LIST(struct mark_span) list;
    size_t n_unpaired;
};

bool mark_spans_find(struct mark_spans *out, const struct rank_summary *r, const struct chosen_step *step,
                     struct arena *mem); /* false: no memory */

/* The step in which a mark begins: the row, or NO_ROW. */
uint32_t mark_step(const struct rank_summary *r, int64_t begin_ns);

#endif
