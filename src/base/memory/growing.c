/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/growing.h"

#include <stdlib.h>
#include <string.h>

bool array_grow(void **at, size_t *room, size_t wanted, size_t first, size_t item_bytes)
{
    if (wanted <= *room)
        return true;
    size_t more = *room ? *room * 2 : first;
    while (more < wanted)
        more *= 2;
    void *larger = realloc(*at, more * item_bytes);
    if (!larger)
        return false;
    memset((char *)larger + *room * item_bytes, 0, (more - *room) * item_bytes);
    *at = larger;
    *room = more;
    return true;
}
