/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/write/outputs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collect/ring/ring.h"

/* The smallest ring has room for two parts. */
enum { PART_MOST = 16 << 10, WAIT_MOST_MS = 200 };

char *sample_text_room(struct sample_text *t, size_t bytes)
{
    if (bytes > t->room - t->n) {
        const size_t room = t->room * 2 > t->n + bytes ? t->room * 2 : t->n + bytes + 4096;
        char *const more = realloc(t->at, room);
        t->is_short |= !more;
        if (!more)
            return NULL;
        t->at = more;
        t->room = room;
    }
    return t->at + t->n;
}

void sample_text_add(struct sample_text *t, const char *text, size_t n)
{
    char *const at = sample_text_room(t, n);
    if (!at)
        return;
    memcpy(at, text, n);
    t->n += n;
}

void sample_text_format(struct sample_text *t, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0)
        sample_text_add(t, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static void wait_for_writer(void)
{
    for (int i = 0; i < WAIT_MOST_MS && ring_is_short(); i++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* As many whole lines as fit into a part. */
static size_t part_bytes(const char *text, size_t n)
{
    if (n <= PART_MOST)
        return n;
    const char *const end = memrchr(text, '\n', PART_MOST);
    return end ? (size_t)(end - text) + 1 : PART_MOST;
}

void sample_text_put(struct sample_text *t, enum stream_id stream)
{
    for (size_t at = 0; at < t->n && !t->is_short;) {
        const size_t n = part_bytes(t->at + at, t->n - at);
        wait_for_writer();
        const struct ring_slot slot = ring_put(stream, at > 0 ? SAMPLE_CONTINUES : 0, n);
        if (!slot.at)
            break; /* counted; what follows would belong to the sample before */
        memcpy(slot.at, t->at + at, n);
        ring_done(slot);
        at += n;
    }
    t->n = 0;
    t->is_short = false;
}

void sample_text_fini(struct sample_text *t)
{
    free(t->at);
    *t = (struct sample_text){ 0 };
}
