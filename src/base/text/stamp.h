/* SPDX-License-Identifier: Apache-2.0 */
/* stamp.h - times from files, which may hold any 64 bits.
 *
 * A stamp, or the difference of two counts, is limited to 2^62 ns, 146 years: no real one is affected, and the
 * difference of any two stamps, and the sum of a stamp and a difference, fit an int64_t. Damaged ones stay far away
 * from all others. Sums of many may exceed that: they wrap, and are never undefined.
 */
#ifndef ASCOPE_BASE_TEXT_STAMP_H
#define ASCOPE_BASE_TEXT_STAMP_H

#include <stdint.h>

#define STAMP_MOST ((INT64_C(1) << 62) - 1)

static inline int64_t stamp_held(__int128 ns)
{
    return ns > STAMP_MOST ? STAMP_MOST : ns < -STAMP_MOST ? -STAMP_MOST : (int64_t)ns;
}

static inline int64_t stamp_add(int64_t a, int64_t b)
{
    return stamp_held((__int128)a + b);
}

/* How much later `at` is than `before`, of any two counts; 0: it is not later. */
static inline uint64_t count_since(int64_t at, int64_t before)
{
    return at > before ? (uint64_t)at - (uint64_t)before : 0;
}

/* end - begin, or 0 where the end is before the begin; stamps of damaged files do not overflow, and sums of some do
 * not. */
static inline int64_t span_ns(int64_t begin_ns, int64_t end_ns)
{
    const uint64_t span = count_since(end_ns, begin_ns);
    return span < INT64_MAX / 8 ? (int64_t)span : INT64_MAX / 8;
}

static inline int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t wrap_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

#endif
