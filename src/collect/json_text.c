/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/json_text.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static bool make_room(struct json_text *t, size_t more)
{
    if (t->is_short || more < t->room - t->n)
        return !t->is_short;
    const size_t room = (t->n + more) * 2 + 256;
    char *at = realloc(t->at, room);
    t->is_short = !at;
    if (!at)
        return false;
    t->at = at;
    t->room = room;
    return true;
}

static locale_t plain;

static void plain_make(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t json_locale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, plain_make);
    return plain ? plain : LC_GLOBAL_LOCALE;
}

void json_text_add(struct json_text *t, const char *fmt, ...)
{
    const locale_t was = uselocale(json_locale());
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, fmt, args);
    if (n >= 0 && make_room(t, (size_t)n + 1)) {
        vsnprintf(t->at + t->n, t->room - t->n, fmt, again);
        t->n += (size_t)n;
    }
    va_end(again);
    va_end(args);
    uselocale(was);
}

static void add_bytes(struct json_text *t, const void *bytes, size_t n)
{
    if (!make_room(t, n + 1))
        return;
    memcpy(t->at + t->n, bytes, n);
    t->n += n;
    t->at[t->n] = '\0';
}

void json_text_string(struct json_text *t, const char *text)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + strlen(text);
    add_bytes(t, "\"", 1);
    while (p < end) {
        const size_t n = *p < 0x80 ? 1 : utf8_len(p, (size_t)(end - p));
        if (n == 0)
            add_bytes(t, UTF8_UNKNOWN, strlen(UTF8_UNKNOWN));
        else if (*p < ' ' || *p == 0x7f)
            json_text_add(t, "\\u%04x", *p);
        else if (*p == '"' || *p == '\\')
            json_text_add(t, "\\%c", *p);
        else
            add_bytes(t, p, n);
        p += n ? n : 1;
    }
    add_bytes(t, "\"", 1);
}

void json_text_fini(struct json_text *t)
{
    free(t->at);
    *t = (struct json_text){ 0 };
}

/* ---- is it JSON? ---- */

enum { NESTED_MOST = 64 };

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

static const char *skip_digits(const char *p) /* NULL: there is none */
{
    const size_t n = strspn(p, "0123456789");
    return n > 0 ? p + n : NULL;
}

static const char *skip_number(const char *p)
{
    p += *p == '-';
    p = *p == '0' ? p + 1 : skip_digits(p);
    if (p && *p == '.')
        p = skip_digits(p + 1);
    if (p && (*p == 'e' || *p == 'E')) {
        p++;
        p = skip_digits(p + (*p == '+' || *p == '-'));
    }
    return p;
}

static const char *skip_string(const char *p)
{
    if (*p++ != '"')
        return NULL;
    const char *const end = p + strlen(p);
    while (*p != '"') {
        const unsigned char c = (unsigned char)*p;
        if (c < ' ')
            return NULL;
        if (c == '\\') {
            p++;
            if (*p == 'u') {
                if (strspn(p + 1, "0123456789abcdefABCDEF") < 4)
                    return NULL;
                p += 4;
            } else if (!*p || !strchr("\"\\/bfnrt", *p)) {
                return NULL;
            }
            p++;
            continue;
        }
        const size_t n = c < 0x80 ? 1 : utf8_len((const unsigned char *)p, (size_t)(end - p));
        if (n == 0)
            return NULL;
        p += n;
    }
    return p + 1;
}

static const char *skip_value(const char *p, int depth)
{
    static const char *const words[] = { "true", "false", "null" };
    p = skip_blanks(p);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(p, words[i], strlen(words[i])) == 0)
            return p + strlen(words[i]);
    if (*p == '"')
        return skip_string(p);
    if (*p != '{' && *p != '[')
        return skip_number(p);
    if (depth >= NESTED_MOST)
        return NULL;
    const bool is_object = *p == '{';
    const char close = is_object ? '}' : ']';
    p = skip_blanks(p + 1);
    if (*p == close)
        return p + 1;
    for (;;) {
        if (is_object) {
            p = skip_string(skip_blanks(p));
            p = p ? skip_blanks(p) : NULL;
            if (!p || *p++ != ':')
                return NULL;
        }
        p = skip_value(p, depth + 1);
        if (!p)
            return NULL;
        p = skip_blanks(p);
        if (*p == close)
            return p + 1;
        if (*p++ != ',')
            return NULL;
    }
}

bool json_is_value(const char *text)
{
    const char *end = skip_value(text, 0);
    return end && !*skip_blanks(end);
}
