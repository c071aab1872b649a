/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/text/utf8.h"

void html_raw(struct out *o, const char *text)
{
    out_bytes(o, text, strlen(text));
}

void html_put(struct out *o, const char *fmt, ...)
{
    char text[320];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    html_raw(o, text);
}

void html_duration(struct out *o, double ns)
{
    static const struct {
        double size;
        const char *unit;
    } units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "µs" }, { 1, "ns" } };
    size_t i = 0;
    while (i < 3 && fabs(ns) < units[i].size)
        i++;
    html_put(o, "%.*f %s", units[i].size > 1 ? 3 : 0, ns / units[i].size, units[i].unit);
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

void html_fitting(struct out *o, const char *text, size_t len, size_t most)
{
    const bool is_cut = len > most;
    size_t kept = is_cut ? most - (most > 0) : len;
    while (is_cut && kept > 0 && ((unsigned char)text[kept] & 0xC0) == 0x80)
        kept--;
    html_bytes(o, text, kept);
    if (is_cut)
        html_raw(o, "…");
}
