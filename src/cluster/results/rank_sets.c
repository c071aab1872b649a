/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/results/base_tables.h"

#include <string.h>

#include "base/memory/sort.h"

bool rank_sets_init(struct rank_sets *s, const struct groups *g)
{
    struct keys seen = { 0 };
    *s = (struct rank_sets){ .groups = g, .of_group = arena_take(g->mem, g->list.n + 1, sizeof *s->of_group) };
    if (!s->of_group)
        return false;
    for (size_t i = 0; i < g->list.n; i++) {
        const size_t n = g->list.at[i].seen.n;
        const char *text = ranks_text(set_order(g->list.at[i].seen.at, n, g->mem), n, true, g->mem);
        const uint32_t at = text ? keys_add(&seen, names_addz(g->names, text), g->mem) : KEYS_NO_MEMORY;
        if (at == KEYS_NO_MEMORY)
            return false;
        s->of_group[i] = at;
        const char **slot = at == s->text.n ? list_add(&s->text, g->mem) : &s->text.at[at];
        if (!slot)
            return false;
        *slot = text;
    }
    return true;
}

uint32_t rank_set_of(const struct rank_sets *s, name_id group, bool is_p2p)
{
    const uint32_t at = keys_find(&s->groups->key, (uint64_t)group << 1 | is_p2p);
    return at == KEYS_NONE ? 0 : s->of_group[at];
}

bool set_entries_add(struct set_entries *e, const struct set_entry *new)
{
    uint32_t **const column[] = { &e->set, &e->step, &e->op, &e->step_name, &e->op_name, &e->group, &e->rank, &e->row };
    if (e->n == e->cap) {
        const size_t more = e->cap ? e->cap * 2 : 256;
        for (size_t i = 0; i < sizeof column / sizeof *column; i++) {
            uint32_t *bigger = arena_take(e->mem, more, sizeof *bigger);
            if (!bigger)
                return false;
            if (e->n > 0)
                memcpy(bigger, *column[i], e->n * sizeof *bigger);
            arena_drop(e->mem, *column[i]);
            *column[i] = bigger;
        }
        e->cap = more;
    }
    const uint32_t step = keys_add(&e->steps, new->step, e->mem);
    const uint32_t op = keys_add(&e->ops[new->is_total], (uint64_t) new->op << 32 | new->group, e->mem);
    if (step == KEYS_NO_MEMORY || op == KEYS_NO_MEMORY)
        return false;
    const size_t i = e->n++;
    e->set[i] = new->set;
    e->step[i] = step;
    e->op[i] = op | (uint32_t) new->is_total << 31;
    e->step_name[i] = new->step;
    e->op_name[i] = new->op;
    e->group[i] = new->group;
    e->rank[i] = new->rank;
    e->row[i] = new->row;
    return true;
}

static void put_key(struct out *o, const char *text, size_t len, bool is_first)
{
    if (!is_first)
        out_lit(o, ", ");
    out_json(o, text, len);
    out_lit(o, ": {");
}

static void put_op_key(const struct set_entries *e, const struct names *names, uint32_t i, bool is_first, struct out *o)
{
    if (!is_first)
        out_lit(o, ", ");
    out_char(o, '"');
    out_json_inner(o, names_text(names, e->op_name[i]), names_len(names, e->op_name[i]));
    out_char(o, '@');
    out_json_inner(o, names_text(names, e->group[i]), names_len(names, e->group[i]));
    out_lit(o, "\": {");
}

bool sets_write(const struct rank_sets *s, const struct set_entries *e, struct out *o, sets_put *put,
                const void *context)
{
    const struct names *names = s->groups->names;
    uint32_t *order = arena_take(e->mem, e->n + 1, sizeof *order);
    if (!order)
        return false;
    order_fill(order, e->n);
    if (!order_by_u32(order, e->n, e->op) || !order_by_u32(order, e->n, e->step) || !order_by_u32(order, e->n, e->set))
        return false;
    out_char(o, '{');
    for (size_t i = 0; i < e->n;) {
        const uint32_t at = order[i], set = e->set[at], step = e->step[at], op = e->op[at];
        const bool new_set = i == 0 || e->set[order[i - 1]] != set, new_step = new_set || e->step[order[i - 1]] != step;
        if (i > 0 && new_step)
            out_char(o, '}');
        if (i > 0 && new_set)
            out_char(o, '}');
        if (new_set)
            put_key(o, s->text.at[set], strlen(s->text.at[set]), i == 0);
        if (new_step)
            put_key(o, names_text(names, e->step_name[at]), names_len(names, e->step_name[at]), new_set);
        put_op_key(e, names, at, new_step, o);
        size_t n = 1;
        while (i + n < e->n && e->set[order[i + n]] == set && e->step[order[i + n]] == step &&
               e->op[order[i + n]] == op)
            n++;
        put(context, e, order + i, n, o);
        out_char(o, '}');
        i += n;
    }
    if (e->n > 0)
        out_lit(o, "}}");
    out_char(o, '}');
    return true;
}
