/* SPDX-License-Identifier: Apache-2.0 */
#include "base/html.h"

#include "base/utf8.h"

void html_raw(struct out *o, const char *text)
{
    out_bytes(o, text, strlen(text));
}

static const char *escape_of(unsigned char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    default: return c < ' ' && c != '\t' ? "?" : NULL;
    }
}

void html_bytes(struct out *o, const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        const unsigned char *at = (const unsigned char *)text + i;
        const size_t n = *at < 0x80 ? 1 : utf8_len(at, len - i);
        const bool is_none = n == 3 && memcmp(at, "\xEF\xBF", 2) == 0 && at[2] >= 0xBE; /* U+FFFE, U+FFFF */
        const char *escape = n == 1 ? escape_of(*at) : n == 0 || is_none ? "?" : NULL;
        if (escape)
            html_raw(o, escape);
        else
            out_bytes(o, at, n);
        i += n > 0 ? n : 1;
    }
}

void html_text(struct out *o, const char *text)
{
    html_bytes(o, text, strlen(text));
}
