/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/keys.h"

#include <assert.h>

#include "base/memory/hash.h"

enum { FEW = 8 }; /* up to this many keys, a linear search is faster */

/* Eight keys in a row have places in a row, in one line of the cache: keys are often numbers that were given in order. */
enum { ROW_BITS = 3, IN_ROW = (1 << ROW_BITS) - 1 };

struct hashed {
    size_t home;
    uint32_t tag;
};

static struct hashed hashed_of(const struct keys *k, uint64_t key)
{
    const uint64_t hash = hash_u64(key >> ROW_BITS), in_row = key & IN_ROW;
    return (struct hashed){ (size_t)(hash << ROW_BITS | in_row) & (k->n_slots - 1), (uint32_t)(hash >> 32 ^ in_row) };
}

/* Where the key is, or the free slot where it belongs. Keys lie elsewhere: one is looked at if its tag is right. */
static struct key_slot *slot_of(const struct keys *k, uint64_t key)
{
    const struct hashed h = hashed_of(k, key);
    size_t at = h.home;
    while (k->slot[at].number && !(k->slot[at].tag == h.tag && k->key.at[k->slot[at].number - 1] == key))
        at = (at + 1) & (k->n_slots - 1);
    return &k->slot[at];
}

static void slot_fill(const struct keys *k, struct key_slot *slot, size_t place)
{
    *slot = (struct key_slot){ (uint32_t)place + 1, hashed_of(k, k->key.at[place]).tag };
}

/* At least a quarter of the slots stays free: searches stay short. */
static bool is_full(const struct keys *k)
{
    return 4 * k->key.n >= 3 * k->n_slots;
}

static bool keys_grow(struct keys *k, struct arena *mem)
{
    const size_t n = k->n_slots ? 2 * k->n_slots : 4 * FEW;
    assert((n & (n - 1)) == 0); /* places are found by a mask */
    struct key_slot *slot = arena_take(mem, n, sizeof *slot);
    if (!slot)
        return false;
    arena_drop(mem, k->slot);
    k->slot = slot;
    k->n_slots = n;
    for (size_t i = 0; i < k->key.n; i++)
        slot_fill(k, slot_of(k, k->key.at[i]), i);
    return true;
}

uint32_t keys_add(struct keys *k, uint64_t key, struct arena *mem)
{
    struct key_slot *slot = NULL;
    if (k->n_slots == 0) {
        for (size_t i = 0; i < k->key.n; i++)
            if (k->key.at[i] == key)
                return (uint32_t)i;
        if (k->key.n == FEW && !keys_grow(k, mem))
            return KEYS_NO_MEMORY;
    }
    if (k->n_slots > 0) {
        if (is_full(k) && !keys_grow(k, mem))
            return KEYS_NO_MEMORY;
        slot = slot_of(k, key);
        if (slot->number)
            return slot->number - 1;
    }
    uint64_t *new = list_add(&k->key, mem);
    if (!new)
        return KEYS_NO_MEMORY;
    *new = key;
    if (slot)
        slot_fill(k, slot, k->key.n - 1);
    return (uint32_t)k->key.n - 1;
}

uint32_t keys_find(const struct keys *k, uint64_t key)
{
    if (k->n_slots > 0)
        return slot_of(k, key)->number - 1; /* of a free slot that is KEYS_NONE */
    for (size_t i = 0; i < k->key.n; i++)
        if (k->key.at[i] == key)
            return (uint32_t)i;
    return KEYS_NONE;
}

void keys_clear(struct keys *k)
{
    /* From the last to the first: a key can be found as long as those inserted before it are present. */
    for (size_t i = k->key.n; k->n_slots > 0 && i-- > 0;)
        slot_of(k, k->key.at[i])->number = 0;
    k->key.n = 0;
}
