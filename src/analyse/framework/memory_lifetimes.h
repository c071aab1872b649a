/* SPDX-License-Identifier: Apache-2.0 */
/* memory_lifetimes.h - lifetimes of the blocks that the framework's allocators held on devices, with the operators that allocated them. */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_MEMORY_LIFETIMES_H
#define ASCOPE_ANALYSE_FRAMEWORK_MEMORY_LIFETIMES_H

#include "profile/collection.h"

/* Fills collection.lives; needs the tree of operators. A block ends with what follows on the same address: what gives
 * it back, and what puts it into the pool, in any order, until one of them or another taking comes a second time.
 * What gives back a block of before the collection is no life. Halves that are missing and names that nobody knows
 * are counted as losses of the file. False only without memory. */
bool memory_lives_analyse(struct collection *s, struct error *e);

/* What gave a block back, for the totals at that moment: its owner, or if that is not known the pool; or NO_ROW. */
static inline uint32_t memory_life_end(const struct memory_lives *l, size_t life)
{
    return l->freed[life] != NO_ROW ? l->freed[life] : l->returned[life];
}

#endif
