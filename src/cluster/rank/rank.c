/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank/rank.h"

#include "base/text/utf8.h"

/* The code point at p, which is UTF-8; len is its length there. */
static uint32_t code_point(const unsigned char *p, size_t len)
{
    uint32_t code = len == 1 ? p[0] : p[0] & (0x7Fu >> len);
    for (size_t i = 1; i < len; i++)
        code = code << 6 | (p[i] & 0x3F);
    return code;
}

uint64_t group_number(const char *text, size_t len)
{
    uint32_t a = 0, b = 0;
    for (size_t i = 0; i < len;) {
        const unsigned char *at = (const unsigned char *)text + i;
        size_t step = *at < 0x80 ? 1 : utf8_len(at, len - i);
        const uint32_t code = step ? code_point(at, step) : *at;
        a = a * 29 + code;
        b = b * 131 + code;
        i += step ? step : 1;
    }
    return (uint64_t)a << 32 | b;
}
