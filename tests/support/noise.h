/* SPDX-License-Identifier: Apache-2.0 */
/* noise.h - random numbers that are the same in each run of a test. */
#ifndef ASCOPE_TESTS_NOISE_H
#define ASCOPE_TESTS_NOISE_H

#include <math.h>
#include <stdint.h>

static uint64_t seed;

static double uniform(void) /* splitmix64 */
{
    uint64_t z = seed += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform() + 1e-300)) * cos(6.283185307179586 * uniform());
}

#endif
