/* SPDX-License-Identifier: Apache-2.0 */
/* task_walk.h - the tasks of two ranks side by side, from the last backwards to where both were in step.
 *
 * Each task of the slow rank is paired with the next one of the same name on the fast rank, both going backwards. The
 * walk ends at the first pair that began within a millisecond; without such a pair the ranks never were in step.
 */
#ifndef ASCOPE_CLUSTER_MODES_TASK_WALK_H
#define ASCOPE_CLUSTER_MODES_TASK_WALK_H

#include "base/memory/arena.h"
#include "base/memory/names.h"

enum { WALK_IN_STEP_NS = 1000000 };

struct walk_task {
    int64_t begin_ns, ns;
    name_id name;
};

struct walk_tasks {
    LIST(struct walk_task) list;
};

struct walk_difference {
    name_id longest, latest; /* largest difference of durations, of begins */
    int64_t longest_ns, latest_ns;
};

/* shift_ns is added to times of the slow rank. Both lists are sorted. False: never in step, nothing to compare, or no
 * memory. */
bool task_walk(struct walk_tasks *slow, struct walk_tasks *fast, int64_t shift_ns, struct walk_difference *out,
               struct arena *mem);

#endif
