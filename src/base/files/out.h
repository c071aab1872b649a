/* SPDX-License-Identifier: Apache-2.0 */
/* out.h - buffered text output to a file, written atomically.
 *
 * A file is written under a temporary name beside its final one and renamed when it is closed, so that a reader never
 * sees a part of it. What is not a regular file is written through: see destination.h. Errors are remembered and
 * reported once, by out_close(). The out_* functions are the hot loop of the program: they write into a buffer with
 * room to spare and check it once per item.
 */
#ifndef ASCOPE_BASE_FILES_OUT_H
#define ASCOPE_BASE_FILES_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/text/error.h"
#include "base/files/leftover.h"

enum { SECOND_BYTES = 24 };
struct out {
    char *buf;
    size_t n, cap;               /* OUT_SLACK more bytes are allocated behind cap */
    int fd;                      /* -1: everything stays in buf, which grows (for tests and small texts) */
    int failed_errno;            /* of the first write that failed */
    uint64_t written;            /* bytes written to fd so far, without those in buf */
    void (*full)(struct out *o); /* with fd -1: called when buf is full, and may empty it; NULL: it only grows */
    void *full_context;
    char *path;
    struct leftover half; /* the file under its temporary name; none when it is written through */
    bool is_named;        /* by the user: no other file will be written beside it, so its directory is synced at once */
    uint64_t second;      /* of the time that out_us() wrote last, and its digits: the next time mostly shares them */
    unsigned second_len;
    char second_text[SECOND_BYTES];
};

enum { OUT_SLACK = 64 }; /* the longest number that the functions below write without checking for room */

/* Creates a result in a directory of ours; an existing file of that name must be a regular one. After false there is
 * nothing to close. When all results are there, whoever writes them syncs the directory (durable.h). */
bool out_open(struct out *o, const char *path, struct error *e);
/* The same for a name given by the user, which may also be a FIFO, a device, a link, or "-" for standard output. */
bool out_open_named(struct out *o, const char *name, struct error *e);
/* The same for an open file, of which it writes to a duplicate descriptor; `what` is its name in messages. */
bool out_open_descriptor(struct out *o, int fd, const char *what, struct error *e);
bool out_open_memory(struct out *o, struct error *e); /* read o->buf, o->n; end with out_discard() */
bool out_close(struct out *o, struct error *e);       /* flushes, renames to the final name, frees */
void out_discard(struct out *o);                      /* removes the file, frees; fine after a failed open */

void out_room(struct out *o, size_t bytes);               /* flush or grow until `bytes` fit */
void out_through(struct out *o, const void *p, size_t n); /* as out_bytes(); a file gets them without a copy */
/* Overwrites bytes of the file that were written before. */
void out_patch(struct out *o, uint64_t offset, const void *p, size_t n);
/* Reads back what was written into a file so far. False: o->failed_errno or errno has the reason. Ends with
 * memory_unmap(). */
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
void out_shown(struct out *o, const char *text);                  /* control characters become '?' (utf8.h) */

void out_bytes_beyond(struct out *o, const void *p, size_t n); /* out_bytes() if the buffer is full */
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

/* Writes up to OUT_SLACK bytes. */
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

/* For text that the caller composes in place: returns an address with room for so many bytes, at most OUT_RESERVE.
 * out_put() adds what was written there up to `end`. */
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
/* Writes the text of out_us() to `to`, which has room for 32 bytes; returns its end. */
char *us_put(struct out *o, char *to, int64_t ns);

size_t digits_put(char *to, uint64_t v); /* decimal digits, at most 20, without a NUL; returns their number */

#endif
