/* SPDX-License-Identifier: Apache-2.0 */
/* flame.h - the slices of some levels in a range, merged into one tree: slices with the same path of names are one
 * node.
 *
 * A slice counts with the part of it that is inside the range. Levels that were not selected are ignored.
 */
#ifndef ASCOPE_VIEW_FLAME_H
#define ASCOPE_VIEW_FLAME_H

#include "base/keys.h"
#include "view/view_timeline.h"

enum { FLAME_ROOT = UINT32_MAX };

struct flame_node {
    uint32_t parent; /* a smaller number; FLAME_ROOT: none */
    name_id name;
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
