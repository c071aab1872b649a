/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - distinguishing text from bytes. */
#ifndef ASCOPE_BASE_TEXT_UTF8_H
#define ASCOPE_BASE_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define UTF8_UNKNOWN "\xEF\xBF\xBD" /* U+FFFD: replaces a byte that is not UTF-8 */

/* The length of the UTF-8 sequence at p, or 0 when there is none. Surrogates and overlong forms are invalid. */
static inline size_t utf8_len(const unsigned char *p, size_t left)
{
    static const struct {
        unsigned char low, high, mask, len;
        uint32_t least;
    } form[] = { { 0xC2, 0xDF, 0x1F, 2, 0x80 }, { 0xE0, 0xEF, 0x0F, 3, 0x800 }, { 0xF0, 0xF4, 0x07, 4, 0x10000 } };
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        if (p[0] < form[i].low || p[0] > form[i].high || left < form[i].len)
            continue;
        uint32_t code = p[0] & form[i].mask;
        for (size_t k = 1; k < form[i].len; k++) {
            if ((p[k] & 0xC0) != 0x80)
                return 0;
            code = code << 6 | (p[k] & 0x3F);
        }
        const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
        return code >= form[i].least && code <= 0x10FFFF && !surrogate ? form[i].len : 0;
    }
    return 0;
}

/* The length of the character at the start of a text that is not empty; a byte that is not UTF-8 counts as one.
 * *is_shown is false for what a terminal interprets: control characters, also those beyond ASCII (U+009B is ESC [), and
 * those that change the direction of writing. */
static inline size_t utf8_shown(const char *text, bool *is_shown)
{
    const unsigned char *p = (const unsigned char *)text;
    const size_t len = *p < 0x80 ? 1 : utf8_len(p, strnlen(text, 4));
    if (len <= 1) /* also of another encoding, where the bytes from 0x80 to 0x9F may be control characters */
        *is_shown = *p >= 0x20 && (*p < 0x7F || *p >= 0xA0);
    else if (len == 2)
        *is_shown = *p != 0xC2 || p[1] >= 0xA0;
    else
        *is_shown = *p != 0xE2 ||
                    !((p[1] == 0x80 && p[2] >= 0xAA && p[2] <= 0xAE) || (p[1] == 0x81 && p[2] >= 0xA6 && p[2] <= 0xA9));
    return len > 0 ? len : 1;
}

/* Copies n bytes; each byte that is not UTF-8 becomes '?': other parsers reject a whole file because of one. */
static inline void utf8_copy(char *out, const char *text, size_t n)
{
    uint64_t seen = 0, word;
    size_t i = 0;
    for (; i + sizeof word <= n; i += sizeof word) {
        memcpy(&word, text + i, sizeof word);
        seen |= word;
    }
    for (; i < n; i++)
        seen |= (unsigned char)text[i];
    memcpy(out, text, n);
    if ((seen & UINT64_C(0x8080808080808080)) == 0)
        return;
    for (i = 0; i < n;) {
        const unsigned char *at = (const unsigned char *)out + i;
        const size_t len = *at < 0x80 ? 1 : utf8_len(at, n - i);
        if (len == 0)
            out[i] = '?';
        i += len ? len : 1;
    }
}

#endif
