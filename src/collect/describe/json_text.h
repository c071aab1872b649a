/* SPDX-License-Identifier: Apache-2.0 */
/* json_text.h - small texts, most of them JSON, made in memory that grows. A failed allocation is remembered; the
 * function that writes the text to a file checks that. */
#ifndef ASCOPE_COLLECT_DESCRIBE_JSON_TEXT_H
#define ASCOPE_COLLECT_DESCRIBE_JSON_TEXT_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>

struct json_text { /* all zeros: empty */
    char *at;
    size_t n, room;
    bool is_short; /* of memory */
};

/* printf, with a point in numbers whatever the program's language. */
void json_text_add(struct json_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void json_text_string(struct json_text *t,
                      const char *text); /* in quotes, escaped; bytes that are no text become U+FFFD */
void json_text_fini(struct json_text *t);

locale_t json_locale(void); /* a locale with a decimal point, whatever the program's language */

/* the text is one JSON value, nested at most as deep as other parsers accept */
bool json_is_value(const char *text);

/* The value of a member, n bytes of `object`, which is a value that is an object; the key is a name without escapes.
 * NULL: there is none. */
const char *json_member(const char *object, const char *key, size_t *n);

#endif
