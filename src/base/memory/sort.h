/* SPDX-License-Identifier: Apache-2.0 */
/* sort.h - sorting rows without moving them, and binary search.
 *
 * An order is an array of row numbers. Sorting is stable and linear (radix, by the bytes in which the keys differ): to
 * sort by several keys, sort by the last one first.
 */
#ifndef ASCOPE_BASE_MEMORY_SORT_H
#define ASCOPE_BASE_MEMORY_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void order_fill(uint32_t *order, size_t n); /* 0, 1, 2, … */

/* Reorders `order` so that key[order[i]] ascends. False: out of memory; the order is unchanged. */
bool order_by_u64(uint32_t *order, size_t n, const uint64_t *key);
bool order_by_u32(uint32_t *order, size_t n, const uint32_t *key);
bool order_by_u16(uint32_t *order, size_t n, const uint16_t *key);

/* The first of the positions low … high - 1 at which a condition on `at` no longer holds; high when it holds at all. It
 * holds at none behind one at which it does not hold. */
#define SEARCH_FIRST_NOT(at, low, high, is_before)                                                                     \
    __extension__({                                                                                                    \
        size_t first_##at = (low), end_##at = (high);                                                                  \
        while (first_##at < end_##at) {                                                                                \
            const size_t at = first_##at + (end_##at - first_##at) / 2;                                                \
            if (is_before)                                                                                             \
                first_##at = at + 1;                                                                                   \
            else                                                                                                       \
                end_##at = at;                                                                                         \
        }                                                                                                              \
        first_##at;                                                                                                    \
    })

/* The first position of an ascending order whose key is not below `wanted`; n when there is none. Without an order
 * (NULL) the keys themselves ascend. */
size_t order_first_u64(const uint32_t *order, size_t n, const uint64_t *key, uint64_t wanted);
size_t order_first_u32(const uint32_t *order, size_t n, const uint32_t *key, uint32_t wanted);

/* out[i] = in[order[i]], for elements of 1, 2, 4 or 8 bytes. */
void order_apply(void *out, const void *in, const uint32_t *order, size_t n, size_t size);

#endif
