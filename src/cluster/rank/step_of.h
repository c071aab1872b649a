/* SPDX-License-Identifier: Apache-2.0 */
/* step_of.h - the step in which something happened.
 *
 * Both ends of a step belong to it; what happens at the moment when one ends and the next begins is in the first of
 * them.
 */
#ifndef ASCOPE_CLUSTER_RANK_STEP_OF_H
#define ASCOPE_CLUSTER_RANK_STEP_OF_H

#include "base/memory/sort.h"
#include "cluster/rank/rank.h"
#include "profile/calls.h"

/* The row of steps, or NO_ROW. */
static inline uint32_t step_of(const struct rank_steps *s, int64_t ns)
{
    const size_t behind = SEARCH_FIRST_NOT(i, 0, s->n, s->begin_ns[i] <= ns);
    if (behind > 1 && s->end_ns[behind - 2] >= ns)
        return (uint32_t)behind - 2;
    return behind > 0 && s->end_ns[behind - 1] >= ns ? (uint32_t)behind - 1 : NO_ROW;
}

#endif
