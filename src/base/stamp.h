/* SPDX-License-Identifier: Apache-2.0 */
/* stamp.h - times that come from files, which may hold any 64 bits.
 *
 * A stamp, or a distance of two counts, is held within 2^62 ns, 146 years: so much that no true one is touched, and so little that the
 * distance of any two stamps, and a stamp and a distance, are numbers that an int64_t holds. Damaged ones stay where they are, far away.
 * Sums of many can still be any number: they wrap, and are never undefined.
 */
#ifndef ASCOPE_BASE_STAMP_H
#define ASCOPE_BASE_STAMP_H

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

static inline int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t wrap_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

#endif
