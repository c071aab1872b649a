/* SPDX-License-Identifier: Apache-2.0 */
/* growing.h - arrays in the heap that grow, for code that has no arena. */
#ifndef ASCOPE_BASE_MEMORY_GROWING_H
#define ASCOPE_BASE_MEMORY_GROWING_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for `wanted` elements; room is at least doubled, from `first` on, and new elements are zero. False: no
 * memory, and the array is as before. */
#define array_reserve(at, room, wanted, first) array_grow((void **)&(at), &(room), (wanted), (first), sizeof *(at))
bool array_grow(void **at, size_t *room, size_t wanted, size_t first, size_t item_bytes);

#endif
