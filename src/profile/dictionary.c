#include "profile/dictionary.h"

#include <stdlib.h>

/* Types share the table with hashes: their keys are mixed so that a small number is no likely hash. */
uint64_t dictionary_type_key(uint16_t level, uint64_t type)
{
    return ((uint64_t)level << 48 ^ type ^ 0xA5C35A3C00000000u) * 0x9e3779b97f4a7c15u;
}

static size_t slot_of(const struct dictionary *d, uint64_t key)
{
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & (d->n_slots - 1);
    while (d->slot[at].name != NAME_EMPTY && d->slot[at].key != key)
        at = (at + 1) & (d->n_slots - 1);
    return at;
}

int dictionary_add(struct dictionary *d, uint64_t key, name_id name)
{
    if (name == NAME_EMPTY)
        return 1;
    if (d->n * 2 >= d->n_slots) {
        struct dictionary bigger = { .names = d->names, .n_slots = d->n_slots ? d->n_slots * 2 : 1024 };
        bigger.slot = calloc(bigger.n_slots, sizeof *bigger.slot);
        if (!bigger.slot)
            return 0;
        for (size_t i = 0; i < d->n_slots; i++)
            if (d->slot[i].name != NAME_EMPTY)
                bigger.slot[slot_of(&bigger, d->slot[i].key)] = d->slot[i];
        bigger.n = d->n;
        free(d->slot);
        *d = bigger;
    }
    const size_t at = slot_of(d, key);
    d->n += d->slot[at].name == NAME_EMPTY;
    d->slot[at].key = key;
    d->slot[at].name = name;
    return 1;
}

name_id dictionary_find(const struct dictionary *d, uint64_t key)
{
    return d->n_slots ? d->slot[slot_of(d, key)].name : NAME_EMPTY;
}

name_id dictionary_hash(const struct dictionary *d, uint64_t hash)
{
    const name_id name = dictionary_find(d, hash);
    return name != NAME_EMPTY ? name : names_number(d->names, hash);
}

name_id dictionary_type(const struct dictionary *d, uint16_t level, uint64_t type)
{
    const name_id name = dictionary_find(d, dictionary_type_key(level, type));
    return name != NAME_EMPTY ? name : names_number(d->names, type);
}

void dictionary_fini(struct dictionary *d)
{
    free(d->slot);
    *d = (struct dictionary){ 0 };
}
