/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/keys.h"

#include <assert.h>

#include "base/memory/hash.h"

enum { FEW = 8 }; /* up to this many keys, a linear search is faster */

/* Where the key is, or the free slot where it belongs. */
static size_t slot_of(const struct keys *k, uint64_t key)
{
    size_t at = (size_t)hash_u64(key) & (k->n_slots - 1);
    while (k->slot[at] && k->key.at[k->slot[at] - 1] != key)
        at = (at + 1) & (k->n_slots - 1);
    return at;
}

/* Twice as many slots as needed: searches stay short. */
static bool keys_grow(struct keys *k, struct arena *mem)
{
    const size_t n = k->n_slots ? 2 * k->n_slots : 4 * FEW;
    assert((n & (n - 1)) == 0); /* places are found by a mask */
    uint32_t *slot = arena_take(mem, n, sizeof *slot);
    if (!slot)
        return false;
    k->slot = slot;
    k->n_slots = n;
    for (size_t i = 0; i < k->key.n; i++)
        k->slot[slot_of(k, k->key.at[i])] = (uint32_t)i + 1;
    return true;
}

uint32_t keys_add(struct keys *k, uint64_t key, struct arena *mem)
{
    size_t at = 0;
    if (k->n_slots == 0) {
        for (size_t i = 0; i < k->key.n; i++)
            if (k->key.at[i] == key)
                return (uint32_t)i;
        if (k->key.n == FEW && !keys_grow(k, mem))
            return KEYS_NO_MEMORY;
    }
    if (k->n_slots > 0) {
        if (2 * k->key.n >= k->n_slots && !keys_grow(k, mem))
            return KEYS_NO_MEMORY;
        at = slot_of(k, key);
        if (k->slot[at])
            return k->slot[at] - 1;
    }
    uint64_t *new = list_add(&k->key, mem);
    if (!new)
        return KEYS_NO_MEMORY;
    *new = key;
    if (k->n_slots > 0)
        k->slot[at] = (uint32_t)k->key.n;
    return (uint32_t)k->key.n - 1;
}

uint32_t keys_find(const struct keys *k, uint64_t key)
{
    if (k->n_slots > 0)
        return k->slot[slot_of(k, key)] - 1; /* of a free slot that is KEYS_NONE */
    for (size_t i = 0; i < k->key.n; i++)
        if (k->key.at[i] == key)
            return (uint32_t)i;
    return KEYS_NONE;
}

void keys_clear(struct keys *k)
{
    /* From the last to the first: a key can be found as long as those inserted before it are present. */
    for (size_t i = k->key.n; k->n_slots > 0 && i-- > 0;)
        k->slot[slot_of(k, k->key.at[i])] = 0;
    k->key.n = 0;
}
