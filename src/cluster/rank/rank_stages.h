/* SPDX-License-Identifier: Apache-2.0 */
/* rank_stages.h - the stages of a pipeline, from the groups that communicate.
 *
 * Point-to-point groups named pp… that share ranks are pipelines. A collective group that has at most one rank in each pipeline
 * is inside of a stage; those that share ranks are one stage. Without such groups there are no stages.
 */
#ifndef ASCOPE_CLUSTER_RANK_RANK_STAGES_H
#define ASCOPE_CLUSTER_RANK_RANK_STAGES_H

#include "cluster/rank/rank_groups.h"

struct stages {
    size_t n;
    struct stage {
        size_t n;
        int64_t *rank; /* ascending */
    } * at;            /* by their smallest rank */
    struct keys ranks;
    uint32_t *of; /* by place in ranks */
};

bool stages_find(struct stages *s, const struct groups *g, struct arena *mem); /* false: no memory */
uint32_t stage_of(const struct stages *s, int64_t rank);                       /* NO_ROW: in none */
const char *stage_text(const struct stages *s, uint32_t stage, bool has_blanks,
                       struct arena *mem); /* "(0, 1)"; NULL: no memory */

#endif
