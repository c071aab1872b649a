/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/spread.h"

#include <assert.h>
#include <stdlib.h>

#include "base/sort.h"

static bool median_of(const uint64_t *value, size_t n, uint32_t *order, int64_t *out)
{
    assert(n > 0);
    order_fill(order, n);
    if (!order_by_u64(order, n, value))
        return false;
    const int64_t low = (int64_t)value[order[(n - 1) / 2]], high = (int64_t)value[order[n / 2]];
    *out = low + (high - low) / 2;
    return true;
}

bool spread_find(struct spread *s, const int64_t *value_ns, size_t n)
{
    enum { FEWEST = 3, FAR = 5, FAR_PART = 10 };
    *s = (struct spread){ .far_ns = INT64_MAX };
    if (n == 0)
        return true;
    uint64_t *value = calloc(n, sizeof *value);
    uint32_t *order = calloc(n, sizeof *order);
    bool done = value && order;
    for (size_t i = 0; done && i < n; i++)
        value[i] = (uint64_t)value_ns[i];
    int64_t off = 0;
    done = done && median_of(value, n, order, &s->median_ns);
    for (size_t i = 0; done && i < n; i++)
        value[i] = (uint64_t)(value_ns[i] > s->median_ns ? value_ns[i] - s->median_ns : s->median_ns - value_ns[i]);
    done = done && median_of(value, n, order, &off);
    if (done && n >= FEWEST) {
        const int64_t by_spread = off < INT64_MAX / FAR ? FAR * off : INT64_MAX, by_size = s->median_ns / FAR_PART;
        s->far_ns = by_spread > by_size ? by_spread : by_size;
    }
    free(value);
    free(order);
    return done;
}
