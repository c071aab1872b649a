#include "load/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool stream_text(struct source *s, const struct stream *stream, struct bytes *out, struct error *e)
{
    *out = (struct bytes){ 0 };
    if (stream->n_slices == 1) {
        *out = (struct bytes){ stream->slice[0].data, stream->slice[0].size, 0 };
        return true;
    }
    size_t total = 0;
    for (size_t i = 0; i < stream->n_slices; i++)
        total += stream->slice[i].size;
    uint8_t *joined = arena_take(s->mem, total, 1);
    if (!joined)
        return error_set(e, FAULT_LIMIT, "%s/%s: no memory to join its slices", s->path, stream->family);
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
    for (size_t i = 0; i < len;) {
        while (i < len && is_blank(line[i]))
            i++;
        const size_t start = i;
        while (i < len && !is_blank(line[i]))
            i++;
        if (i == start)
            break;
        if (n < most)
            word[n] = (struct word){ line + start, i - start };
        n++;
    }
    return n < most ? n : most;
}

bool word_is(struct word w, const char *text)
{
    return strlen(text) == w.len && memcmp(w.at, text, w.len) == 0;
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
