/* SPDX-License-Identifier: Apache-2.0 */
#include "raw/name_hash.h"

#include <string.h>

/* Two polynomial sums over the bytes, which are signed, as char is on x86-64. Where char is unsigned, collectors
 * compute other hashes of texts beyond ASCII, and use them in their dictionary as well. */
uint64_t name_hash_of(const char *text, size_t n)
{
    uint32_t high = 0, low = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t value = (uint32_t)(signed char)text[i];
        high = high * 29 + value;
        low = low * 131 + value;
    }
    return n == 0 ? UINT64_MAX : (uint64_t)high << 32 | low;
}

uint64_t name_hash(const char *text)
{
    return name_hash_of(text, strlen(text));
}
