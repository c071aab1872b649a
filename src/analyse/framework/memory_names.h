/* SPDX-License-Identifier: Apache-2.0 */
/* memory_names.h - the operator of an allocation.
 *
 * It is the one that its thread was in; or, where the thread dequeues tasks, the one that enqueued the task. Built once for a
 * collection; everything is in the arena of the caller.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_MEMORY_NAMES_H
#define ASCOPE_ANALYSE_FRAMEWORK_MEMORY_NAMES_H

#include "base/keys.h"
#include "profile/collection.h"

/* Rows of some table, thread by thread, by begin within a thread. */
struct rows_by_thread {
    const int64_t *begin_ns;
    uint32_t *row;
    struct keys threads; /* process << 32 | thread */
    size_t n_threads;    /* those of them that have rows */
    uint32_t *first,
        *found; /* of each thread: its first position in `row`, with one more behind; where the last search ended */
};

struct memory_names {
    const struct collection *collection;
    struct rows_by_thread ops, dequeues;
    uint32_t *up;      /* of an operator: one around it; ended ones in between are left out as they are met */
    uint32_t *called;  /* of an operator: the nearest around it (or itself) whose name is an operator's; NO_ROW */
    uint32_t *enqueue; /* of a dequeue: where its task came from; NO_ROW */
    struct arena *mem;
};

bool memory_names_make(struct memory_names *m, const struct collection *s, struct arena *mem); /* false: no memory */

/* NAME_EMPTY: none. Ask by ascending time: operators that have ended are forgotten. */
name_id memory_name(struct memory_names *m, size_t row_of_memory);

#endif
