/* SPDX-License-Identifier: Apache-2.0 */
/* out.h - buffered text output to a file, written atomically.
 *
 * A file is written under a temporary name beside its final one and renamed when it is closed, so that a reader never sees a
 * part of it. What is not a regular file is written through: see destination.h. Errors are remembered and reported once, by
 * out_close(). The out_* functions are the hot loop of the program: they write into a buffer with room to spare and check it
 * once per item.
 */
#ifndef ASCOPE_BASE_OUT_H
#define ASCOPE_BASE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/leftover.h"

enum { SECOND_BYTES = 24 };
struct out {
    char *buf;
    size_t n, cap;               /* cap leaves OUT_SLACK bytes behind it */
    int fd;                      /* -1: everything stays in buf, which grows (for tests and small texts) */
    int failed_errno;            /* of the first write that failed */
    uint64_t written;            /* bytes handed over so far, without what is in buf */
    void (*full)(struct out *o); /* with fd -1: called when buf is full, and may empty it; NULL: it only grows */
    void *full_context;
    char *path;
    struct leftover half; /* the file under its temporary name; none when it is written through */
    uint64_t second;      /* of the last point of time, and its digits: see out_us() */
    unsigned second_len;
    char second_text[SECOND_BYTES];
};

enum { OUT_SLACK = 64 }; /* the longest number that the functions below write without checking for room */

/* A result in a folder of ours, which is a plain file. On false nothing is left to close. */
bool out_open(struct out *o, const char *path, struct error *e);
/* The same under a name that the user gave: a FIFO, a device, a link, or "-" for standard output, too. */
bool out_open_named(struct out *o, const char *name, struct error *e);
bool out_open_memory(struct out *o, struct error *e); /* read o->buf, o->n; end with out_discard() */
bool out_close(struct out *o, struct error *e);       /* flush, sync with the final name, free */
void out_discard(struct out *o);                      /* the file never was; fine after a failed open */

void out_room(struct out *o, size_t bytes);               /* flush or grow until `bytes` fit */
void out_through(struct out *o, const void *p, size_t n); /* the same for many of them: into a file without a copy */
/* Writes over bytes of the file that were put down before. */
void out_patch(struct out *o, uint64_t offset, const void *p, size_t n);
/* Reads back what was written into a file so far. False: o->failed_errno or errno has the reason. Ends with memory_unmap(). */
struct mapped;
bool out_map(struct out *o, struct mapped *m);
void out_u64(struct out *o, uint64_t v);
void out_i64(struct out *o, int64_t v);
void out_us(struct out *o, int64_t ns);       /* microseconds with exactly 3 decimals */
void out_us_short(struct out *o, int64_t ns); /* the same number as a JSON writer prints a double: 75.8, 12.0 */
void out_real(struct out *o, double v);       /* shortest text that reads back as v, with a point: 0.5, 12.0, 1e-05 */
void out_fixed(struct out *o, double v, int decimals);            /* as printf %.*f */
void out_json(struct out *o, const char *text, size_t len);       /* a quoted JSON string; bad UTF-8 becomes U+FFFD */
void out_json_inner(struct out *o, const char *text, size_t len); /* the same without the quotes */
void out_csv(struct out *o, const char *text, size_t len);        /* quoted only when it must be */
void out_csv_safe(struct out *o, const char *text, size_t len);   /* with a ' before what a spreadsheet would run */
void out_shown(struct out *o, const char *text);                  /* what a terminal would obey becomes '?' (utf8.h) */

void out_bytes_beyond(struct out *o, const void *p, size_t n); /* the same where there is no room for them */
static inline void out_bytes(struct out *o, const void *p, size_t n)
{
    if (o->n >= o->cap || n > o->cap - o->n) {
        out_bytes_beyond(o, p, n);
        return;
    }
    memcpy(o->buf + o->n, p, n);
    o->n += n;
}

static inline void out_char(struct out *o, char c)
{
    if (o->n >= o->cap)
        out_room(o, 1);
    o->buf[o->n++] = c;
}

/* Up to OUT_SLACK bytes. */
static inline void out_short(struct out *o, const void *p, size_t n)
{
    if (o->n >= o->cap)
        out_room(o, 1);
    memcpy(o->buf + o->n, p, n);
    o->n += n;
}

/* A literal: the length is known to the compiler, which then needs no call to copy it. */
#define out_lit(o, literal)                                                                                            \
    do {                                                                                                               \
        _Static_assert(sizeof(literal) <= OUT_SLACK, "too long for the slack: take out_bytes()");                      \
        out_short((o), "" literal, sizeof(literal) - 1);                                                               \
    } while (0)

/* For what is put together by hand: up to so many bytes go where it points, and out_put() takes them up to `end`. At most OUT_RESERVE. */
enum { OUT_RESERVE = 256 };
static inline char *out_reserve(struct out *o, size_t bytes)
{
    if (o->n >= o->cap || bytes > o->cap - o->n)
        out_room(o, bytes);
    return o->buf + o->n;
}
static inline void out_put(struct out *o, const char *end)
{
    o->n = (size_t)(end - o->buf);
}
#define lit_put(to, literal) ((char *)memcpy((to), "" literal, sizeof(literal) - 1) + sizeof(literal) - 1)
/* As out_us() writes it; returns its end, and may write up to 32 bytes. */
char *us_put(struct out *o, char *to, int64_t ns);

size_t digits_put(char *to, uint64_t v); /* its decimal digits, at most 20 and without a NUL; how many they are */

#endif
