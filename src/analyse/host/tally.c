/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/host/host_analysis.h"

#include "base/memory/sort.h"

static void tally_add(struct host_tally *t, uint64_t v)
{
    t->n++;
    if (__builtin_add_overflow(t->sum, v, &t->sum))
        t->sum = UINT64_MAX;
    t->least = t->n == 1 || v < t->least ? v : t->least;
    t->most = v > t->most ? v : t->most;
}

bool tally_up(struct tallies *out, uint32_t *row, size_t n, const uint32_t *a, const uint32_t *b, const uint64_t *value,
              struct arena *mem)
{
    LIST(struct host_tally) found = { 0 };
    if ((b && !order_by_u32(row, n, b)) || !order_by_u32(row, n, a))
        return false;
    struct host_tally *last = NULL;
    for (size_t i = 0; i < n; i++) {
        const uint32_t r = row[i], second = b ? b[r] : 0;
        if (!last || last->a != a[r] || last->b != second) {
            last = list_add(&found, mem);
            if (!last)
                return false;
            *last = (struct host_tally){ .a = a[r], .b = second };
        }
        tally_add(last, value ? value[r] : 0);
    }
    *out = (struct tallies){ found.n, found.at };
    return true;
}
