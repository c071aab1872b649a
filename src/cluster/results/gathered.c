/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/results/base_tables.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory/sort.h"

bool gathered_add(struct gathered *g, const struct rank_collectives *ops, size_t i, int64_t rank, uint32_t step,
                  uint32_t row)
{
    const uint32_t part[GATHERED_PARTS] = { ops->group[i], ops->name[i], step };
    const uint32_t op = tuple_add(&g->ops, part, GATHERED_PARTS, g->mem);
    struct gathered_use *const use = list_add(&g->uses, g->mem);
    if (op == KEYS_NO_MEMORY || !use)
        return false;
    *use = (struct gathered_use){ op, row, rank, ops->begin_ns[i], ops->end_ns[i] - ops->begin_ns[i] };
    return true;
}

bool gathered_sort(struct gathered *g)
{
    const size_t n = g->uses.n;
    uint32_t *const op = arena_take(g->mem, n, sizeof *op);
    g->order = arena_take(g->mem, n, sizeof *g->order);
    if (!op || !g->order)
        return false;
    for (size_t i = 0; i < n; i++)
        op[i] = g->uses.at[i].op;
    order_fill(g->order, n);
    const bool works = order_by_u32(g->order, n, op);
    arena_drop(g->mem, op);
    return works;
}

size_t gathered_end(const struct gathered *g, size_t from)
{
    size_t end = from + 1;
    while (end < g->uses.n && g->uses.at[g->order[end]].op == g->uses.at[g->order[from]].op)
        end++;
    return end;
}

void gathered_parts(const struct gathered *g, uint32_t op, uint32_t part[GATHERED_PARTS])
{
    tuple_parts(&g->ops, op, part, GATHERED_PARTS);
}

int64_t collective_launch_ns(const struct rank_summary *s, size_t i)
{
    return s->has & RANK_CALLS ? s->collectives.ops.launch_ns[i] : s->collectives.ops.begin_ns[i];
}

bool is_send_or_receive(const struct names *names, name_id op)
{
    const char *const text = names_text(names, op);
    return strstr(text, "send") || strstr(text, "receive");
}

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
