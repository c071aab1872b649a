/* SPDX-License-Identifier: Apache-2.0 */
/* memory_steps.h - where the steps of a program end in the trace of a device.
 *
 * By the marks of the profiler or of the optimizer, which PyTorch records by itself; without them by the allocation that
 * is repeated as often as most others: one of them is one iteration.
 */
#ifndef ASCOPE_ANSWERS_MEMORY_MEMORY_STEPS_H
#define ASCOPE_ANSWERS_MEMORY_MEMORY_STEPS_H

#include "answers/memory/memory_replay.h"

enum { MEMORY_STEPS_MOST = 512 }; /* of more, several are one */

enum memory_steps_by { STEPS_BY_NOTHING, STEPS_BY_PROFILER, STEPS_BY_OPTIMIZER, STEPS_BY_REPETITION };

struct memory_steps {
    enum memory_steps_by by;
    uint32_t n;          /* intervals, at most MEMORY_STEPS_MOST; what follows the last end is no complete step */
    uint32_t n_steps;    /* complete ones in the trace */
    uint32_t steps_each; /* of an interval */
    uint32_t *end;       /* of each interval: the first event behind it */
    stack_id repeated;   /* of STEPS_BY_REPETITION */
};

bool memory_steps_find(struct memory_steps *t, const struct memory_replay *r, struct arena *mem);
uint32_t memory_step_of(const struct memory_steps *t, uint32_t event); /* the interval; t->n: behind the last one */

#endif
