/* SPDX-License-Identifier: Apache-2.0 */
/* job_stages.h - the stages of a pipeline, from the groups that communicate, and which ranks are therefore compared
 * with each other.
 *
 * Point-to-point groups named pp… that share ranks are pipelines. A collective group that has at most one rank in each
 * pipeline is inside of a stage; those that share ranks are one stage. Without such groups there are no stages.
 *
 * Ranks of a stage do the same work: they are peers. Ranks that are a stage alone, or in none, are compared with each
 * other. One of them that runs more kernels has more to do, and is no slow rank: the stages are uneven.
 */
#ifndef ASCOPE_ANSWERS_JUDGE_JOB_STAGES_H
#define ASCOPE_ANSWERS_JUDGE_JOB_STAGES_H

#include "base/memory/arena.h"
#include "base/memory/keys.h"

/* A group that communicates. */
struct stage_group {
    const int64_t *rank;
    size_t n;
    bool is_p2p;
    const char *name; /* as the job calls it: "pp"; NULL: unknown */
};

struct stages {
    size_t n;
    struct stage {
        size_t n;
        int64_t *rank; /* ascending */
    } * at;            /* by their smallest rank */
    struct keys ranks;
    uint32_t *of; /* by place in ranks */
};

bool stages_find(struct stages *s, const struct stage_group *group, size_t n, struct arena *mem); /* false: no memory */
uint32_t stage_of(const struct stages *s, int64_t rank);                                          /* NO_ROW: in none */

static const uint32_t NO_STAGE = 0, HOST_PEERS = UINT32_MAX; /* HOST_PEERS: ranks without a device */
uint32_t stage_peers(const struct stages *s, int64_t rank);  /* 1 + the stage; NO_STAGE: compared with those alone */

#endif
