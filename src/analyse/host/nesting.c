/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/host/nesting.h"

#include "base/arena.h"
#include "base/sort.h"

static const uint64_t SIGN = UINT64_C(1) << 63;

static bool order_by_begin(uint32_t *order, size_t n, const int64_t *begin_ns, uint64_t *key)
{
    for (size_t i = 0; i < n; i++)
        key[i] = (uint64_t)begin_ns[i] ^ SIGN;
    return order_by_u64(order, n, key);
}

static bool order_by_length(uint32_t *order, size_t n, const int64_t *begin_ns, const int64_t *end_ns, uint64_t *key)
{
    for (size_t i = 0; i < n; i++)
        key[i] = end_ns[i] > begin_ns[i] ? n - i : i;
    if (!order_by_u64(order, n, key))
        return false;
    for (size_t i = 0; i < n; i++)
        key[i] = ~((uint64_t)end_ns[i] ^ SIGN);
    return order_by_u64(order, n, key);
}

bool nesting_order(uint32_t *order, size_t n, const int64_t *begin_ns, const int64_t *end_ns)
{
    struct arena *mem = arena_new();
    uint64_t *key = mem ? arena_take(mem, n, sizeof *key) : NULL;
    order_fill(order, n);
    bool done = key && order_by_begin(order, n, begin_ns, key);
    size_t i = 1;
    while (done && i < n && begin_ns[order[i]] != begin_ns[order[i - 1]])
        i++;
    if (done && i < n) { /* few begin together: what follows is rarely needed */
        order_fill(order, n);
        done = order_by_length(order, n, begin_ns, end_ns, key) && order_by_begin(order, n, begin_ns, key);
    }
    arena_free(mem);
    return done;
}
