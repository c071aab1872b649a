/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/results/base_tables.h"

#include <stdbool.h>

/* As CPython 3.7 to 3.13 has them. */
enum { LEAST_SLOTS = 8, NEIGHBOURS = 9, PERTURB_SHIFT = 5 };

struct slots {
    size_t n; /* a power of two */
    int64_t *rank;
    bool *is_used;
};

static bool slots_take(struct slots *s, size_t n, struct arena *mem)
{
    *s = (struct slots){ n, arena_take(mem, n, sizeof *s->rank), arena_take(mem, n, sizeof *s->is_used) };
    return s->rank && s->is_used;
}

/* The place of a number is the number, then the nine behind it if all of them are within the table, then one that it
 * computes. */
static void set_order_put(struct slots *s, int64_t rank)
{
    uint64_t perturb = (uint64_t)rank;
    for (size_t i = (size_t)perturb & (s->n - 1);;) {
        const size_t more = i + NEIGHBOURS <= s->n - 1 ? NEIGHBOURS : 0;
        for (size_t k = i; k <= i + more; k++) {
            if (s->is_used[k])
                continue;
            s->is_used[k] = true;
            s->rank[k] = rank;
            return;
        }
        perturb >>= PERTURB_SHIFT;
        i = (i * 5 + 1 + (size_t)perturb) & (s->n - 1);
    }
}

/* From three fifths on a table gets four times as many places as it holds, and its entries move in their order. */
static bool grow(struct slots *s, size_t n_held, struct arena *mem)
{
    struct slots larger;
    size_t n = LEAST_SLOTS;
    while (n <= (n_held > 50000 ? 2 : 4) * n_held)
        n *= 2;
    if (!slots_take(&larger, n, mem))
        return false;
    for (size_t i = 0; i < s->n; i++)
        if (s->is_used[i])
            set_order_put(&larger, s->rank[i]);
    *s = larger;
    return true;
}

const int64_t *set_order(const int64_t *rank, size_t n, struct arena *mem)
{
    struct slots s;
    int64_t *out = arena_take(mem, n, sizeof *out);
    if (!out || !slots_take(&s, LEAST_SLOTS, mem))
        return rank;
    for (size_t i = 0; i < n; i++) {
        set_order_put(&s, rank[i]);
        if ((i + 1) * 5 >= (s.n - 1) * 3 && !grow(&s, i + 1, mem))
            return rank;
    }
    size_t n_out = 0;
    for (size_t i = 0; i < s.n; i++)
        if (s.is_used[i])
            out[n_out++] = s.rank[i];
    return out;
}
