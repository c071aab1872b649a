/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process/clock.h"

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

bool ticks_from_mhz(struct ticks *t, const char *mhz)
{
    uint64_t value = 0, scale = 1;
    bool point = false, digit = false;
    for (; *mhz; mhz++) {
        if (*mhz == '.' && !point) {
            point = true;
            continue;
        }
        if (*mhz < '0' || *mhz > '9')
            return false;
        digit = true;
        if (value > 100000000000u || scale >= 1000000000u) { /* 100 GHz and a millihertz are far enough */
            if (!point)
                return false;
            continue;
        }
        value = value * 10 + (uint64_t)(*mhz - '0');
        if (point)
            scale *= 10;
    }
    if (!digit || value == 0)
        return false;
    const uint64_t num = 1000 * scale, common = gcd(num, value);
    *t = (struct ticks){ num / common, value / common };
    return true;
}
