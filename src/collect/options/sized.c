/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/options/sized.h"

#include <string.h>

static uint32_t size_of(const void *from)
{
    return *(const uint32_t *)from;
}

bool sized_is_set(const void *from)
{
    const uint32_t size = size_of(from);
    return size >= SIZED_LEAST && size <= SIZED_MOST && size % SIZED_UNIT == 0;
}

bool sized_over(void *to, uint32_t known, const void *from)
{
    const uint32_t size = size_of(from);
    if (!sized_is_set(from))
        return false;
    memcpy(to, from, size < known ? size : known);
    memcpy(to, &known, sizeof known);
    return true;
}

bool sized_copy(void *to, uint32_t known, const void *from)
{
    memset(to, 0, known);
    return sized_over(to, known, from);
}

bool sized_has_unknown(const void *from, uint32_t known)
{
    const unsigned char *const bytes = from;
    for (uint32_t i = known; i < size_of(from); i++)
        if (bytes[i] != 0)
            return true;
    return false;
}
