/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/source.h"

#include <string.h>

#include "base/memory/sort.h"
#include "raw/family.h"

const char *source_product(const struct source *s)
{
    return s->gpu.name && *s->gpu.name ? s->gpu.name : s->chip->product;
}

bool source_is_simulated(const struct source *s)
{
    return strcmp(s->settings.job, "simulated") == 0;
}

/* The position of the first stream of a family, or the position at which it would be inserted. */
static size_t first_stream(const struct source *s, const char *family)
{
    return SEARCH_FIRST_NOT(i, 0, s->n_streams, strcmp(s->stream[i].family, family) < 0);
}

const struct stream *source_streams(const struct source *s, const char *family, size_t *n)
{
    const size_t first = first_stream(s, family);
    size_t end = first;
    while (end < s->n_streams && strcmp(s->stream[end].family, family) == 0)
        end++;
    *n = end - first;
    return *n > 0 ? &s->stream[first] : NULL;
}

const char *source_file(const struct source *s, const char *family)
{
    size_t n;
    const struct stream *stream = source_streams(s, family, &n);
    return stream ? stream->slice[0].name : family;
}

/* Only the first loss of a kind is shown with its slice and offset, so that these are not searched for the others. */
void stream_lost(struct source *s, const struct stream *stream, enum loss why, uint64_t at)
{
    const struct slice *slice = stream->slice, *last = slice + stream->n_slices - 1;
    for (; s->lost.by[why].n == 0 && slice < last && at >= slice->size; slice++)
        at -= slice->size;
    losses_add(&s->lost, why, 1, slice->name, slice->from + at);
}

void record_lost(struct source *s, const char *family, enum loss why, const uint8_t *rec)
{
    size_t n;
    const struct stream *stream = source_streams(s, family, &n);
    const char *file = family;
    uint64_t at = 0;
    for (size_t i = 0; i < n && s->lost.by[why].n == 0; i++)
        for (size_t k = 0; k < stream[i].n_slices; k++) {
            const struct slice *slice = &stream[i].slice[k];
            const uintptr_t offset = (uintptr_t)rec - (uintptr_t)slice->data;
            const bool is_here = rec && offset < slice->size;
            if (is_here || file == family) {
                file = slice->name;
                at = is_here ? slice->from + offset : 0;
            }
        }
    losses_add(&s->lost, why, 1, file, at);
}

/* Counts the streams that no reader has opened: all of their records are lost. */
static void count_unopened(struct source *s)
{
    enum { NAMED = 8 }; /* in the message; there may be many more */
    const char *names = NULL;
    size_t n = 0;
    for (size_t i = 0; i < s->n_streams; i++) {
        struct stream *stream = &s->stream[i];
        size_t bytes = 0;
        for (size_t k = 0; k < stream->n_slices; k++)
            bytes += stream->slice[k].size;
        stream->is_opened = stream->is_opened || bytes == 0 || family_is_needless(stream->family);
        if (stream->is_opened || (s->is_partial && family_is_read(stream->family, s->chip, s->settings.samples_cores)))
            continue;
        if (n++ < NAMED)
            names = names ? arena_printf(s->mem, "%s, %s", names, stream->family)
                          : arena_printf(s->mem, "%s: %s", s->name, stream->family);
    }
    if (n > NAMED && names)
        names = arena_printf(s->mem, "%s and %zu more", names, n - NAMED);
    losses_add(&s->lost, LOSS_UNREAD, s->is_counted ? 0 : n, names ? names : s->name, 0);
    s->is_counted = true;
}

void source_count_unread(struct source *s)
{
    count_unopened(s);
    for (size_t i = 0; i < s->n_streams; i++) {
        losses_add(&s->lost, LOSS_OTHER_KIND, s->stream[i].n_unread, s->stream[i].slice[0].name, 0);
        s->stream[i].n_unread = 0;
    }
}
