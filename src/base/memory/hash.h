/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h - the slot of a key in a hash table.
 *
 * Files may be hostile, and this source is public: with a fixed function somebody could choose a million keys of the
 * same slot, and a search would become linear. The seed is therefore random in every process. Results do not depend on
 * it: no table is listed in the order of its slots.
 */
#ifndef ASCOPE_BASE_MEMORY_HASH_H
#define ASCOPE_BASE_MEMORY_HASH_H

#include <stdint.h>

extern uint64_t hash_seed; /* set before main() */

/* Every bit of the key changes about half of the bits; take as many of the lowest as needed. */
static inline uint64_t hash_u64(uint64_t key)
{
    key = (key ^ hash_seed) * 0x9E3779B97F4A7C15;
    key = (key ^ key >> 32) * 0xBF58476D1CE4E5B9;
    return key ^ key >> 32;
}

/* Of several keys: `before` is the hash of those in front. */
static inline uint64_t hash_more(uint64_t before, uint64_t key)
{
    return hash_u64(before ^ key);
}

#endif
