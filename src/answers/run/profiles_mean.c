/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/profiles_mean.h"

#include <stdlib.h>

static int by_kind_and_name(const void *a, const void *b)
{
    return spent_compare(a, b);
}

bool profiles_mean(struct step_profile *out, const struct weighted_profile *part, size_t n, struct arena *mem)
{
    size_t most = 0, last = 0;
    for (size_t i = 0; i < n; i++)
        most += part[i].of->n;
    struct step_profile sum = { .at = arena_take(mem, most, sizeof *sum.at) };
    if (!sum.at)
        return false;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < part[i].of->n; k++) {
            struct spent *x = &sum.at[sum.n++];
            *x = part[i].of->at[k];
            x->ns *= part[i].weight;
            x->runs *= part[i].weight;
        }
        sum.time_ns += part[i].of->time_ns * part[i].weight;
    }
    if (sum.n > 0)
        qsort(sum.at, sum.n, sizeof *sum.at, by_kind_and_name);
    for (size_t i = 1; i < sum.n; i++) {
        struct spent *to = &sum.at[last];
        const struct spent *x = &sum.at[i];
        if (spent_compare(to, x) != 0) {
            sum.at[++last] = *x;
            continue;
        }
        to->mhz = to->ns + x->ns > 0 ? (to->mhz * to->ns + x->mhz * x->ns) / (to->ns + x->ns) : 0;
        to->place = x->place.dur_ns > to->place.dur_ns ? x->place : to->place;
        to->ns += x->ns;
        to->runs += x->runs;
    }
    sum.n = sum.n > 0 ? last + 1 : 0;
    *out = sum;
    return true;
}
