/* SPDX-License-Identifier: Apache-2.0 */
#include "load/prof/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "raw/family.h"

bool stream_text(struct source *s, const struct stream *stream, struct bytes *out, struct error *e)
{
    *out = (struct bytes){ 0 };
    s->stream[stream - s->stream].is_opened = true;
    for (size_t i = 1; i < stream->n_slices; i++)
        losses_add(&s->lost, LOSS_MISSING_SLICE, slices_missing(stream->slice[i - 1].number, stream->slice[i].number),
                   stream->slice[i].name, 0);
    if (stream->n_slices == 1) {
        *out = (struct bytes){ stream->slice[0].data, stream->slice[0].size, 0 };
        return true;
    }
    size_t total = 0;
    for (size_t i = 0; i < stream->n_slices; i++)
        total += stream->slice[i].size;
    uint8_t *joined = arena_take(s->mem, total, 1);
    if (!joined)
        return error_no_memory(e, s->path);
    size_t at = 0;
    for (size_t i = 0; i < stream->n_slices; i++) {
        if (stream->slice[i].size > 0)
            memcpy(joined + at, stream->slice[i].data, stream->slice[i].size);
        at += stream->slice[i].size;
    }
    *out = (struct bytes){ joined, total, 0 };
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

size_t line_words(const char *line, size_t len, struct word *word, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < len && n < most;) {
        while (i < len && is_blank(line[i]))
            i++;
        const size_t start = i;
        while (i < len && !is_blank(line[i]))
            i++;
        if (i > start)
            word[n++] = (struct word){ line + start, i - start };
    }
    return n;
}

bool word_is(struct word w, const char *text)
{
    return strlen(text) == w.len && memcmp(w.at, text, w.len) == 0;
}

void word_copy(char *to, size_t size, struct word w)
{
    const size_t n = w.len < size - 1 ? w.len : size - 1;
    memcpy(to, w.at, n);
    to[n] = '\0';
}

bool word_u64(struct word w, uint64_t *out)
{
    uint64_t v = 0;
    for (size_t i = 0; i < w.len; i++) {
        const unsigned digit = (unsigned)(w.at[i] - '0');
        if (digit > 9 || __builtin_mul_overflow(v, (uint64_t)10, &v) || __builtin_add_overflow(v, (uint64_t)digit, &v))
            return false;
    }
    *out = v;
    return w.len > 0;
}

bool word_real(struct word w, double *out)
{
    char text[64], *end;
    if (w.len == 0 || w.len >= sizeof text)
        return false;
    memcpy(text, w.at, w.len);
    text[w.len] = 0;
    *out = strtod(text, &end);
    return end == text + w.len && isfinite(*out);
}

bool word_fixed(struct word w, unsigned decimals, uint64_t *out)
{
    uint64_t v = 0;
    bool has_digit = false, has_point = false;
    for (size_t i = 0; i < w.len; i++) {
        const unsigned digit = (unsigned)(w.at[i] - '0');
        if (w.at[i] == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (digit > 9)
            return false;
        has_digit = true;
        if (has_point && decimals == 0)
            continue;
        decimals -= has_point;
        if (__builtin_mul_overflow(v, (uint64_t)10, &v) || __builtin_add_overflow(v, (uint64_t)digit, &v))
            return false;
    }
    for (; decimals > 0; decimals--)
        if (__builtin_mul_overflow(v, (uint64_t)10, &v))
            return false;
    *out = v;
    return has_digit;
}

bool word_starts(struct word w, const char *text)
{
    const size_t len = strlen(text);
    return len <= w.len && memcmp(w.at, text, len) == 0;
}

struct word word_trim(struct word w)
{
    while (w.len > 0 && is_blank(w.at[w.len - 1]))
        w.len--;
    return word_skip(w, 0);
}

struct word word_skip(struct word w, size_t len)
{
    while (len < w.len && is_blank(w.at[len]))
        len++;
    return (struct word){ w.at + len, w.len - len };
}

bool text_open(struct text *t, struct source *s, const struct stream *stream, struct error *e)
{
    *t = (struct text){ .source = s, .stream = stream };
    return stream_text(s, stream, &t->in, e);
}

bool text_next(struct text *t, struct word *line)
{
    t->line_at = t->in.at;
    size_t len = 0;
    const char *at = bytes_line(&t->in, &len);
    if (at)
        *line = word_trim((struct word){ at, len });
    return at != NULL;
}

size_t text_lines(const struct text *t)
{
    struct bytes rest = t->in;
    size_t n = 0, len;
    while (bytes_line(&rest, &len))
        n++;
    return n;
}

void text_lost(struct text *t, enum loss why)
{
    stream_lost(t->source, t->stream, why, t->line_at);
}
