/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/host/host_analysis.h"

#include "base/memory/arena.h"
#include "base/memory/sort.h"

static const uint64_t SIGN = UINT64_C(1) << 63;
enum { FEW = 16 };

struct nesting_intervals {
    const int64_t *begin_ns, *end_ns;
};

/* Whether a precedes b, if both begin together: the longer one precedes; of equally long ones, the one that was
 * recorded later; of spans without duration, the one that was recorded earlier. */
static bool is_before(const struct nesting_intervals *v, uint32_t a, uint32_t b)
{
    if (v->end_ns[a] != v->end_ns[b])
        return v->end_ns[a] > v->end_ns[b];
    return v->end_ns[a] > v->begin_ns[a] ? a > b : a < b;
}

/* Rows that begin together. `key` is by row. */
static bool run_sort(const struct nesting_intervals *v, uint32_t *row, size_t n, uint64_t *key)
{
    if (n > FEW) {
        for (size_t i = 0; i < n; i++)
            key[row[i]] = v->end_ns[row[i]] > v->begin_ns[row[i]] ? ~row[i] : row[i];
        if (!order_by_u64(row, n, key))
            return false;
        for (size_t i = 0; i < n; i++)
            key[row[i]] = ~((uint64_t)v->end_ns[row[i]] ^ SIGN);
        return order_by_u64(row, n, key);
    }
    for (size_t i = 1; i < n; i++) {
        const uint32_t one = row[i];
        size_t at = i;
        for (; at > 0 && is_before(v, one, row[at - 1]); at--)
            row[at] = row[at - 1];
        row[at] = one;
    }
    return true;
}

bool nesting_order(uint32_t *order, size_t n, const int64_t *begin_ns, const int64_t *end_ns)
{
    const struct nesting_intervals v = { begin_ns, end_ns };
    struct arena *mem = arena_new();
    uint64_t *key = mem ? arena_take(mem, n, sizeof *key) : NULL;
    order_fill(order, n);
    for (size_t i = 0; key && i < n; i++)
        key[i] = (uint64_t)begin_ns[i] ^ SIGN;
    bool done = key && order_by_u64(order, n, key);
    for (size_t i = 0, end; done && i < n; i = end) {
        for (end = i + 1; end < n && begin_ns[order[end]] == begin_ns[order[i]];)
            end++;
        done = end - i == 1 || run_sort(&v, order + i, end - i, key);
    }
    arena_free(mem);
    return done;
}
