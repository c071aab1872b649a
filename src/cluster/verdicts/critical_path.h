/* SPDX-License-Identifier: Apache-2.0 */
/* critical_path.h - what the length of a step is made of, through all ranks.
 *
 * The path is followed backwards from the last end of the step: on a rank to the collective that ended last before,
 * from there to the member that joined it last, and on with that rank. What this rank did before the collective is
 * computing or free time. The collective, from the last arrival to its end, is communication. Waiting is never on the
 * path; what the others wait for is.
 *
 * How much shorter the step would be without a part is found by replaying the step without it. Each rank reaches each
 * collective as long after its previous one as it did, and each collective ends as long after the last arrival as it
 * did. The result is an upper bound, because launches of the host and other streams are not modelled. Kernels that run
 * beside a collective count as computing before the next one.
 *
 * Rows of all steps are kept as long as there are few of them; beyond that only those of the slowest step so far, or of
 * the wanted step.
 */
#ifndef ASCOPE_CLUSTER_VERDICTS_CRITICAL_PATH_H
#define ASCOPE_CLUSTER_VERDICTS_CRITICAL_PATH_H

#include "answers/run/collective_match.h"
#include "cluster/rank/rank_groups.h"
#include "cluster/verdicts/verdicts.h"

/* A collective of a rank in a step. */
struct path_row {
    uint32_t rank, id; /* numbers in the match; id: NO_ROW: the other members are unknown */
    int64_t step;      /* its id; INT64_MIN: in no step */
    int64_t begin_ns, end_ns;
    int64_t before_ns;  /* time since the previous collective of the rank ended, or since the step began */
    int64_t free_ns;    /* the part of it in which the device was idle */
    int64_t longest_ns; /* the part of it that the operators named `longest` took */
    name_id longest, type, group;
};

/* Where a step ends on a rank. */
struct path_end {
    uint32_t rank;
    int64_t step;
    int64_t computing_ns, free_ns; /* after the last collective of the step */
};

struct critical_path {
    LIST(struct path_row) rows; /* by rank, then by begin */
    LIST(struct path_end) ends;
    size_t limit; /* most rows; 0: PATH_ROWS */
    struct names *names;
    struct arena *mem;
};
enum { PATH_ROWS = 1000000, PATH_PARTS = 10 };

/* `id` was filled by match_add(). False: no memory. */
bool critical_path_add(struct critical_path *p, const struct rank_summary *s, uint32_t rank, const uint32_t *id);
bool critical_path_is_full(const struct critical_path *p);
void critical_path_keep(struct critical_path *p, int64_t step); /* drops all rows but those of one step */
/* Reports the path of a step. False: no memory. */
bool critical_path_finish(struct critical_path *p, const struct collective_match *m, const struct groups *g,
                          int64_t step, struct job_report *out);

#endif
