/* SPDX-License-Identifier: Apache-2.0 */
/* rank_steps_marked.h - the steps of a rank whose source has no table of them: ranges of the host that repeat
 * (step_marks.h). */
#ifndef ASCOPE_CLUSTER_RANK_RANK_STEPS_MARKED_H
#define ASCOPE_CLUSTER_RANK_RANK_STEPS_MARKED_H

#include "cluster/rank/rank.h"

/* Replaces r->steps, unless nothing repeats. Ranges that r->identity.steps_by begins with are used if it is set, else
 * those that are found are noted there. Operators, calls, tasks and marks are there. False: see e. */
bool rank_steps_marked(struct rank *r, struct error *e);

#endif
