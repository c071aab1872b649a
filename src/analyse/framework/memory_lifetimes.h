/* SPDX-License-Identifier: Apache-2.0 */
/* memory_lifetimes.h - lifetimes of the blocks that the framework's allocators held on devices, with the operators that
 * allocated them. */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_MEMORY_LIFETIMES_H
#define ASCOPE_ANALYSE_FRAMEWORK_MEMORY_LIFETIMES_H

#include "profile/collection.h"

/* Fills collection.lives; needs the tree of operators. A lifetime begins with an allocation and contains the next free
 * and the next return to the pool of the same address, in any order, until one of them or an allocation repeats. The
 * release of a block from before the collection is not a lifetime. Missing events and unknown names are counted as
 * losses of the file. False: out of memory. */
bool memory_lives_analyse(struct collection *s, struct error *e);

/* The event that ended a lifetime: the free, or if it is unknown the return to the pool; NO_ROW: none. */
static inline uint32_t memory_life_end(const struct memory_lives *l, size_t life)
{
    return l->freed[life] != NO_ROW ? l->freed[life] : l->returned[life];
}

#endif
