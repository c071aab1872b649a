/* SPDX-License-Identifier: Apache-2.0 */
/* dice.h - numbers that look random and are the same every time.
 *
 * Splitmix64: one add and two multiplications a number, any 64-bit seed will do, and seeds that are near each other
 * give unrelated numbers. Not for secrets.
 */
#ifndef ASCOPE_SIM_JOB_DICE_H
#define ASCOPE_SIM_JOB_DICE_H

#include <stdbool.h>
#include <stdint.h>

struct dice {
    uint64_t state;
};

static inline uint64_t dice_next(struct dice *d)
{
    uint64_t z = d->state += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
}

/* 0 .. n-1; n is not 0. The high half of a product: no division, and even enough for simulated data. */
static inline uint32_t dice_below(struct dice *d, uint32_t n)
{
    return (uint32_t)((dice_next(d) >> 32) * n >> 32);
}

static inline uint32_t dice_between(struct dice *d, uint32_t low, uint32_t high) /* both included */
{
    return low + dice_below(d, high - low + 1);
}

static inline bool dice_one_in(struct dice *d, uint32_t n)
{
    return dice_below(d, n) == 0;
}

/* Separate dice for a part of the work, so that the numbers of one part do not depend on how many another part uses. */
static inline struct dice dice_for(uint64_t seed, uint64_t part)
{
    struct dice d = { seed ^ part * 0xD6E8FEB86659FD93 };
    dice_next(&d);
    return d;
}

#endif
