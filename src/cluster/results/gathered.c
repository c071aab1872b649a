/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/results/base_tables.h"

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
