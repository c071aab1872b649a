/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/modes/mode_parts.h"

#include <inttypes.h>
#include <stdio.h>

/* Without zeros at the end; at least so many decimals. */
static size_t us_text_put(char to[US_TEXT], int64_t ns, size_t least)
{
    const uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    int n = snprintf(to, US_TEXT, "%s%" PRIu64 ".%03u", ns < 0 ? "-" : "", size / 1000, (unsigned)(size % 1000));
    const size_t point = (size_t)n - 4;
    while ((size_t)n > point + 1 + least && to[n - 1] == '0')
        n--;
    if ((size_t)n == point + 1)
        n--;
    to[n] = '\0';
    return (size_t)n;
}

const char *us_decimal(struct arena *mem, int64_t ns)
{
    char text[US_TEXT];
    return arena_text(mem, text, us_text_put(text, ns, 0));
}

void us_real_text(char to[US_TEXT], int64_t ns)
{
    us_text_put(to, ns, 1);
}
