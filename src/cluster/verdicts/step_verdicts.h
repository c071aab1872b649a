/* SPDX-License-Identifier: Apache-2.0 */
/* step_verdicts.h - slow ranks, late hosts, slow steps and uneven stages, from what each rank did in each step.
 *
 * The judge decides (answers/judge/run_judge.h), as in every other command. A rank is compared with its peers, the
 * ranks that do the same work: those of its pipeline stage, or all ranks if there are no stages or each stage has one
 * rank. To each finding is added what only the summaries of a job know: how long the others wait in collectives,
 * whether the rank has more kernels, whether copies are the reason.
 */
#ifndef ASCOPE_CLUSTER_VERDICTS_STEP_VERDICTS_H
#define ASCOPE_CLUSTER_VERDICTS_STEP_VERDICTS_H

#include "answers/run/collective_match.h"
#include "answers/judge/run_judge.h"
#include "cluster/modes.h"
#include "cluster/rank/rank_groups.h"
#include "cluster/verdicts/verdicts.h"

struct stepped_rank {
    int64_t rank;
    bool is_host;       /* recorded without a device */
    size_t n;           /* steps that are compared */
    uint64_t n_kernels; /* in all of these; 0: unknown */
    const struct rank_step *step;
    const int64_t *copying_ns; /* by step: copies beside which nothing runs */
};

struct step_verdicts {
    struct keys steps;       /* names */
    LIST(const char *) text; /* of each */
    LIST(struct stepped_rank) ranks;
    bool has_device; /* false: only hosts were recorded */
    int64_t longest_ns;
    const char *slowest; /* the step that takes longest on any rank so far; NULL: there are none */
    struct names *names;
    struct arena *mem;
};

/* Ranks are added in the same order as to the match. False: no memory. */
bool step_verdicts_add(struct step_verdicts *v, const struct rank_summary *s, const struct cluster_options *o);
bool step_verdicts_finish(struct step_verdicts *v, const struct groups *g, const struct collective_match *m,
                          struct job_report *out);

#endif
