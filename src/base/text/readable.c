/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/readable.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

char *readable_count(char out[READABLE_MOST], uint64_t n)
{
    char digits[24];
    const int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    char *o = out;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            *o++ = ',';
        *o++ = digits[i];
    }
    *o = 0;
    return out;
}

char *readable_runs(char out[READABLE_MOST], double runs)
{
    if (runs >= 999.5)
        return readable_count(out, (uint64_t)llround(runs));
    snprintf(out, READABLE_MOST, "%.4g", runs);
    return out;
}

char *readable_bytes(char out[READABLE_MOST], uint64_t bytes)
{
    static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double v = (double)bytes;
    size_t u = 0;
    for (; v >= 999.5 && u + 1 < sizeof unit / sizeof *unit;
         u++) /* at most three digits: 1000 KiB is shown as 1.0 MiB */
        v /= 1024;
    snprintf(out, READABLE_MOST, u > 0 && v < 9.95 ? "%.1f %s" : "%.0f %s", v, unit[u]);
    return out;
}

char *readable_duration(char out[READABLE_MOST], double ns)
{
    if (ns < 999.5) /* not "1000 ns", and not "1e+03 us" */
        snprintf(out, READABLE_MOST, "%.0f ns", ns);
    else if (ns < 999.5e3)
        snprintf(out, READABLE_MOST, "%.3g us", ns / 1e3);
    else if (ns < 1e9)
        snprintf(out, READABLE_MOST, "%.3f ms", ns / 1e6);
    else if (ns < 60e9)
        snprintf(out, READABLE_MOST, "%.3f s", ns / 1e9);
    else
        snprintf(out, READABLE_MOST, "%lld min %02d s", (long long)(ns / 60e9), (int)((int64_t)(ns / 1e9) % 60));
    return out;
}

char *readable_time(char out[READABLE_MOST], int64_t wall_ns)
{
    const time_t seconds = (time_t)(wall_ns / 1000000000);
    struct tm local;
    char date[24] = "?";
    if (localtime_r(&seconds, &local))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &local);
    snprintf(out, READABLE_MOST, "%s.%06lld", date, (long long)(wall_ns / 1000 % 1000000));
    return out;
}
