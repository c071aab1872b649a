/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json_scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/stamp.h"

enum { BLANK = 1, SCALAR = 2, STARTS_SCALAR = 4 };
static const uint8_t class_of[256] = {
    [' '] = BLANK,
    ['\t'] = BLANK,
    ['\n'] = BLANK,
    ['\r'] = BLANK,
    ['0' ... '9'] = SCALAR | STARTS_SCALAR,
    ['A' ... 'H'] = SCALAR,
    ['I'] = SCALAR | STARTS_SCALAR, /* Infinity */
    ['J' ... 'M'] = SCALAR,
    ['N'] = SCALAR | STARTS_SCALAR, /* NaN, N/A */
    ['O' ... 'Z'] = SCALAR,
    ['a' ... 'e'] = SCALAR,
    ['f'] = SCALAR | STARTS_SCALAR,
    ['g' ... 'h'] = SCALAR,
    ['i'] = SCALAR | STARTS_SCALAR, /* inf */
    ['j' ... 'm'] = SCALAR,
    ['n'] = SCALAR | STARTS_SCALAR, /* null, nan */
    ['o' ... 's'] = SCALAR,
    ['t'] = SCALAR | STARTS_SCALAR,
    ['u' ... 'z'] = SCALAR,
    ['+'] = SCALAR,
    ['-'] = SCALAR | STARTS_SCALAR,
    ['.'] = SCALAR,
    ['/'] = SCALAR,
};

static inline bool is_of(const char *p, const char *end, unsigned class)
{
    return p < end && (class_of[(unsigned char)*p] & class) != 0;
}

static inline const char *blanks(const char *p, const char *end)
{
    while (is_of(p, end, BLANK))
        p++;
    return p;
}

const char *json_blanks(const char *at, const char *end)
{
    return blanks(at, end);
}

/* The number of the first byte in memory that is not 0. */
static inline int first_byte(uint64_t word)
{
    return (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_ctzll(word) : __builtin_clzll(word)) / 8;
}

/* Quotes, backslashes and control characters, sixteen bytes at a time with what vectors the machine has (or the
 * compiler's idea of them). Each byte of the two words is 0xFF where there is one; the first is what counts. */
static inline const char *text_stop(const char *p, const char *end)
{
    typedef uint8_t bytes16 __attribute__((vector_size(16)));
    typedef uint64_t words2 __attribute__((vector_size(16)));
    for (; (size_t)(end - p) >= sizeof(bytes16); p += sizeof(bytes16)) {
        bytes16 at;
        memcpy(&at, p, sizeof at);
        const words2 hits = (words2)((at == '"') | (at == '\\') | (at < ' '));
        if ((hits[0] | hits[1]) != 0)
            return p + (hits[0] ? first_byte(hits[0]) : 8 + first_byte(hits[1]));
    }
    while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= ' ')
        p++;
    return p;
}

/* Returns the end of the text whose opening quote is at p. NULL: it is not valid at *stuck. */
static inline __attribute__((always_inline)) const char *strict_text_end(const char *p, const char *end,
                                                                         const char **stuck)
{
    for (p = text_stop(p + 1, end); p < end && *p == '\\'; p = text_stop(p, end))
        p += end - p > 1 ? 2 : 1;
    if (p < end && *p == '"')
        return p + 1;
    *stuck = p;
    return NULL;
}

static bool starts_value(const char *p, const char *end)
{
    return p < end && (*p == '"' || *p == '{' || *p == '[' || is_of(p, end, STARTS_SCALAR));
}

/* Whether the quote before p ends a text; decided by the characters that follow. */
static bool ends_text(const char *p, const char *end, bool is_key, bool in_object)
{
    p = blanks(p, end);
    if (is_key)
        return p < end && *p == ':';
    if (p < end && *p == ',') {
        p = blanks(p + 1, end);
        return in_object ? p < end && (*p == '"' || *p == '}') : starts_value(p, end) || (p < end && *p == ']');
    }
    if (p == end || *p != (in_object ? '}' : ']'))
        return false;
    p = blanks(p + 1, end);
    return p == end || *p == ',' || *p == '}' || *p == ']';
}

static __attribute__((noinline)) const char *repaired_text_end(const char *p, const char *end, bool is_key,
                                                               bool in_object, const char **stuck)
{
    for (p++; p < end; p++) {
        if (*p == '"' && ends_text(p + 1, end, is_key, in_object))
            return p + 1;
        if (*p == '\\' && end - p > 1 && (p[1] == '\\' || p[1] == '"'))
            p += !(p[1] == '"' && ends_text(p + 2, end, is_key, in_object)); /* a path that ends with a backslash */
    }
    *stuck = end;
    return NULL;
}

static inline __attribute__((always_inline)) const char *text_end(const char *p, const char *end, bool repairs,
                                                                  bool is_key, bool in_object, const char **stuck)
{
    return repairs ? repaired_text_end(p, end, is_key, in_object, stuck) : strict_text_end(p, end, stuck);
}

static inline const char *scalar_end(const char *p, const char *end)
{
    do
        p++;
    while (is_of(p, end, SCALAR));
    return p;
}

/* Returns where the value of a member begins, behind the key and its colon. */
static inline const char *key_end(const char *p, const char *end, bool repairs, const char **stuck)
{
    if (p == end || *p != '"') {
        *stuck = p;
        return NULL;
    }
    p = text_end(p, end, repairs, true, true, stuck);
    if (!p)
        return NULL;
    p = blanks(p, end);
    if (p < end && *p == ':')
        return blanks(p + 1, end);
    *stuck = p;
    return NULL;
}

/* Which of the containers around a place are objects, innermost last. */
struct json_scan_nesting {
    uint64_t is_object[JSON_DEPTH / 64];
    unsigned depth;
};

static inline bool nest(struct json_scan_nesting *n, bool is_object)
{
    if (n->depth == JSON_DEPTH)
        return false;
    uint64_t *word = &n->is_object[n->depth / 64];
    const uint64_t bit = UINT64_C(1) << n->depth % 64;
    *word = is_object ? *word | bit : *word & ~bit;
    n->depth++;
    return true;
}

static inline bool in_object(const struct json_scan_nesting *n)
{
    return (n->is_object[(n->depth - 1) / 64] >> (n->depth - 1) % 64 & 1) != 0;
}

/* Returns the end of a container. A comma before its closing bracket is accepted. */
static inline __attribute__((always_inline)) const char *container_end(const char *p, const char *end, bool repairs,
                                                                       const char **stuck)
{
    struct json_scan_nesting n;
    n.depth = 0;
    n.is_object[0] = 0;
    bool wants_more = true; /* an element or a member may begin here; else a comma, or the end of the container */
    for (;;) {
        if (wants_more && n.depth > 0 && p < end && *p != '}' && *p != ']') {
            if (in_object(&n) && !(p = key_end(p, end, repairs, stuck)))
                return NULL;
        }
        if (p == end)
            break;
        if (wants_more && (*p == '{' || *p == '[')) {
            if (n.depth % 64 == 0 && n.depth < JSON_DEPTH)
                n.is_object[n.depth / 64] = 0;
            if (!nest(&n, *p == '{'))
                break;
            p = blanks(p + 1, end);
            continue;
        }
        if (n.depth > 0 && *p == (in_object(&n) ? '}' : ']')) {
            p++;
            if (--n.depth == 0)
                return p;
        } else if (!wants_more) {
            if (*p != ',')
                break;
            p = blanks(p + 1, end);
            wants_more = true;
            continue;
        } else if (*p == '"') {
            if (!(p = text_end(p, end, repairs, false, in_object(&n), stuck)))
                return NULL;
        } else if (is_of(p, end, STARTS_SCALAR)) {
            p = scalar_end(p, end);
        } else {
            break;
        }
        wants_more = false;
        p = blanks(p, end);
    }
    *stuck = p;
    return NULL;
}

static const char *strict_container_end(const char *p, const char *end, const char **stuck)
{
    return container_end(p, end, false, stuck);
}

static const char *repaired_container_end(const char *p, const char *end, const char **stuck)
{
    return container_end(p, end, true, stuck);
}

static bool stick(struct json_scan *s, const char *at)
{
    s->at = at;
    s->is_stuck = true;
    return false;
}

bool json_enter(struct json_scan *s, const char *at, const char *end, char opening)
{
    at = blanks(at, end);
    const bool is_it = at < end && *at == opening;
    *s = (struct json_scan){ .at = is_it ? at + 1 : at, .end = end, .is_stuck = !is_it, .is_array = opening == '[' };
    return is_it;
}

/* Moves behind the comma, to the next key or element. False: there is none. */
static inline bool next_place(struct json_scan *s, char closing)
{
    const char *p = blanks(s->at, s->end);
    if (s->is_stuck)
        return false;
    if (s->is_inside && p < s->end && *p == ',')
        p = blanks(p + 1, s->end);
    else if (s->is_inside && (p == s->end || *p != closing))
        return stick(s, p);
    s->is_inside = true;
    s->at = p;
    if (p == s->end)
        return stick(s, p);
    s->at += *p == closing;
    return *p != closing;
}

bool json_next_key(struct json_scan *s, struct json_span *key)
{
    if (!next_place(s, '}'))
        return false;
    const char *stuck = s->at, *begin = s->at;
    const char *p = *begin == '"' ? text_end(begin, s->end, s->repairs, true, true, &stuck) : NULL;
    if (!p)
        return stick(s, stuck);
    *key = (struct json_span){ begin, (size_t)(p - begin) };
    p = blanks(p, s->end);
    if (p == s->end || *p != ':')
        return stick(s, p);
    s->at = blanks(p + 1, s->end);
    return true;
}

bool json_next_element(struct json_scan *s)
{
    return next_place(s, ']');
}

bool json_pass(struct json_scan *s, struct json_span *value)
{
    const char *p = s->at, *stuck = p;
    if (p == s->end)
        return stick(s, p);
    if (*p == '"')
        p = text_end(p, s->end, s->repairs, false, !s->is_array, &stuck);
    else if (*p == '{' || *p == '[')
        p = s->repairs ? repaired_container_end(p, s->end, &stuck) : strict_container_end(p, s->end, &stuck);
    else
        p = is_of(p, s->end, STARTS_SCALAR) ? scalar_end(p, s->end) : NULL;
    if (!p)
        return stick(s, stuck);
    *value = (struct json_span){ s->at, (size_t)(p - s->at) };
    s->at = p;
    return true;
}

bool json_is_text(struct json_span v)
{
    return v.len >= 2 && v.at[0] == '"';
}

static struct json_span between_quotes(struct json_span v)
{
    return json_is_text(v) ? (struct json_span){ v.at + 1, v.len - 2 } : v;
}

bool json_is(struct json_span v, const char *text)
{
    const struct json_span inside = between_quotes(v);
    return v.at && inside.len == strlen(text) && memcmp(inside.at, text, inside.len) == 0;
}

void json_find_each(struct json_span object, const char *const *key, struct json_span *value, size_t n)
{
    struct json_scan s;
    struct json_span name, now;
    for (size_t i = 0; i < n; i++)
        value[i] = (struct json_span){ 0 };
    if (!object.at || !json_enter(&s, object.at, object.at + object.len, '{'))
        return;
    for (const char *begin = s.at;; s = (struct json_scan){ .at = begin, .end = s.end, .repairs = true }) {
        while (json_next_key(&s, &name) && json_pass(&s, &now))
            for (size_t i = 0; i < n; i++)
                if (json_is(name, key[i]))
                    value[i] = now;
        if (!s.is_stuck || s.repairs)
            return;
    }
}

struct json_span json_find(struct json_span object, const char *key)
{
    struct json_span found;
    json_find_each(object, &key, &found, 1);
    return found;
}

/* Digits of a number as an integer, and where its decimal point is: value = digits * 10^shift. */
struct decimal {
    unsigned __int128 digits;
    int64_t shift;
    bool is_negative;
};

static bool decimal_read(struct decimal *d, struct json_span v)
{
    enum { MOST_SHIFT = 1 << 20 };
    const unsigned __int128 most = ((unsigned __int128)1 << 120); /* ten times that still fits */
    const char *p = v.at, *end = v.at + v.len;
    *d = (struct decimal){ .is_negative = p < end && *p == '-' };
    p += p < end && (*p == '-' || *p == '+');
    size_t n = 0;
    bool is_fraction = false;
    for (; p < end && ((*p >= '0' && *p <= '9') || (*p == '.' && !is_fraction)); p++) {
        if (*p == '.') {
            is_fraction = true;
            continue;
        }
        n++;
        if (d->digits < most) {
            d->digits = d->digits * 10 + (unsigned)(*p - '0');
            d->shift -= is_fraction;
        } else {
            d->shift += !is_fraction;
        }
    }
    if (n == 0)
        return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        const bool is_down = end - p > 1 && p[1] == '-';
        p += end - p > 1 && (p[1] == '-' || p[1] == '+') ? 2 : 1;
        int64_t power = 0;
        if (p == end)
            return false;
        for (; p < end && *p >= '0' && *p <= '9'; p++)
            power = power < MOST_SHIFT ? power * 10 + (*p - '0') : power;
        d->shift += is_down ? -power : power;
    }
    return p == end;
}

/* Most numbers: few digits, a point perhaps, no exponent. */
static inline bool short_fixed(struct json_span v, unsigned decimals, int64_t *out)
{
    const char *p = v.at, *end = v.at + v.len;
    int64_t whole = 0;
    unsigned after = 0;
    if (v.len > 18 || *p == '.')
        return false;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        whole = whole * 10 + (*p - '0');
    if (p < end && *p == '.') {
        for (p++; p < end && *p >= '0' && *p <= '9'; p++, after++)
            whole = whole * 10 + (*p - '0');
    }
    if (p < end || after > decimals || (after < decimals && (decimals > 3 || whole >= INT64_C(1000000000000000))))
        return false;
    for (; after < decimals; after++)
        whole *= 10;
    *out = whole;
    return true;
}

bool json_fixed(struct json_span v, unsigned decimals, int64_t *out)
{
    struct decimal d;
    v = between_quotes(v);
    if (v.len == 0)
        return false;
    if (short_fixed(v, decimals, out))
        return true;
    if (!decimal_read(&d, v))
        return false;
    d.shift += decimals;
    for (; d.shift > 0 && d.digits > 0 && d.digits <= (unsigned __int128)STAMP_MOST; d.shift--)
        d.digits *= 10;
    if (d.shift > 0 && d.digits > 0)
        return false;
    for (; d.shift < -1 && d.digits > 0; d.shift++)
        d.digits /= 10;
    if (d.shift < 0)
        d.digits = (d.digits + 5) / 10;
    if (d.digits > (unsigned __int128)STAMP_MOST)
        return false;
    *out = d.is_negative ? -(int64_t)d.digits : (int64_t)d.digits;
    return true;
}

bool json_u64(struct json_span v, uint64_t *out)
{
    v = between_quotes(v);
    uint64_t n = 0;
    if (v.len == 0 || (v.len > 1 && v.at[0] == '0'))
        return false;
    for (size_t i = 0; i < v.len; i++) {
        if (v.at[i] < '0' || v.at[i] > '9' || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(v.at[i] - '0'), &n))
            return false;
    }
    *out = n;
    return true;
}

bool json_double(struct json_span v, double *out)
{
    char text[64];
    v = between_quotes(v);
    if (v.len == 0 || v.len >= sizeof text)
        return false;
    memcpy(text, v.at, v.len);
    text[v.len] = 0;
    char *end;
    *out = strtod(text, &end);
    return *end == 0;
}

bool json_plain(struct json_span v, struct json_span *inside)
{
    *inside = between_quotes(v);
    return inside->len == v.len || !memchr(inside->at, '\\', inside->len);
}

static bool hex4(const char *p, const char *end, uint32_t *code)
{
    *code = 0;
    if (end - p < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        const char c = p[i];
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0)
            return false;
        *code = *code << 4 | (uint32_t)digit;
    }
    return true;
}

static size_t utf8_put(char *out, uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* Resolves the \u at p, with the second half of a pair. Six characters become at most three bytes, twelve become
 * four. */
static const char *unicode_put(const char *p, const char *end, char *out, size_t *n)
{
    enum { HIGH = 0xD800, LOW = 0xDC00, BEYOND = 0xE000, UNKNOWN = 0xFFFD };
    uint32_t code, low;
    if (!hex4(p + 2, end, &code)) {
        out[(*n)++] = '\\';
        return p + 1;
    }
    p += 6;
    if (code >= HIGH && code < LOW && end - p >= 6 && p[0] == '\\' && p[1] == 'u' && hex4(p + 2, end, &low) &&
        low >= LOW && low < BEYOND) {
        code = 0x10000 + ((code - HIGH) << 10) + (low - LOW);
        p += 6;
    }
    *n += utf8_put(out + *n, code >= HIGH && code < BEYOND ? UNKNOWN : code);
    return p;
}

size_t json_decode(struct json_span v, char *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const struct json_span inside = between_quotes(v);
    size_t n = 0;
    const char *p = inside.at, *end = p + inside.len;
    if (inside.len == v.len) {
        memcpy(out, v.at, v.len);
        return v.len;
    }
    while (p < end) {
        const char *next = memchr(p, '\\', (size_t)(end - p));
        const size_t plain = (size_t)((next ? next : end) - p);
        memcpy(out + n, p, plain);
        n += plain;
        p += plain;
        if (p == end)
            break;
        const char *known = end - p > 1 && p[1] != 0 ? strchr(from, p[1]) : NULL;
        if (known) {
            out[n++] = to[known - from];
            p += 2;
        } else if (end - p > 1 && p[1] == 'u') {
            p = unicode_put(p, end, out, &n);
        } else {
            out[n++] = *p++; /* not an escape of JSON: probably a path of Windows */
        }
    }
    return n;
}
