/* SPDX-License-Identifier: Apache-2.0 */
/* critical_path.h - what the length of a step is made of, through all ranks.
 *
 * From the last end of the step backwards: on a rank to the collective that ended last before, from there to the member that came last to it,
 * and on that rank further. What it did before is computing or free time; the collective itself, from its last arrival, is
 * communication. Waiting is not on the path: what others wait for is.
 *
 * How much shorter the step would be without a part is found by playing the step again without it: each rank comes to each collective as long
 * after the one before as it did, each collective ends as long after its last arrival as it did. That is an upper bound: launches of the host
 * and other streams may be in the way. Kernels at the same time as a collective count as computing in front of the next one.
 *
 * Rows are kept of all steps as long as they are few; then only of the step that is slowest so far, or of the one that is asked for.
 */
#ifndef ASCOPE_CLUSTER_CRITICAL_PATH_H
#define ASCOPE_CLUSTER_CRITICAL_PATH_H

#include "cluster/collective_match.h"
#include "cluster/rank_groups.h"
#include "cluster/verdicts.h"

/* A collective of a rank in a step. */
struct path_row {
    uint32_t rank, id; /* numbers in the match; id: NO_ROW: nobody else has it */
    int64_t step;      /* id; INT64_MIN: in none */
    int64_t begin_ns, end_ns;
    int64_t before_ns, free_ns,
        longest_ns; /* since the one before it, or since the step began; of it free; the longest operators */
    name_id longest, type, group;
};

/* Where a step ends on a rank. */
struct path_end {
    uint32_t rank;
    int64_t step;
    int64_t computing_ns, free_ns; /* behind its last collective */
};

struct critical_path {
    LIST(struct path_row) rows; /* by rank, then by begin */
    LIST(struct path_end) ends;
    size_t limit; /* of rows; 0: PATH_ROWS */
    struct names *names;
    struct arena *mem;
};
enum { PATH_ROWS = 1000000, PATH_PARTS = 10 };

/* `id` is what match_add() has filled. */
bool critical_path_add(struct critical_path *p, const struct rank_summary *s, uint32_t rank, const uint32_t *id);
bool critical_path_is_full(const struct critical_path *p);
void critical_path_keep(struct critical_path *p, int64_t step); /* forgets all rows but those of one step */
/* The path of a step. False: no memory. */
bool critical_path_finish(struct critical_path *p, const struct collective_match *m, const struct groups *g,
                          int64_t step, struct job_report *out);

#endif
