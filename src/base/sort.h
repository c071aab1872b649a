/* sort.h - putting rows in order without moving them.
 *
 * An order is an array of row numbers. Sorting is stable and linear (radix, by the bytes in which the keys differ), so a
 * table is put in order by several keys by sorting by the last one first.
 */
#ifndef ASCOPE_BASE_SORT_H
#define ASCOPE_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void order_fill(uint32_t *order, size_t n); /* 0, 1, 2, … */

/* Reorders `order` so that key[order[i]] ascends. False: no memory, and the order is as it was. */
bool order_by_u64(uint32_t *order, size_t n, const uint64_t *key);
bool order_by_u32(uint32_t *order, size_t n, const uint32_t *key);
bool order_by_u16(uint32_t *order, size_t n, const uint16_t *key);

/* The first position of an ascending order whose key is not below `wanted`; n when there is none. Without an order (NULL)
 * the keys themselves ascend. */
size_t order_first_u64(const uint32_t *order, size_t n, const uint64_t *key, uint64_t wanted);
size_t order_first_u32(const uint32_t *order, size_t n, const uint32_t *key, uint32_t wanted);

/* out[i] = in[order[i]], for elements of 1, 2, 4 or 8 bytes. */
void order_apply(void *out, const void *in, const uint32_t *order, size_t n, size_t size);

#endif
