/* SPDX-License-Identifier: Apache-2.0 */
/* keys.h - a set of 64-bit numbers in the order in which they were added.
 *
 * For sums by key: keys_add() returns the index of a key, and the sums are an array of the same order. Clearing costs
 * as much as the set contains, so that one set can be used for many small jobs after a large one. Its memory is an
 * arena's.
 */
#ifndef ASCOPE_BASE_MEMORY_KEYS_H
#define ASCOPE_BASE_MEMORY_KEYS_H

#include <stdint.h>

#include "base/memory/arena.h"

struct keys {
    LIST(uint64_t) key;
    uint32_t *slot; /* place of a key + 1, or 0: free */
    size_t n_slots; /* a power of two, or 0 as long as there are few keys */
};

enum { KEYS_NO_MEMORY = UINT32_MAX, KEYS_NONE = UINT32_MAX };

uint32_t keys_add(struct keys *k, uint64_t key, struct arena *mem); /* its place, old or new; or KEYS_NO_MEMORY */
uint32_t keys_find(const struct keys *k, uint64_t key);             /* its place, or KEYS_NONE */
void keys_clear(struct keys *k);

#endif
