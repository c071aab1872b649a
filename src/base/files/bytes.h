/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.h - reading bytes we do not trust, and writing the ones we are sure of.
 *
 * A view owns nothing and is cheap to copy. Invariant: at <= size. Lengths are compared by subtraction: a sum can wrap.
 */
#ifndef ASCOPE_BASE_FILES_BYTES_H
#define ASCOPE_BASE_FILES_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const uint8_t *data;
    size_t size, at;
};

/* The next n bytes, or NULL when fewer are left. Moves only on success, so `at` is the offset to report. */
static inline const uint8_t *bytes_take(struct bytes *b, size_t n)
{
    if (n > b->size - b->at)
        return NULL;
    const uint8_t *p = b->data + b->at;
    b->at += n;
    return p;
}

/* Of records that are read one after the other: starts to read what follows soon. Where a record begins is only known
 * when the one before it was read, which the processor cannot foresee. */
static inline void bytes_foresee(const struct bytes *b)
{
    enum { AHEAD = 2048 };
    if (b->size - b->at > AHEAD) /* no bytes: data may be NULL */
        __builtin_prefetch(b->data + b->at + AHEAD);
}

/* The next line without its newline, or NULL at the end. A last line without a newline counts. */
static inline const char *bytes_line(struct bytes *b, size_t *len)
{
    if (b->at == b->size)
        return NULL;
    const uint8_t *start = b->data + b->at;
    const uint8_t *end = memchr(start, '\n', b->size - b->at);
    *len = end ? (size_t)(end - start) : b->size - b->at;
    b->at += *len + (end ? 1 : 0);
    return (const char *)start;
}

static inline uint16_t le16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint32_t le32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t le64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline double le_f64(const uint8_t *p)
{
    double v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint32_t be16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t be32(const uint8_t *p)
{
    return be16(p) << 16 | be16(p + 2);
}

/* All machines that these tools run on are little endian, and so is the format: a copy is the conversion. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "le16() and the others copy bytes as they are");

#endif
