/* SPDX-License-Identifier: Apache-2.0 */
/* event_tree.h - operators, Python calls and events of allocators, nested by thread.
 *
 * An event is a number: rows of framework_ops first, then of framework_memory, then of python_calls. The tree is one
 * array: an event is followed by those that it contains, then by the next one that it does not contain. The contents of
 * an event are therefore a range, whatever the depth.
 */
#ifndef ASCOPE_ANALYSE_MEMORY_TIMELINE_EVENT_TREE_H
#define ASCOPE_ANALYSE_MEMORY_TIMELINE_EVENT_TREE_H

#include "profile/framework.h"

struct event_tree {
    const struct framework *f;
    size_t n;
    uint32_t *by_begin; /* events as they nest, see nesting.h */
    uint32_t *event;    /* by position in the tree; what begins first stands first */
    uint32_t *end;      /* by position: behind the last that it encloses */
    bool *in_backward;  /* by position: it is, or is inside of, an operator of the backward pass */
    uint32_t *order;    /* positions in order of begin; of the same begin, in order of position */
};

enum event_kind { EVENT_OP, EVENT_MEMORY, EVENT_PYTHON };
struct event {
    enum event_kind kind;
    uint32_t row;
};
static inline struct event event_of(const struct framework *f, uint32_t number)
{
    if (number < f->ops.n)
        return (struct event){ EVENT_OP, number };
    number -= (uint32_t)f->ops.n;
    return number < f->memory.n ? (struct event){ EVENT_MEMORY, number }
                                : (struct event){ EVENT_PYTHON, number - (uint32_t)f->memory.n };
}
int64_t event_begin_ns(const struct framework *f, uint32_t number);

/* Returns of blocks to the pool are not events: another record freed the tensor. Allocated in mem. */
bool event_tree_build(struct event_tree *t, const struct framework *f, const struct names *names, struct arena *mem,
                      struct error *e);

#endif
