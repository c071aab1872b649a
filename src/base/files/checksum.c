/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/checksum.h"

#include <string.h>

#include "base/files/bytes.h"

static const uint64_t factor = 0x9E3779B97F4A7C15;

/* Changes every lane in a way that no other word would; the rotation takes high bits to where the next product spreads
 * them. */
static inline uint64_t lane_next(uint64_t lane, uint64_t word)
{
    lane = (lane ^ word) * factor;
    return lane << 29 | lane >> 35;
}

void checksum_begin(struct checksum *c)
{
    *c = (struct checksum){ .lane = { 1, 2, 3, 4 } };
}

static const uint8_t *blocks_add(struct checksum *c, const uint8_t *p, size_t n)
{
    uint64_t a = c->lane[0], b = c->lane[1], d = c->lane[2], e = c->lane[3];
    for (; n > 0; n--, p += CHECKSUM_BLOCK) {
        a = lane_next(a, le64(p));
        b = lane_next(b, le64(p + 8));
        d = lane_next(d, le64(p + 16));
        e = lane_next(e, le64(p + 24));
    }
    c->lane[0] = a;
    c->lane[1] = b;
    c->lane[2] = d;
    c->lane[3] = e;
    return p;
}

void checksum_add(struct checksum *c, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    c->bytes += n;
    if (c->n_rest > 0) {
        const size_t part = n < CHECKSUM_BLOCK - c->n_rest ? n : CHECKSUM_BLOCK - c->n_rest;
        memcpy(c->rest + c->n_rest, p, part);
        c->n_rest += part;
        p += part;
        n -= part;
        if (c->n_rest < CHECKSUM_BLOCK)
            return;
        blocks_add(c, c->rest, 1);
    }
    p = blocks_add(c, p, n / CHECKSUM_BLOCK);
    c->n_rest = n % CHECKSUM_BLOCK;
    if (c->n_rest > 0)
        memcpy(c->rest, p, c->n_rest);
}

uint64_t checksum_end(const struct checksum *c)
{
    struct checksum last = *c;
    /* zeros fill the last block; the length, which is hashed too, tells them from content */
    memset(last.rest + last.n_rest, 0, sizeof last.rest - last.n_rest);
    blocks_add(&last, last.rest, 1);
    uint64_t sum = last.bytes;
    for (unsigned i = 0; i < CHECKSUM_LANES; i++)
        sum = lane_next(sum, last.lane[i]);
    return sum ^ sum >> 32;
}

uint64_t checksum_of(const void *bytes, size_t n)
{
    struct checksum c;
    checksum_begin(&c);
    checksum_add(&c, bytes, n);
    return checksum_end(&c);
}
