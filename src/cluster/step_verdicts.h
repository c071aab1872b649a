/* SPDX-License-Identifier: Apache-2.0 */
/* step_verdicts.h - slow ranks, late hosts, slow steps and uneven stages, from what each rank did in each step.
 *
 * A rank is compared with its peers, the ranks that do the same work: those of its pipeline stage, or all ranks if there are no stages or each
 * stage has one rank. The lower median of its steps counts, so that one long step does not make a slow rank. A rank that takes longer in
 * one step only gets a verdict about that step. A step is slow if no single rank is the reason.
 */
#ifndef ASCOPE_CLUSTER_STEP_VERDICTS_H
#define ASCOPE_CLUSTER_STEP_VERDICTS_H

#include "answers/collective_match.h"
#include "cluster/modes.h"
#include "cluster/rank_groups.h"
#include "cluster/verdicts.h"

enum step_part { PART_COMPUTING, PART_COMMUNICATION, PART_FREE, STEP_PARTS };

struct step_value {
    uint32_t rank, step; /* numbers in the order of adding */
    double us[STEP_PARTS];
    uint64_t n_kernels; /* that began in the step; 0: unknown */
};

struct stepped_rank {
    int64_t rank;
    uint64_t n_kernels;        /* of all that was recorded; 0: unknown */
    uint32_t n_recorded_steps; /* with those that --step N leaves out */
    uint32_t n_steps;          /* that are compared */
};

struct step_verdicts {
    struct keys steps; /* names */
    LIST(struct step_value) rows;
    LIST(struct stepped_rank) ranks;
    bool has_device; /* false: only hosts were recorded */
    struct names *names;
    struct arena *mem;
};

/* Ranks are added in the same order as to the match. False: no memory. */
bool step_verdicts_add(struct step_verdicts *v, const struct rank_summary *s, const struct cluster_options *o);
bool step_verdicts_finish(struct step_verdicts *v, const struct groups *g, const struct collective_match *m,
                          struct job_report *out);

/* The step that takes longest on any rank so far: its place in `steps`; NO_ROW: there are none. */
uint32_t step_verdicts_slowest(const struct step_verdicts *v);

#endif
