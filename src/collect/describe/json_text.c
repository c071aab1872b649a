/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/describe/json_text.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_items.h"
#include "base/text/utf8.h"

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

bool json_is_value(const char *text)
{
    const struct json_limits limits = { .objects = 64, .arrays = 64 };
    struct json_item value;
    struct json_fault fault;
    return json_items_check(text, strlen(text), &limits, &value, &fault);
}

const char *json_member(const char *object, const char *key, size_t *n)
{
    const struct json_limits limits = { .objects = 64, .arrays = 64 };
    struct json_item whole, name, value;
    struct json_fault fault;
    if (!json_items_check(object, strlen(object), &limits, &whole, &fault) || whole.kind != ITEM_OBJECT)
        return NULL;
    for (size_t at = 0; json_member_next(object, whole, &at, &name, &value);)
        if (name.end - name.at == strlen(key) + 2 && memcmp(object + name.at + 1, key, strlen(key)) == 0) {
            *n = value.end - value.at;
            return object + value.at;
        }
    return NULL;
}
