/* SPDX-License-Identifier: Apache-2.0 */
/* stage_judge.h - the judge of pipelines: ranks that have more to do than those of other stages are not slow, but their
 * stages may be.
 */
#ifndef ASCOPE_ANSWERS_JUDGE_STAGE_JUDGE_H
#define ASCOPE_ANSWERS_JUDGE_STAGE_JUDGE_H

#include "answers/judge/run_judge.h"
#include "answers/judge/job_stages.h"

static const double AS_MANY_KERNELS = 0.05; /* shares of kernels: up to this much more are as many */

/* The share of kernels that the rank of a finding runs more than the one that it is compared with; NAN: unknown.
 * `kernels`: of each rank in a step; 0: unknown. */
double finding_more_kernels(const struct slow *f, const double *kernels);

/* Removes findings about ranks that are a stage alone, and have more kernels to run than the one that they are compared
 * with. */
void stages_excuse(struct judged_run *r, const struct stages *s, const double *kernels);

/* The stages of a run, judged as if they were ranks. */
struct judged_stages {
    struct judged_run run; /* only its findings of shape SLOW_ALWAYS count; n_ranks 0: there are no stages */
    uint32_t *first;       /* by stage: row of its first rank */
};

/* `number`: of each rank in the job. After stages_excuse(). False: no memory. */
bool stages_judge(struct judged_stages *out, const struct judged_run *r, const struct stages *s, const int64_t *number,
                  struct arena *mem);

#endif
