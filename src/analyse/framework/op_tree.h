/* SPDX-License-Identifier: Apache-2.0 */
/* op_tree.h - the call tree of operators, and the operators that started what runs on a device.
 *
 * An operator has made a call that lies within it, on its thread. Between an operator and its kernels may be the
 * framework's task queue: the operator enqueues a task, another thread dequeues and launches it, and both have the same
 * id. All outputs take the operators of kernels from here.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_OP_TREE_H
#define ASCOPE_ANALYSE_FRAMEWORK_OP_TREE_H

#include "analyse/framework/collection_analyse.h"
#include "profile/collection.h"

static inline uint64_t thread_key(uint32_t process, uint32_t thread)
{
    return (uint64_t)process << 32 | thread;
}

/* True when operators find their kernels through the queue. */
static inline bool queue_is_used(const struct framework *f)
{
    return f->enqueue.n > 0 && f->dequeue.n > 0;
}

/* Calls that operators made, and the operators among which to search. */
struct callers {
    const struct framework *f;
    const uint32_t *row; /* of framework_ops */
    size_t n_rows;
    struct host_spans calls;
    uint32_t *op; /* by call: position in `row`, or NO_ROW; filled by callers_find() */
    uint32_t
        *task; /* by call: row of f->enqueue, of the task whose launch made it, or NO_ROW; NULL: no queue is used */
};

/* All of these are false only without memory. `mem`: of what is made. */
bool callers_find(struct callers *c, struct arena *mem);
uint32_t *queue_pairs(const struct queue_spans *from, const struct queue_spans *to,
                      struct arena *mem);                 /* rows of `to` */
bool op_is_mark(const struct names *names, name_id name); /* a range of mstx, which launches nothing */
bool op_tree_nest(struct op_tree *t, const struct framework_ops *o, struct arena *mem); /* without what they started */
bool op_tree_build(struct op_tree *t, const struct framework *f, const struct kernels *k, const struct names *names,
                   struct arena *mem);
/* From the operators of kernels to the kernels of operators. start_ns: by row of kernels; NULL: as they are. */
bool op_tree_gather(struct op_tree *t, size_t n_ops, size_t n_kernels, const int64_t *start_ns, struct arena *mem);

#endif
