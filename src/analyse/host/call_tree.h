/* SPDX-License-Identifier: Apache-2.0 */
/* call_tree.h - the call tree of each thread, and the call that each record belongs to. */
#ifndef ASCOPE_ANALYSE_HOST_CALL_TREE_H
#define ASCOPE_ANALYSE_HOST_CALL_TREE_H

#include "profile/profile.h"

/* Fills calls.parent, in_tree, is_shown and the threads, and the `call` of every record that was reported inside
 * one. */
bool calls_analyse(struct profile *p, struct error *e);

/* The calls around a row of the tree, the nearest of each level; NO_ROW where there is none. */
struct call_path {
    uint32_t model, node, communication;
};
struct call_path call_path_of(const struct calls *c, uint32_t call);

#endif
