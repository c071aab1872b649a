/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/dictionary.h"

#include <stdlib.h>

#include "base/memory/hash.h"

/* Types and hashes are in the same table. The keys of types are scrambled, so that a small type number does not equal a
 * hash. */
uint64_t dictionary_type_key(uint16_t level, uint64_t type)
{
    return ((uint64_t)level << 48 ^ type ^ 0xA5C35A3C00000000u) * 0x9e3779b97f4a7c15u;
}

static size_t slot_of(const struct dictionary *d, uint64_t key)
{
    size_t at = (size_t)hash_u64(key) & (d->n_slots - 1);
    while (d->slot[at].is_used && d->slot[at].key != key)
        at = (at + 1) & (d->n_slots - 1);
    return at;
}

bool dictionary_add(struct dictionary *d, uint64_t key, name_id name)
{
    if (d->n * 2 >= d->n_slots) {
        struct dictionary bigger = { .names = d->names, .n_slots = d->n_slots ? d->n_slots * 2 : 1024 };
        bigger.slot = calloc(bigger.n_slots, sizeof *bigger.slot);
        if (!bigger.slot)
            return false;
        for (size_t i = 0; i < d->n_slots; i++)
            if (d->slot[i].is_used)
                bigger.slot[slot_of(&bigger, d->slot[i].key)] = d->slot[i];
        bigger.n = d->n;
        free(d->slot);
        *d = bigger;
    }
    const size_t at = slot_of(d, key);
    d->n += !d->slot[at].is_used;
    d->slot[at].key = key;
    d->slot[at].name = name;
    d->slot[at].is_used = true;
    return true;
}

bool dictionary_find(const struct dictionary *d, uint64_t key, name_id *name)
{
    const size_t at = d->n_slots ? slot_of(d, key) : 0;
    if (d->n_slots == 0 || !d->slot[at].is_used)
        return false;
    *name = d->slot[at].name;
    return true;
}

name_id dictionary_hash(const struct dictionary *d, uint64_t hash)
{
    name_id name;
    return dictionary_find(d, hash, &name) ? name : names_number(d->names, hash);
}

name_id dictionary_type(const struct dictionary *d, uint16_t level, uint64_t type)
{
    name_id name;
    return dictionary_find(d, dictionary_type_key(level, type), &name) ? name : names_number(d->names, type);
}

void dictionary_fini(struct dictionary *d)
{
    free(d->slot);
    *d = (struct dictionary){ 0 };
}
