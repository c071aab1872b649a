/* SPDX-License-Identifier: Apache-2.0 */
#include "export/trace_split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/hash.h"

struct trace_scan_span {
    const char *at;
    size_t len;
};

/* The end of the string that begins at p, behind its closing quote. */
static const char *string_end(const char *p, const char *end)
{
    for (p++; p < end; p++) {
        p = memchr(p, '"', (size_t)(end - p));
        if (!p)
            return end;
        size_t n = 0;
        while (p[-1 - (ptrdiff_t)n] == '\\') /* stops at the opening quote at the latest */
            n++;
        if (n % 2 == 0)
            return p + 1;
    }
    return end;
}

static const char *value_end(const char *p, const char *end)
{
    int depth = 0;
    do {
        if (*p == '"')
            p = string_end(p, end);
        else if (*p == '{' || *p == '[')
            depth++, p++;
        else if (*p == '}' || *p == ']')
            depth--, p++;
        else if (depth > 0)
            p++;
        else
            while (p < end && *p != ',' && *p != '}')
                p++;
    } while (p < end && depth > 0);
    return p;
}

static int64_t trace_scan_ns_of(struct trace_scan_span v)
{
    const char *p = v.at, *end = v.at + v.len;
    p += p < end && *p == '"';
    const bool is_negative = p < end && *p == '-';
    p += is_negative;
    int64_t ns = 0;
    int decimals = -1;
    bool is_beyond = false;
    for (; p < end && decimals < 3; p++) {
        if (*p == '.' && decimals < 0) {
            decimals = 0;
            continue;
        }
        if (*p < '0' || *p > '9')
            break;
        is_beyond |= __builtin_mul_overflow(ns, 10, &ns) || __builtin_add_overflow(ns, *p - '0', &ns);
        decimals += decimals >= 0;
    }
    for (decimals = decimals < 0 ? 0 : decimals; decimals < 3; decimals++)
        is_beyond |= __builtin_mul_overflow(ns, 10, &ns);
    ns = is_beyond ? INT64_MAX : ns;
    return is_negative ? -ns : ns;
}

/* A number, or the same as text: timelines of MindSpore have their durations in quotes. */
static int64_t dur_of(struct trace_scan_span v)
{
    char text[48];
    const size_t quote = v.at[0] == '"', left = v.len - quote, n = left < sizeof text ? left : sizeof text - 1;
    memcpy(text, v.at + quote, n);
    text[n] = 0;
    const double ns = strtod(text, NULL) * 1000;
    return ns > 0 && ns < 9e18 ? llround(ns) : 0;
}

static uint64_t hash_text(uint64_t hash, struct trace_scan_span text)
{
    while (text.len > 0) {
        uint64_t word = text.len;
        const size_t n = text.len < sizeof word ? text.len : sizeof word;
        memcpy(&word, text.at, n);
        hash = hash_more(hash, word);
        text.at += n;
        text.len -= n;
    }
    return hash_more(hash, 0);
}

enum { NAME, PHASE, TIME, DURATION, CATEGORY, ID, FIELDS };
static const char *const field_name[FIELDS] = { "name", "ph", "ts", "dur", "cat", "id" };

static void event_fill(struct trace_event *e, const struct trace_scan_span field[FIELDS])
{
    e->phase = field[PHASE].len >= 3 ? field[PHASE].at[1] : 0;
    e->has_time = field[TIME].len > 0;
    e->ns = e->has_time ? trace_scan_ns_of(field[TIME]) : 0;
    e->dur_ns = field[DURATION].len > 0 ? dur_of(field[DURATION]) : 0;
    if (e->phase == 's' || e->phase == 't' || e->phase == 'f')
        e->flow = hash_text(hash_text(hash_text(1, field[CATEGORY]), field[ID]), field[NAME]) | 1;
}

bool trace_scan_next(struct trace_scan *s, struct trace_event *e)
{
    const char *end = s->text + s->size;
    const char *p = s->at < s->size ? memchr(s->text + s->at, '{', s->size - s->at) : NULL;
    struct trace_scan_span field[FIELDS] = { { 0 } };
    if (!p)
        return false;
    *e = (struct trace_event){ .at = (size_t)(p - s->text) };
    for (p++; p < end && *p != '}';) {
        if (*p != '"') {
            p++;
            continue;
        }
        const char *key = p + 1;
        p = string_end(p, end);
        const size_t len = (size_t)(p - key) - 1;
        while (p < end && *p != '"' && *p != '{' && *p != '[' && *p != '-' && (*p < '0' || *p > '9') && *p != 't' &&
               *p != 'f' && *p != 'n')
            p++;
        const char *value = p;
        p = p < end ? value_end(p, end) : end;
        for (size_t i = 0; i < FIELDS; i++)
            if (strlen(field_name[i]) == len && memcmp(field_name[i], key, len) == 0)
                field[i] = (struct trace_scan_span){ value, (size_t)(p - value) };
    }
    p += p < end;
    e->len = (size_t)(p - s->text) - e->at;
    s->at = (size_t)(p - s->text);
    event_fill(e, field);
    return true;
}

/* Limits of the bytes and of the names that are kept: enough for real programs, and little beside the records that have
 * them. */
enum { TEXT_MOST = 12 << 20, NAMES_MOST = 1 << 18 };

struct escaped {
    struct out text;
    size_t n;
    uint32_t end[]; /* where each name ends in the text; it begins where the previous one ends */
};

struct escaped *escaped_new(const struct names *names)
{
    const size_t count = names_count(names), most = count < NAMES_MOST ? count : NAMES_MOST;
    struct escaped *e = malloc(sizeof *e + most * sizeof *e->end);
    struct error unused = { 0 };
    if (!e || !out_open_memory(&e->text, &unused)) {
        free(e);
        return NULL;
    }
    for (e->n = 0; e->n < most && e->text.n < TEXT_MOST; e->n++) {
        const name_id name = (name_id)e->n;
        const size_t len = names_len(names, name);
        if (len > TEXT_MOST / 8)
            break;
        out_json_inner(&e->text, names_text(names, name), len);
        e->end[name] = (uint32_t)e->text.n;
    }
    if (!e->text.failed_errno)
        return e;
    escaped_free(e);
    return NULL;
}

void escaped_free(struct escaped *e)
{
    if (e)
        out_discard(&e->text);
    free(e);
}

void escaped_write(const struct escaped *e, const struct names *names, name_id name, struct out *o)
{
    if (e && name < e->n) {
        const size_t first = name > 0 ? e->end[name - 1] : 0;
        out_bytes(o, e->text.buf + first, e->end[name] - first);
    } else {
        out_json_inner(o, names_text(names, name), names_len(names, name));
    }
}
