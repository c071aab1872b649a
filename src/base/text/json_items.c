/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json_items.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"

enum { NESTED_MOST = 64 }; /* of each kind: bounds the stack of the check */

struct scan {
    const char *text;
    size_t n, at;
    const struct json_limits *limits;
    unsigned objects, arrays; /* open ones */
    struct json_fault *fault;
};

/* Always false. */
__attribute__((format(printf, 3, 4))) static bool fail(struct scan *s, size_t at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(s->fault->why, sizeof s->fault->why, fmt, args);
    va_end(args);
    s->fault->at = at;
    return false;
}

static int peek(const struct scan *s) /* -1: the end */
{
    return s->at < s->n ? (unsigned char)s->text[s->at] : -1;
}

static void skip_blanks(struct scan *s)
{
    while (s->at < s->n && memchr(" \t\r\n", s->text[s->at], 4))
        s->at++;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The letters and digits at a place, as many as a message shows. */
static void word_at(const struct scan *s, size_t at, char out[24])
{
    size_t n = 0;
    while (n < 23 && at + n < s->n && (is_letter(s->text[at + n]) || is_digit(s->text[at + n]))) {
        out[n] = s->text[at + n];
        n++;
    }
    out[n] = '\0';
}

/* Describes what was found in place of what is expected. */
static bool fail_at(struct scan *s, const char *expected)
{
    const int c = peek(s);
    char word[24];
    word_at(s, s->at, word);
    if (c < 0)
        return fail(s, s->at, "the text ends here; expected %s", expected);
    if (c == '#' || (c == '/' && s->at + 1 < s->n && strchr("/*", s->text[s->at + 1])))
        return fail(s, s->at, "comments are not JSON; remove it");
    if (c == '\'')
        return fail(s, s->at, "single quotes are not JSON; use double quotes");
    if (*word)
        return fail(s, s->at, "%s is not JSON here; expected %s", word, expected);
    if (c < ' ' || c > '~')
        return fail(s, s->at, "byte 0x%02x; expected %s", (unsigned)c, expected);
    return fail(s, s->at, "'%c'; expected %s", c, expected);
}

/* ---- strings ---- */

static bool hex4(const struct scan *s, size_t at, unsigned *out)
{
    char digits[5] = "";
    if (s->n - at < 4)
        return false;
    memcpy(digits, s->text + at, 4);
    *out = (unsigned)strtoul(digits, NULL, 16);
    return strspn(digits, "0123456789abcdefABCDEF") == 4;
}

static bool skip_escape(struct scan *s)
{
    const size_t at = s->at++;
    const int c = peek(s);
    unsigned code, low;
    if (c != 'u') {
        s->at++;
        return (c >= 0 && c != 0 && strchr("\"\\/bfnrt", c)) || fail(s, at, "invalid escape in a string");
    }
    if (!hex4(s, s->at + 1 > s->n ? s->n : s->at + 1, &code))
        return fail(s, at, "\\u is followed by four hexadecimal digits");
    s->at += 5;
    if (code >= 0xD800 && code <= 0xDBFF && s->n - s->at >= 6 && memcmp(s->text + s->at, "\\u", 2) == 0 &&
        hex4(s, s->at + 2, &low) && low >= 0xDC00 && low <= 0xDFFF) {
        s->at += 6;
        return true;
    }
    return (code < 0xD800 || code > 0xDFFF) || fail(s, at, "\\u%04x is half of a pair", code);
}

static bool skip_string(struct scan *s)
{
    const size_t begin = s->at++;
    for (;;) {
        const int c = peek(s);
        if (c == '"')
            break;
        if (c < 0)
            return fail(s, begin, "a string without a closing quote");
        if (c < ' ')
            return fail(s, s->at, "byte 0x%02x in a string; %s", (unsigned)c,
                        c == '\n' ? "strings must end in the line in which they begin" : "write it as an escape");
        const size_t n = c < 0x80 ? 1 : utf8_len((const unsigned char *)s->text + s->at, s->n - s->at);
        if (n == 0)
            return fail(s, s->at, "byte 0x%02x is not UTF-8", (unsigned)c);
        if (c == '\\' ? !skip_escape(s) : (s->at += n, false))
            return false;
    }
    s->at++;
    return true;
}

/* ---- numbers and words ---- */

static bool skip_digits(struct scan *s)
{
    if (!is_digit(peek(s)))
        return fail_at(s, "a digit");
    while (is_digit(peek(s)))
        s->at++;
    return true;
}

static bool skip_number(struct scan *s, struct json_item *out)
{
    out->kind = ITEM_INTEGER;
    s->at += peek(s) == '-';
    if (peek(s) == '0')
        s->at++;
    else if (!skip_digits(s))
        return false;
    if (is_digit(peek(s)))
        return fail(s, out->at, "a number must not begin with 0");
    if (peek(s) == '.') {
        out->kind = ITEM_REAL;
        s->at++;
        if (!skip_digits(s))
            return false;
    }
    if (peek(s) == 'e' || peek(s) == 'E') {
        out->kind = ITEM_REAL;
        s->at++;
        s->at += peek(s) == '+' || peek(s) == '-';
        return skip_digits(s);
    }
    return true;
}

static bool skip_word(struct scan *s, struct json_item *out)
{
    static const struct {
        const char *word;
        enum json_item_kind kind;
    } words[] = { { "true", ITEM_BOOLEAN }, { "false", ITEM_BOOLEAN }, { "null", ITEM_NULL } };
    char word[24];
    word_at(s, s->at, word);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i].word) == 0) {
            out->kind = words[i].kind;
            s->at += strlen(word);
            return true;
        }
    return fail_at(s, "a value");
}

/* ---- values ---- */

static bool skip_value(struct scan *s, struct json_item *out);

static bool skip_key(struct scan *s)
{
    skip_blanks(s);
    if (peek(s) != '"')
        return fail_at(s, "a key in double quotes");
    if (!skip_string(s))
        return false;
    skip_blanks(s);
    if (peek(s) != ':')
        return fail_at(s, "':' after the key");
    s->at++;
    return true;
}

static bool skip_members(struct scan *s, bool is_object)
{
    const char close = is_object ? '}' : ']';
    struct json_item value;
    s->at++;
    skip_blanks(s);
    if (peek(s) == close) {
        s->at++;
        return true;
    }
    for (;;) {
        if ((is_object && !skip_key(s)) || !skip_value(s, &value))
            return false;
        skip_blanks(s);
        if (peek(s) == close) {
            s->at++;
            return true;
        }
        if (peek(s) != ',')
            return fail_at(s, is_object ? "',' or '}'" : "',' or ']'");
        const size_t comma = s->at++;
        skip_blanks(s);
        if (peek(s) == close)
            return fail(s, comma, "a comma before '%c' is not JSON; remove it", close);
    }
}

static bool skip_value(struct scan *s, struct json_item *out)
{
    skip_blanks(s);
    out->at = s->at;
    const int c = peek(s);
    bool is_valid;
    if (c == '{' || c == '[') {
        const bool is_object = c == '{';
        unsigned *const open = is_object ? &s->objects : &s->arrays;
        const unsigned asked = is_object ? s->limits->objects : s->limits->arrays;
        const unsigned most = asked < NESTED_MOST ? asked : NESTED_MOST;
        if (*open == most)
            return fail(s, s->at, "more than %u %s nested", most, is_object ? "objects" : "arrays");
        (*open)++;
        is_valid = skip_members(s, is_object);
        (*open)--;
        out->kind = is_object ? ITEM_OBJECT : ITEM_ARRAY;
    } else if (c == '"') {
        out->kind = ITEM_STRING;
        is_valid = skip_string(s);
    } else {
        is_valid = c == '-' || is_digit(c) ? skip_number(s, out) : skip_word(s, out);
    }
    out->end = s->at;
    return is_valid;
}

/* Encodings that some editors use by default. */
static bool check_encoding(struct scan *s)
{
    const unsigned char *const b = (const unsigned char *)s->text;
    const bool is_wide =
        s->n >= 2 && ((b[0] == 0xFF && b[1] == 0xFE) || (b[0] == 0xFE && b[1] == 0xFF) || (b[0] == 0) != (b[1] == 0));
    if (is_wide)
        return fail(s, 0, "the text is UTF-16 or UTF-32; save it as UTF-8");
    if (s->n >= 3 && memcmp(b, "\xEF\xBB\xBF", 3) == 0) {
        if (!s->limits->allows_mark)
            return fail(s, 0, "the text begins with a byte order mark; save it as UTF-8 without one");
        s->at = 3;
    }
    return true;
}

bool json_items_check(const char *text, size_t n, const struct json_limits *limits, struct json_item *out,
                      struct json_fault *f)
{
    struct scan s = { .text = text, .n = n, .limits = limits, .fault = f };
    if (!check_encoding(&s))
        return false;
    skip_blanks(&s);
    if (s.at == s.n)
        return fail(&s, s.at, "the text is empty");
    if (!skip_value(&s, out))
        return false;
    skip_blanks(&s);
    return s.at == s.n || fail_at(&s, "the end of the text");
}

/* ---- of a checked text ---- */

bool json_member_next(const char *text, struct json_item object, size_t *at, struct json_item *key,
                      struct json_item *value)
{
    const struct json_limits any = { NESTED_MOST, NESTED_MOST, true };
    struct json_fault none;
    struct scan s = { .text = text, .n = object.end, .at = *at ? *at : object.at + 1, .limits = &any, .fault = &none };
    skip_blanks(&s);
    if (peek(&s) == ',') {
        s.at++;
        skip_blanks(&s);
    }
    if (peek(&s) != '"')
        return false;
    *key = (struct json_item){ ITEM_STRING, s.at, s.at };
    if (!skip_string(&s))
        return false;
    key->end = s.at;
    skip_blanks(&s);
    s.at++; /* the colon */
    const bool is_there = skip_value(&s, value);
    *at = s.at;
    return is_there;
}

bool json_element_next(const char *text, struct json_item array, size_t *at, struct json_item *value)
{
    const struct json_limits any = { NESTED_MOST, NESTED_MOST, true };
    struct json_fault none;
    struct scan s = { .text = text, .n = array.end, .at = *at ? *at : array.at + 1, .limits = &any, .fault = &none };
    skip_blanks(&s);
    if (peek(&s) == ',')
        s.at++;
    const bool is_there = peek(&s) != ']' && skip_value(&s, value);
    *at = s.at;
    return is_there;
}

static size_t utf8_put(char *out, unsigned code)
{
    const unsigned char most[] = { 0, 0x00, 0xC0, 0xE0, 0xF0 };
    const size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(most[n] | code);
    return n;
}

char *json_item_text(const char *text, struct json_item string, size_t *n)
{
    static const char escape[] = "bfnrt", means[] = "\b\f\n\r\t";
    const struct scan s = { .text = text, .n = string.end };
    char *const out = malloc(string.end - string.at); /* no escape is shorter than what it means */
    size_t used = 0;
    for (size_t at = string.at + 1; out && at < string.end - 1; at++) {
        unsigned code = (unsigned char)text[at], low;
        if (code != '\\') {
            out[used++] = (char)code;
            continue;
        }
        const char c = text[++at];
        const char *const simple = c != '\0' ? strchr(escape, c) : NULL;
        if (c != 'u') {
            out[used++] = simple ? means[simple - escape] : c;
            continue;
        }
        hex4(&s, at + 1, &code);
        at += 4;
        if (code >= 0xD800 && code <= 0xDBFF) {
            hex4(&s, at + 3, &low);
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            at += 6;
        }
        used += utf8_put(out + used, code);
    }
    if (out)
        out[used] = '\0';
    *n = used;
    return out;
}

void json_place_next(struct json_walk *w, const char *text, size_t at, unsigned *line, unsigned *column)
{
    if (at < w->at)
        *w = (struct json_walk){ 0 };
    for (; w->at < at; w->at++) {
        if (text[w->at] == '\n') {
            w->lines++;
            w->columns = 0;
        } else if (((unsigned char)text[w->at] & 0xC0) != 0x80) {
            w->columns++;
        }
    }
    *line = w->lines + 1;
    *column = w->columns + 1;
}

void json_place(const char *text, size_t at, unsigned *line, unsigned *column)
{
    json_place_next(&(struct json_walk){ 0 }, text, at, line, column);
}
