/* SPDX-License-Identifier: Apache-2.0 */
/* op_tree.h - the call tree of operators, and the operators that started what runs on a device.
 *
 * Between an operator and its kernels is the framework's task queue: the operator enqueues a task, another thread
 * dequeues and launches it, and both have the same id. Without the queue, the operator that is open when a kernel is
 * launched has started it.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_OP_TREE_H
#define ASCOPE_ANALYSE_FRAMEWORK_OP_TREE_H

#include "base/keys.h"
#include "profile/collection.h"

/* Which kernels were launched for which task of the queue. */
struct queued {
    struct keys ids;
    uint32_t *kernel; /* rows of kernels by place of their id, then by launch */
    uint32_t *first;  /* n_ids + 1 positions in `kernel` */
};

/* True when operators find their kernels through the queue. */
static inline bool queue_is_used(const struct framework *f)
{
    return f->dequeue.n > 0;
}

/* Each thread has a tree of its own: launches have their threads (GPUs), or there are none (the host alone). */
static inline bool tree_is_by_thread(const struct kernels *k, const struct queued *q)
{
    return !q && (k->thread || k->n == 0);
}

/* False only without memory. `mem`: of what is made. */
bool queued_find(struct queued *q, const struct queue_spans *dequeue, const struct kernels *k, struct arena *mem);
bool op_tree_build(struct op_tree *t, const struct framework *f, const struct kernels *k, const struct queued *q,
                   struct arena *mem);

#endif
