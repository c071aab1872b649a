/* SPDX-License-Identifier: Apache-2.0 */
/* job_peers.h - which ranks of a run do the same work, from the groups that communicate (job_stages.h). */
#ifndef ASCOPE_ANSWERS_JUDGE_JOB_PEERS_H
#define ASCOPE_ANSWERS_JUDGE_JOB_PEERS_H

#include "answers/judge/job_steps.h"

/* Fills in rank[i].stages: the same for all. False: no memory. */
bool job_peers_find(struct run_member *rank, size_t n, struct arena *mem);

/* Ranks of the job, as far as this rank knows: as it recorded, or the largest group of its collectives. 0: unknown. */
int64_t run_rank_world(const struct run_rank *q, const struct collective_calls *calls);

/* What the job recorded of its groups, as {"id": {"group_name": "pp", "global_ranks": [0, 1]}}; NULL: nothing, or no
 * memory. */
const char *run_rank_groups(const struct run_rank *q, struct arena *mem);

#endif
