/* SPDX-License-Identifier: Apache-2.0 */
/* dictionary.h - texts of the 64-bit hashes and of the type numbers in host records. */
#ifndef ASCOPE_PROFILE_DICTIONARY_H
#define ASCOPE_PROFILE_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/names.h"

struct dictionary {
    struct names *names;
    struct {
        uint64_t key;
        name_id name;
        bool is_used;
    } * slot;
    size_t n, n_slots; /* a power of two */
};

int dictionary_add(struct dictionary *d, uint64_t key, name_id name); /* the last one wins; 0: no memory */

/* The string of a hash; its decimal digits if it is not in the dictionary. Thread-safe once loaded. */
name_id dictionary_hash(const struct dictionary *d, uint64_t hash);
name_id dictionary_type(const struct dictionary *d, uint16_t level, uint64_t type);
/* False: it is not in the dictionary. */
bool dictionary_find(const struct dictionary *d, uint64_t key, name_id *name);
uint64_t dictionary_type_key(uint16_t level, uint64_t type);
void dictionary_fini(struct dictionary *d);

#endif
