/* SPDX-License-Identifier: Apache-2.0 */
/* flame.h - the slices of some levels in a range, merged into one tree: slices with the same path of names are one
 * node; so are steps of training, so that what is in them is merged over all of them.
 *
 * A slice is inside another one of its track only if that one contains it; where times are whole microseconds, ending
 * one later is rounding. Each moment of a track belongs to one slice, that which began last, and to those around it: of
 * two slices that overlap in part, which are siblings, the first one counts until the second one begins. So a node is
 * at least as long as the nodes below it together. A slice counts with the part of it that is inside the range. Levels
 * that were not selected are ignored.
 */
#ifndef ASCOPE_VIEW_ANSWERS_FLAME_H
#define ASCOPE_VIEW_ANSWERS_FLAME_H

#include "base/memory/keys.h"
#include "view/rows/view_timeline.h"

enum { FLAME_ROOT = UINT32_MAX };

struct flame_node {
    uint32_t parent;                        /* a smaller number; FLAME_ROOT: none */
    name_id name;                           /* of the first slice */
    bool is_step;                           /* of all steps that torch.profiler marked, whatever their numbers */
    uint32_t longest;                       /* a slice */
    uint64_t n;                             /* slices */
    int64_t total_ns, inner_ns, longest_ns; /* inner: of the nodes below it */
};

struct flame {
    LIST(struct flame_node) nodes; /* in the order of their first slices */
    uint64_t n;                    /* slices */
    int64_t total_ns;              /* of the nodes without a parent */
    struct keys places;            /* of parent and name */
};

/* `level` ascends. False only without memory. */
bool flame_build(struct flame *f, const struct view_timeline *v, const uint32_t *level, size_t n_levels,
                 int64_t begin_ns, int64_t end_ns, struct arena *mem);

#endif
