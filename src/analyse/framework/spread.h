/* SPDX-License-Identifier: Apache-2.0 */
/* spread.h - the median of durations, and the limit above which one is an outlier. */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_SPREAD_H
#define ASCOPE_ANALYSE_FRAMEWORK_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stamp.h"

/* An outlier is more than a tenth of the median above it, and more than five times as far from it as half of the
 * values are (the median absolute deviation: one wild value does not move it). Of fewer than three values none is an
 * outlier. */
struct spread {
    int64_t median_ns;
    int64_t far_ns; /* an outlier is further above the median than this */
};

bool spread_find(struct spread *s, const int64_t *value_ns, size_t n); /* values from 0 up; false: no memory */

static inline bool spread_is_outlier(const struct spread *s, int64_t value_ns)
{
    return value_ns > s->median_ns && value_ns - s->median_ns > s->far_ns;
}

/* end - begin, or 0 where the end is before the begin; stamps of damaged files do not overflow. */
static inline int64_t span_ns(int64_t begin_ns, int64_t end_ns)
{
    const uint64_t span = count_since(end_ns, begin_ns);
    return span < INT64_MAX / 8 ? (int64_t)span : INT64_MAX / 8;
}

#endif
