/* SPDX-License-Identifier: Apache-2.0 */
/* sized.h - structures that callers fill: programs that are older or newer than the library fill fewer or more fields.
 *
 * Each begins with its size in bytes, a uint32_t (ascope/base.h). Fields that an older program does not have are 0
 * here. Fields of a newer program that the library does not know are neither read nor written. A size that no version
 * of a structure has (too small, too large, not a multiple of 8) means that the program did not set it.
 */
#ifndef ASCOPE_COLLECT_OPTIONS_SIZED_H
#define ASCOPE_COLLECT_OPTIONS_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All such sizes are multiples of the unit, and no field crosses one: half a pointer is never copied. */
enum { SIZED_LEAST = 16, SIZED_MOST = 4096, SIZED_UNIT = 8 };

/* `from` has all fields that the library knows, and can be read as it is. One comparison, for what is called often. */
static inline bool sized_is_whole(const void *from, uint32_t known)
{
    return __builtin_expect(*(const uint32_t *)from - known <= SIZED_MOST - known, 1);
}

bool sized_is_set(const void *from); /* whether the size is plausible for some version of the structure */

/* Into `to`, which has the size of what the library knows. Fields that `from` does not have keep what `to` has. False:
 * its size is not set, and `to` is as before. */
bool sized_over(void *to, uint32_t known, const void *from);

/* As sized_over(), but fields that `from` does not have become 0. */
bool sized_copy(void *to, uint32_t known, const void *from);

/* Of a structure that sized_over() accepts: a field that the library does not know is not 0. */
bool sized_has_unknown(const void *from, uint32_t known);

#endif
