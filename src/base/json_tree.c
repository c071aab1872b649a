/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum { NESTED_MOST = 64 };

struct reader {
    struct json_tree *t;
    const char *text;
    uint32_t at, size, line, room;
    struct error *e;
};

static bool fail(struct reader *r, const char *problem)
{
    if (r->at >= r->size)
        return error_set(r->e, FAULT_FORMAT, "line %u: %s; the text ends there", r->line, problem);
    const char c = r->text[r->at];
    if (c > ' ' && c < 0x7f)
        return error_set(r->e, FAULT_FORMAT, "line %u: %s, found '%c'", r->line, problem, c);
    return error_set(r->e, FAULT_FORMAT, "line %u: %s, found byte 0x%02x", r->line, problem, (unsigned char)c);
}

static bool is_at(const struct reader *r, char c)
{
    return r->at < r->size && r->text[r->at] == c;
}

static void skip_blanks(struct reader *r)
{
    for (; r->at < r->size && memchr(" \t\r\n", r->text[r->at], 4); r->at++)
        r->line += r->text[r->at] == '\n';
}

static bool node_add(struct reader *r, enum json_kind kind, uint32_t *i)
{
    struct json_tree *const t = r->t;
    if (t->n == r->room) {
        const uint32_t room = r->room * 2 + 64;
        struct json_node *more = realloc(t->node, room * sizeof *more);
        if (!more)
            return error_no_memory(r->e, "a JSON text");
        t->node = more;
        r->room = room;
    }
    *i = t->n++;
    t->node[*i] = (struct json_node){ .kind = (uint8_t)kind, .line = r->line, .begin = r->at };
    return true;
}

static void node_end(struct reader *r, uint32_t i)
{
    r->t->node[i].end = r->at;
    r->t->node[i].after = r->t->n;
}

static bool read_escape(struct reader *r)
{
    r->at++; /* the backslash */
    if (!is_at(r, 'u')) {
        if (r->at >= r->size || !memchr("\"\\/bfnrt", r->text[r->at], 8))
            return fail(r, "unknown escape in a string");
        r->at++;
        return true;
    }
    r->at++;
    for (int k = 0; k < 4; k++, r->at++)
        if (r->at >= r->size || !strchr("0123456789abcdefABCDEF", r->text[r->at]) || !r->text[r->at])
            return fail(r, "expected four hexadecimal digits behind \\u");
    return true;
}

static bool read_string(struct reader *r)
{
    uint32_t i;
    if (!is_at(r, '"'))
        return fail(r, "expected a key in double quotes");
    if (!node_add(r, JSON_IS_TEXT, &i))
        return false;
    for (r->at++; !is_at(r, '"');) {
        if (r->at >= r->size || (unsigned char)r->text[r->at] < ' ')
            return fail(r, "a string without an end");
        if (r->text[r->at] == '\\') {
            if (!read_escape(r))
                return false;
            continue;
        }
        const unsigned char *const p = (const unsigned char *)r->text + r->at;
        const size_t n = *p < 0x80 ? 1 : utf8_len(p, r->size - r->at);
        if (n == 0)
            return fail(r, "expected UTF-8");
        r->at += (uint32_t)n;
    }
    r->at++;
    node_end(r, i);
    return true;
}

static bool read_digits(struct reader *r)
{
    const uint32_t from = r->at;
    while (r->at < r->size && r->text[r->at] >= '0' && r->text[r->at] <= '9')
        r->at++;
    return r->at > from || fail(r, "expected a digit");
}

static bool read_number(struct reader *r)
{
    uint32_t i;
    if (!node_add(r, JSON_IS_NUMBER, &i))
        return false;
    r->at += is_at(r, '-');
    if (is_at(r, '0'))
        r->at++;
    else if (!read_digits(r))
        return false;
    if (is_at(r, '.')) {
        r->at++;
        if (!read_digits(r))
            return false;
    }
    if (is_at(r, 'e') || is_at(r, 'E')) {
        r->at++;
        r->at += is_at(r, '+') || is_at(r, '-');
        if (!read_digits(r))
            return false;
    }
    node_end(r, i);
    return true;
}

static bool read_word(struct reader *r, bool *found)
{
    static const struct {
        const char *word;
        enum json_kind kind;
    } words[] = { { "true", JSON_IS_TRUE }, { "false", JSON_IS_FALSE }, { "null", JSON_IS_NULL } };
    *found = false;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        const size_t n = strlen(words[k].word);
        uint32_t i;
        if (r->size - r->at < n || memcmp(r->text + r->at, words[k].word, n) != 0)
            continue;
        *found = true;
        if (!node_add(r, words[k].kind, &i))
            return false;
        r->at += (uint32_t)n;
        node_end(r, i);
    }
    return true;
}

static bool read_value(struct reader *r, unsigned depth);

static bool read_several(struct reader *r, unsigned depth)
{
    const bool is_object = is_at(r, '{');
    const char close = is_object ? '}' : ']';
    uint32_t i;
    if (depth >= NESTED_MOST)
        return fail(r, "nested too deeply");
    if (!node_add(r, is_object ? JSON_IS_OBJECT : JSON_IS_LIST, &i))
        return false;
    r->at++;
    skip_blanks(r);
    for (bool is_first = true; !is_at(r, close); is_first = false) {
        if (!is_first) {
            if (!is_at(r, ','))
                return fail(r, is_object ? "expected ',' or '}'" : "expected ',' or ']'");
            r->at++;
            skip_blanks(r);
        }
        if (is_object) {
            if (!read_string(r))
                return false;
            skip_blanks(r);
            if (!is_at(r, ':'))
                return fail(r, "expected ':' behind a key");
            r->at++;
            skip_blanks(r);
        }
        if (!read_value(r, depth + 1))
            return false;
        skip_blanks(r);
    }
    r->at++;
    node_end(r, i);
    return true;
}

static bool read_value(struct reader *r, unsigned depth)
{
    bool found;
    if (is_at(r, '{') || is_at(r, '['))
        return read_several(r, depth);
    if (is_at(r, '"'))
        return read_string(r);
    if (is_at(r, '-') || (r->at < r->size && r->text[r->at] >= '0' && r->text[r->at] <= '9'))
        return read_number(r);
    if (!read_word(r, &found))
        return false;
    return found || fail(r, "expected a value");
}

bool json_tree_read(struct json_tree *t, const char *text, size_t n, struct error *e)
{
    *t = (struct json_tree){ .text = text };
    if (n > JSON_TEXT_MOST)
        return error_set(e, FAULT_LIMIT, "%zu bytes of JSON; at most %d are read", n, (int)JSON_TEXT_MOST);
    struct reader r = { .t = t, .text = text, .size = (uint32_t)n, .line = 1, .e = e };
    skip_blanks(&r);
    if (!read_value(&r, 0))
        return false;
    skip_blanks(&r);
    return r.at == r.size || fail(&r, "expected the end of the text");
}

void json_tree_fini(struct json_tree *t)
{
    free(t->node);
    *t = (struct json_tree){ 0 };
}

uint32_t json_tree_first(const struct json_tree *t, uint32_t of)
{
    return t->node[of].after > of + 1 ? of + 1 : 0;
}

uint32_t json_tree_next(const struct json_tree *t, uint32_t of, uint32_t i)
{
    return t->node[i].after < t->node[of].after ? t->node[i].after : 0;
}

uint32_t json_tree_member(const struct json_tree *t, uint32_t object, const char *name)
{
    uint32_t found = 0;
    if (t->node[object].kind != JSON_IS_OBJECT)
        return 0;
    for (uint32_t key = json_tree_first(t, object); key; key = json_tree_next(t, object, key + 1)) {
        char *const text = json_tree_text(t, key);
        if (text && strcmp(text, name) == 0)
            found = key + 1;
        free(text);
    }
    return found;
}

static unsigned four_digits(const char *p)
{
    char text[5] = { 0 };
    memcpy(text, p, 4);
    return (unsigned)strtoul(text, NULL, 16);
}

static size_t put_code(char *to, uint32_t code)
{
    if (code == 0 || (code >= 0xD800 && code <= 0xDFFF))
        code = 0xFFFD;
    if (code < 0x80)
        return to[0] = (char)code, 1;
    if (code < 0x800)
        return to[0] = (char)(0xC0 | code >> 6), to[1] = (char)(0x80 | (code & 0x3F)), 2;
    if (code < 0x10000)
        return to[0] = (char)(0xE0 | code >> 12), to[1] = (char)(0x80 | (code >> 6 & 0x3F)),
               to[2] = (char)(0x80 | (code & 0x3F)), 3;
    return to[0] = (char)(0xF0 | code >> 18), to[1] = (char)(0x80 | (code >> 12 & 0x3F)),
           to[2] = (char)(0x80 | (code >> 6 & 0x3F)), to[3] = (char)(0x80 | (code & 0x3F)), 4;
}

char *json_tree_text(const struct json_tree *t, uint32_t i)
{
    const char *p = t->text + t->node[i].begin + 1, *const end = t->text + t->node[i].end - 1;
    char *const out = malloc((size_t)(end - p) + 1), *to = out;
    if (!out)
        return NULL;
    while (p < end) {
        if (*p != '\\') {
            *to++ = *p++;
        } else if (p[1] != 'u') {
            static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
            *to++ = into[strchr(from, p[1]) - from];
            p += 2;
        } else {
            uint32_t code = four_digits(p + 2);
            p += 6;
            if (code >= 0xD800 && code < 0xDC00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
                const uint32_t low = four_digits(p + 2);
                if (low >= 0xDC00 && low <= 0xDFFF) {
                    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                    p += 6;
                }
            }
            to += put_code(to, code);
        }
    }
    *to = '\0';
    return out;
}

bool json_tree_int(const struct json_tree *t, uint32_t i, int64_t *value)
{
    const struct json_node *const n = &t->node[i];
    *value = n->kind == JSON_IS_TRUE;
    if (n->kind == JSON_IS_TRUE || n->kind == JSON_IS_FALSE)
        return true;
    if (n->kind != JSON_IS_NUMBER)
        return false;
    const bool is_negative = t->text[n->begin] == '-';
    for (uint32_t at = n->begin + is_negative; at < n->end; at++) {
        const char c = t->text[at];
        if (c < '0' || c > '9')
            return false;
        *value = *value > (INT64_MAX - (c - '0')) / 10 ? INT64_MAX : *value * 10 + (c - '0');
    }
    *value = is_negative ? -*value : *value;
    return true;
}
