/* SPDX-License-Identifier: Apache-2.0 */
/* tuples.h - a set of tuples of 32-bit numbers, numbered in the order in which they were added.
 *
 * For sums by several keys: tuple_add() returns the number of a tuple, and the sums are an array of that order. All
 * tuples of a set have the same number of parts. Its memory is an arena's.
 */
#ifndef ASCOPE_BASE_MEMORY_TUPLES_H
#define ASCOPE_BASE_MEMORY_TUPLES_H

#include <stdint.h>

#include "base/memory/keys.h"

enum { TUPLE_PARTS = 6 };
struct tuples {
    struct keys level[TUPLE_PARTS - 1]; /* (number of the parts before, part) */
};

/* n parts, at least 2 and at most TUPLE_PARTS. KEYS_NO_MEMORY: no memory. */
uint32_t tuple_add(struct tuples *t, const uint32_t *part, size_t n, struct arena *mem);
/* The parts of a tuple. */
void tuple_parts(const struct tuples *t, uint32_t tuple, uint32_t *part, size_t n);
size_t tuples_n(const struct tuples *t, size_t n_parts);

#endif
