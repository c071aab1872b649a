/* SPDX-License-Identifier: Apache-2.0 */
/* host_work.h - what the thread of a step does, where there is no device: operators, and collectives that it waits for.
 *
 * The thread of a step is the one in which its range begins. A program that trains in a thread of its own changes it
 * after the first step.
 *
 * Operators and ranges count if they lie within one step: a range around several steps ("epoch") says nothing about any
 * of them.
 *
 * A backend of torch.distributed records a collective as an operator, usually on a thread of its own
 * ("gloo:all_reduce"): from the call until all ranks have taken part. The thread of the step goes on meanwhile.
 * Operators that it begins overlap the collective; the rest of the collective is exposed: that thread waits. What
 * encloses the call (DistributedDataParallel.forward), and ranges of the user, which may enclose the wait, overlap
 * nothing.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_HOST_WORK_H
#define ASCOPE_ANALYSE_FRAMEWORK_HOST_WORK_H

#include "analyse/framework/steps/step_series.h"

bool name_is_collective(const char *name);

/* A range of the user that no step contains. */
bool range_spans_steps(const struct framework_ops *o, size_t row, const struct step_series *s);

/* Disjoint, ascending; in the arena. */
struct host_work {
    struct intervals busy; /* in operators or ranges */
    struct intervals collectives;
    struct intervals exposed;  /* of the collectives */
    struct intervals enclosed; /* of the exposed time: in operators or ranges */
};

/* False: no memory. */
bool host_work_find(struct host_work *out, const struct collection *c, const struct step_series *s, struct arena *mem);

#endif
