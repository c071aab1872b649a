/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/tuples.h"

uint32_t tuple_add(struct tuples *t, const uint32_t *part, size_t n, struct arena *mem)
{
    uint32_t number = part[0];
    for (size_t i = 1; i < n && (i == 1 || number != KEYS_NO_MEMORY); i++)
        number = keys_add(&t->level[i - 1], (uint64_t)number << 32 | part[i], mem);
    return number;
}

void tuple_parts(const struct tuples *t, uint32_t tuple, uint32_t *part, size_t n)
{
    for (size_t i = n - 1; i > 0; i--) {
        const uint64_t key = t->level[i - 1].key.at[tuple];
        part[i] = (uint32_t)key;
        tuple = (uint32_t)(key >> 32);
    }
    part[0] = tuple;
}

size_t tuples_n(const struct tuples *t, size_t n_parts)
{
    return t->level[n_parts - 2].key.n;
}
