/* SPDX-License-Identifier: Apache-2.0 */
/* job_waits.h - what the ranks of a run did in their collectives together: who waited for whom, and how long.
 *
 * Collectives are matched by their groups (collective_match.h), and divided (collective_waits.h). Where a recording
 * does not say of which group a collective is, it is one of all ranks if there are two. If there are more, and all end
 * it together, they wait, but for whom is not known.
 */
#ifndef ASCOPE_ANSWERS_JUDGE_JOB_WAITS_H
#define ASCOPE_ANSWERS_JUDGE_JOB_WAITS_H

#include "answers/judge/job_steps.h"

/* Fills in rank[i].waits; a run of one rank has none. False: no memory. */
bool job_waits_find(struct run_member *rank, size_t n, struct arena *mem);

/* Ranks of the job, as far as known: those that it says it has, or those that were read. */
int64_t job_world(const struct run_member *rank, size_t n);

#endif
