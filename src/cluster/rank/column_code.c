/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank/summary_file.h"

#include <math.h>

#include "base/text/stamp.h"

/* What a number is the difference to. */
enum { FROM_BEFORE = 1 << 0, FROM_BESIDE = 1 << 1, PREDICTORS = 1 << 2, HAS_NONE = 1 << 2, FLAGS = 1 << 3 };

struct code {
    unsigned flags;
    uint64_t unit; /* at least 1 */
    int64_t base;  /* before the first number, with FROM_BEFORE */
    unsigned width;
};

static uint64_t zigzag(int64_t v)
{
    return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static int64_t unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

void put_varint(struct out *o, uint64_t v)
{
    uint8_t bytes[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        bytes[n++] = (uint8_t)(v | 0x80);
    bytes[n++] = (uint8_t)v;
    out_short(o, bytes, n);
}

void put_signed(struct out *o, int64_t v)
{
    put_varint(o, zigzag(v));
}

bool take_varint(struct bytes *in, uint64_t *v)
{
    *v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t *p = bytes_take(in, 1);
        if (!p)
            return false;
        *v |= (uint64_t)(*p & 0x7F) << shift;
        if (!(*p & 0x80))
            return true;
    }
    return false;
}

static int64_t above_beside(const struct code *c, int64_t v, const int64_t *beside, size_t i)
{
    return c->flags & FROM_BESIDE ? wrap_sub(v, beside[i]) : v;
}

/* Difference of a number; `before` moves on. */
static int64_t difference(const struct code *c, int64_t v, const int64_t *beside, size_t i, int64_t *before)
{
    const int64_t above = above_beside(c, v, beside, i), d = c->flags & FROM_BEFORE ? wrap_sub(above, *before) : above;
    *before = above;
    return d;
}

static uint64_t common_unit(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool is_none(const struct code *c, int64_t v)
{
    return c->flags & HAS_NONE && v == INT64_MIN;
}

static uint64_t encode(const struct code *c, int64_t d)
{
    return zigzag(d / (int64_t)c->unit) + (c->flags & HAS_NONE ? 1 : 0);
}

/* Unit, base and width for these flags. Returns how many bits the numbers have, more or less; UINT64_MAX: they do not
 * fit. */
static uint64_t code_fit(struct code *c, const int64_t *v, size_t n, const int64_t *beside)
{
    uint64_t unit = 0, most = 0, bits = 0;
    int64_t before = 0;
    bool is_first = true;
    for (size_t i = 0; i < n; i++) {
        if (is_none(c, v[i]))
            continue;
        if (is_first)
            c->base = before = c->flags & FROM_BEFORE ? above_beside(c, v[i], beside, i) : 0;
        is_first = false;
        const int64_t d = difference(c, v[i], beside, i, &before);
        const uint64_t size = d < 0 ? 0 - (uint64_t)d : (uint64_t)d;
        if (size > INT64_MAX)
            return UINT64_MAX;
        unit = unit == 1 ? 1 : common_unit(size, unit);
        most = size > most ? size : most;
    }
    c->unit = unit > 0 ? unit : 1;
    before = c->base;
    for (size_t i = 0; i < n; i++)
        if (!is_none(c, v[i])) {
            const uint64_t z = encode(c, difference(c, v[i], beside, i, &before));
            bits += z > 0 ? 64 - (uint64_t)__builtin_clzll(z) : 0;
        }
    const uint64_t z = 2 * (most / c->unit) + 1;
    c->width = (71 - (unsigned)__builtin_clzll(z)) / 8;
    return bits;
}

static struct code code_choose(const int64_t *v, size_t n, const int64_t *beside)
{
    struct code best = { 0 };
    uint64_t least = UINT64_MAX;
    unsigned none = 0;
    for (size_t i = 0; i < n && !none; i++)
        none = v[i] == INT64_MIN ? HAS_NONE : 0;
    for (unsigned p = 0; p < PREDICTORS; p++) {
        struct code c = { .flags = p | none };
        const uint64_t bits = p & FROM_BESIDE && !beside ? UINT64_MAX : code_fit(&c, v, n, beside);
        if (bits < least) {
            least = bits;
            best = c;
        }
    }
    return least < UINT64_MAX ? best : (struct code){ .unit = 1, .width = 8 };
}

void put_numbers(struct out *o, const int64_t *v, size_t n, const int64_t *beside)
{
    const struct code c = code_choose(v, n, beside);
    int64_t before = c.base;
    out_char(o, (char)c.flags);
    out_char(o, (char)c.width);
    put_varint(o, c.unit);
    put_signed(o, c.base);
    out_room(o, n * c.width);
    if (o->failed_errno)
        return;
    uint8_t *plane = (uint8_t *)o->buf + o->n;
    for (size_t i = 0; i < n; i++) {
        const uint64_t z = is_none(&c, v[i]) ? 0 : encode(&c, difference(&c, v[i], beside, i, &before));
        for (unsigned k = 0; k < c.width; k++)
            plane[k * n + i] = (uint8_t)(z >> 8 * k);
    }
    o->n += n * c.width;
}

static bool take_code(struct bytes *in, struct code *c, bool has_beside)
{
    const uint8_t *p = bytes_take(in, 2);
    uint64_t base;
    if (!p || p[0] >= FLAGS || p[1] < 1 || p[1] > 8 || (p[0] & FROM_BESIDE && !has_beside))
        return false;
    *c = (struct code){ .flags = p[0], .width = p[1] };
    if (!take_varint(in, &c->unit) || !take_varint(in, &base))
        return false;
    c->base = unzigzag(base);
    return true;
}

bool take_numbers(struct bytes *in, int64_t *v, size_t n, const int64_t *beside)
{
    struct code c;
    if (!take_code(in, &c, beside != NULL) || n > (in->size - in->at) / c.width)
        return false;
    const uint8_t *plane = bytes_take(in, n * c.width);
    const bool has_none = c.flags & HAS_NONE;
    int64_t before = c.base;
    for (size_t i = 0; i < n; i++) {
        uint64_t z = 0;
        for (unsigned k = 0; k < c.width; k++)
            z |= (uint64_t)plane[k * n + i] << 8 * k;
        if (has_none && z == 0) {
            v[i] = INT64_MIN;
            continue;
        }
        const int64_t d = (int64_t)((uint64_t)unzigzag(z - (has_none ? 1 : 0)) * c.unit);
        before = c.flags & FROM_BEFORE ? wrap_add(before, d) : d;
        v[i] = c.flags & FROM_BESIDE ? wrap_add(before, beside[i]) : before;
    }
    return true;
}

static const double power[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9 };
enum { POWERS = sizeof power / sizeof *power };

/* The nearest decimal, and how many doubles it is off; what has none: its bits. */
static void split_real(double v, double unit, int64_t *whole, int64_t *off)
{
    const double product = nearbyint(v * unit);
    memcpy(off, &v, sizeof v);
    *whole = INT64_MIN;
    if (!(fabs(product) < 1e17) || (v == 0 && signbit(v)))
        return;
    *whole = (int64_t)product;
    const double near = (double)*whole / unit; /* not of the product, which may be -0 */
    int64_t bits;
    memcpy(&bits, &near, sizeof near);
    *off = wrap_sub(*off, bits);
}

/* How many numbers of a column are decimals of this unit, but for the last bits. */
static size_t count_decimals(const double *v, size_t n, double unit)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t whole, off;
        split_real(v[i], unit, &whole, &off);
        count += whole == INT64_MIN || (off >= -64 && off <= 64);
    }
    return count;
}

void put_reals(struct out *o, const double *v, size_t n, int64_t *scratch)
{
    size_t best = 0, most = 0;
    for (size_t i = 0; i < POWERS && (i == 0 || most < n); i++) {
        const size_t count = count_decimals(v, n, power[i]);
        if (i == 0 || count > most) {
            best = i;
            most = count;
        }
    }
    for (size_t i = 0; i < n; i++)
        split_real(v[i], power[best], &scratch[i], &scratch[n + i]);
    out_char(o, (char)best);
    put_numbers(o, scratch, n, NULL);
    put_numbers(o, scratch + n, n, NULL);
}

bool take_reals(struct bytes *in, double *v, size_t n, int64_t *scratch)
{
    const uint8_t *p = bytes_take(in, 1);
    if (!p || *p >= POWERS || !take_numbers(in, scratch, n, NULL) || !take_numbers(in, scratch + n, n, NULL))
        return false;
    for (size_t i = 0; i < n; i++) {
        const double near = scratch[i] == INT64_MIN ? 0 : (double)scratch[i] / power[*p];
        int64_t bits;
        memcpy(&bits, &near, sizeof near);
        bits = wrap_add(bits, scratch[n + i]);
        memcpy(&v[i], &bits, sizeof bits);
    }
    return true;
}
