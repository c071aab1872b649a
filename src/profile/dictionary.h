/* SPDX-License-Identifier: Apache-2.0 */
/* dictionary.h - the texts of the 64-bit hashes and of the type numbers in host records.
 *
 * Filled while host records are loaded, then only read, by several threads. The names belong to `names`; the table is
 * freed by dictionary_fini().
 */
#ifndef ASCOPE_PROFILE_DICTIONARY_H
#define ASCOPE_PROFILE_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "base/memory/names.h"

struct dictionary {
    struct names *names;
    struct {
        uint64_t key;
        name_id name;
        bool is_used;
    } * slot;
    size_t n, n_slots; /* a power of two */
};

bool dictionary_add(struct dictionary *d, uint64_t key,
                    name_id name); /* the last name of a key counts; false: no memory */

/* The text of a hash or type; its decimal digits if it is not in the dictionary. */
name_id dictionary_hash(const struct dictionary *d, uint64_t hash);
name_id dictionary_type(const struct dictionary *d, uint16_t level, uint64_t type);
/* False: it is not in the dictionary. */
bool dictionary_find(const struct dictionary *d, uint64_t key, name_id *name);
uint64_t dictionary_type_key(uint16_t level, uint64_t type);
void dictionary_fini(struct dictionary *d);

#endif
