/* SPDX-License-Identifier: Apache-2.0 */
/* memory_names.h - the operator of an allocation.
 *
 * It is the one that its thread was in; or, where the thread dequeues tasks, the one that enqueued the task. Built once
 * for a collection; everything is in the arena of the caller.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_MEMORY_NAMES_H
#define ASCOPE_ANALYSE_FRAMEWORK_MEMORY_NAMES_H

#include "base/memory/keys.h"
#include "profile/collection.h"

/* Rows of some table, thread by thread, by begin within a thread. */
struct rows_by_thread {
    const int64_t *begin_ns;
    uint32_t *row;
    struct keys threads; /* process << 32 | thread */
    size_t n_threads;
    uint32_t *first; /* n_threads + 1 positions in `row` */
    uint32_t *found; /* by thread: the position at which the last search ended */
};

struct memory_names {
    const struct collection *collection;
    struct rows_by_thread ops, dequeues;
    uint32_t *up;      /* by operator: an operator around it; those that have ended are removed when they are met */
    uint32_t *called;  /* by operator: the nearest one around it, or itself, with the name of an operator; or NO_ROW */
    uint32_t *enqueue; /* by dequeue span: the enqueue span of its task; or NO_ROW */
};

bool memory_names_make(struct memory_names *m, const struct collection *s, struct arena *mem); /* false: no memory */

/* The name of the operator; NAME_EMPTY: none. To be called in the order of time: operators that have ended are
 * forgotten. */
name_id memory_name(struct memory_names *m, size_t row_of_memory);

#endif
