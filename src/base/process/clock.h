/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - conversion of hardware counters to nanoseconds, exactly.
 *
 * Frequencies are decimal texts in MHz ("50.000000", "48.5"), so that a tick is an exact fraction of a nanosecond:
 * num/den. Differences are multiplied in 128 bits where 64 are not enough; only the last step rounds, by dropping the
 * fraction.
 */
#ifndef ASCOPE_BASE_PROCESS_CLOCK_H
#define ASCOPE_BASE_PROCESS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/stamp.h"

struct ticks {
    uint64_t num, den; /* one tick is num/den ns */
};

/* False when the text is no number above zero. */
bool ticks_from_mhz(struct ticks *t, const char *mhz);

/* floor(n * num / den) for a signed distance. */
static inline int64_t ticks_to_ns(struct ticks t, int64_t n)
{
    int64_t small;
    if (t.den <= INT64_MAX && !__builtin_mul_overflow(n, t.num, &small)) { /* nearly always */
        const int64_t q = small / (int64_t)t.den;
        return stamp_held(q - (small % (int64_t)t.den < 0));
    }
    const __int128 scaled = (__int128)n * (__int128)t.num, den = (__int128)t.den;
    __int128 q = scaled / den;
    if (scaled % den != 0 && scaled < 0)
        q--;
    return stamp_held(q);
}

/* With its fraction. A damaged stamp may give any distance: none is longer than 2^62 ns, which a signed count of ns
 * holds. */
static inline double ticks_to_ns_exact(struct ticks t, uint64_t n)
{
    uint64_t ns;
    if (t.den == 1 && !__builtin_mul_overflow(n, t.num, &ns) && ns < (uint64_t)1 << 62)
        return (double)ns;
    const __int128 scaled = (__int128)n * (__int128)t.num, whole = scaled / (__int128)t.den;
    if (whole >= (__int128)1 << 62)
        return 0x1p62;
    return (double)whole + (double)(scaled % (__int128)t.den) / (double)t.den;
}

/* A counter against a time line: at `cnt` it was `ns`. */
struct clock {
    struct ticks tick;
    uint64_t cnt;
    int64_t ns;
};

static inline int64_t clock_ns(const struct clock *c, uint64_t cnt)
{
    return stamp_add(c->ns, ticks_to_ns(c->tick, (int64_t)(cnt - c->cnt)));
}

#endif
