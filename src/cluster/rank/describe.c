/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank/summary_file.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory/sort.h"
#include "base/text/stamp.h"

/* A value, and how many are not above it. */
struct value_run {
    int64_t ns;
    uint64_t end;
};

bool durations_add(struct durations *d, int64_t ns, uint64_t times, struct arena *mem)
{
    const uint32_t at = keys_add(&d->value, (uint64_t)ns, mem);
    const bool is_new = at == d->count.n;
    if (at == KEYS_NO_MEMORY || (is_new && !list_add(&d->count, mem)))
        return false;
    if (is_new)
        d->count.at[at] = 0; /* the list may have been cleared */
    d->count.at[at] += times;
    return true;
}

void durations_clear(struct durations *d)
{
    keys_clear(&d->value);
    d->count.n = 0;
}

static int by_ns(const void *a, const void *b)
{
    const int64_t x = ((const struct value_run *)a)->ns, y = ((const struct value_run *)b)->ns;
    return (x > y) - (x < y);
}

static int64_t value_at(const struct value_run *run, size_t n, uint64_t at)
{
    return run[SEARCH_FIRST_NOT(i, 0, n - 1, run[i].end <= at)].ns;
}

static double quantile(const struct value_run *run, size_t n, double q)
{
    const double at = (double)(run[n - 1].end - 1) * q, floor_at = floor(at);
    const int64_t low = value_at(run, n, (uint64_t)floor_at);
    const int64_t high = at > floor_at ? value_at(run, n, (uint64_t)floor_at + 1) : low;
    return (double)low + (double)wrap_sub(high, low) * (at - floor_at);
}

static void describe(const struct value_run *run, size_t n, struct description *out)
{
    const uint64_t count = run[n - 1].end;
    __int128 sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (__int128)run[i].ns * (run[i].end - (i > 0 ? run[i - 1].end : 0));
    const long double mean = (long double)sum / (long double)count;
    long double squares = 0;
    for (size_t i = 0; i < n; i++) {
        const long double off = (long double)run[i].ns - mean;
        squares += off * off * (long double)(run[i].end - (i > 0 ? run[i - 1].end : 0));
    }
    *out = (struct description){
        .count = count,
        .mean = (double)mean,
        .std = count > 1 ? (double)sqrtl(squares / (long double)(count - 1)) : (double)NAN,
        .population_std = (double)sqrtl(squares / (long double)count),
        .min = (double)run[0].ns,
        .q1 = quantile(run, n, 0.25),
        .median = quantile(run, n, 0.5),
        .q3 = quantile(run, n, 0.75),
        .max = (double)run[n - 1].ns,
        .min_ns = run[0].ns,
        .max_ns = run[n - 1].ns,
        .sum = sum > INT64_MAX   ? INT64_MAX
               : sum < INT64_MIN ? INT64_MIN
                                 : (int64_t)sum,
    };
}

bool durations_describe(const struct durations *d, struct description *out)
{
    const size_t n = d->value.key.n;
    struct value_run *run = malloc(n * sizeof *run);
    if (!run)
        return false;
    for (size_t i = 0; i < n; i++)
        run[i] = (struct value_run){ (int64_t)d->value.key.at[i], d->count.at[i] };
    qsort(run, n, sizeof *run, by_ns);
    for (size_t i = 1; i < n; i++)
        run[i].end += run[i - 1].end;
    describe(run, n, out);
    free(run);
    return true;
}
