/* SPDX-License-Identifier: Apache-2.0 */
/* mode_hccl_sum.c - durations of collectives by type, over all ranks and on each, the longest ones, and who is in which
 * group. */
#include "cluster/modes.h"

#include <stdlib.h>

#include "base/files/out.h"
#include "base/text/stamp.h"
#include "cluster/results/recipe.h"

enum { DEFAULT_TOP = 15 };

static const struct result_column all_columns[] = { COLUMN("OpType", "TEXT"), DESCRIBE_COLUMNS };
static const struct result_column rank_columns[] = { COLUMN("OpType", "TEXT"), DESCRIBE_COLUMNS,
                                                     COLUMN("Rank", "INTEGER") };
static const struct result_column top_columns[] = { COLUMN("OpName", "TEXT"), DESCRIBE_COLUMNS,
                                                    COLUMN("MinRank", "INTEGER"), COLUMN("MaxRank", "INTEGER") };
static const struct result_column group_columns[] = { COLUMN("GroupName", "TEXT"), COLUMN("GroupId", "TEXT"),
                                                      COLUMN("Ranks", "TEXT") };
enum { RANK_CELLS = sizeof rank_columns / sizeof *rank_columns, TOP_CELLS = sizeof top_columns / sizeof *top_columns };

/* Durations by a name. */
struct by_name {
    struct keys keys;
    LIST(struct durations) durations;
};

struct op {
    uint64_t n;
    int64_t sum_ns, min_ns, max_ns, min_rank, max_rank;
};

struct hccl_sum_use {
    uint32_t op;
    int64_t ns;
};

struct members {
    LIST(int64_t) ranks;
};

struct hccl_sum_state {
    struct by_name types;
    struct grid of_ranks;
    struct keys ops; /* names */
    LIST(struct op) op;
    LIST(struct hccl_sum_use) uses; /* of all of them */
    struct keys groups;
    LIST(struct members) members;
};

static void *hccl_sum_begin(struct mode_context *c)
{
    struct hccl_sum_state *s = arena_take(c->mem, 1, sizeof *s);
    if (s)
        s->of_ranks = (struct grid){ .n_columns = RANK_CELLS, .mem = c->mem };
    return s;
}

static bool add_duration(struct by_name *b, name_id name, int64_t ns, struct arena *mem)
{
    const uint32_t at = keys_add(&b->keys, name, mem);
    if (at == KEYS_NO_MEMORY || (at == b->durations.n && !list_add(&b->durations, mem)))
        return false;
    return durations_add(&b->durations.at[at], ns, 1, mem);
}

static bool add_op(struct hccl_sum_state *s, name_id name, int64_t ns, int64_t rank, struct arena *mem)
{
    const uint32_t at = keys_add(&s->ops, name, mem);
    struct hccl_sum_use *const use = list_add(&s->uses, mem);
    if (at == KEYS_NO_MEMORY || !use || (at == s->op.n && !list_add(&s->op, mem)))
        return false;
    *use = (struct hccl_sum_use){ at, ns };
    struct op *const op = &s->op.at[at];
    if (op->n == 0 || ns < op->min_ns) {
        op->min_ns = ns;
        op->min_rank = rank;
    }
    if (op->n == 0 || ns > op->max_ns) {
        op->max_ns = ns;
        op->max_rank = rank;
    }
    op->n++;
    op->sum_ns = wrap_add(op->sum_ns, ns);
    return true;
}

static bool add_member(struct hccl_sum_state *s, name_id group, int64_t rank, struct arena *mem)
{
    const uint32_t at = keys_add(&s->groups, group, mem);
    if (at == KEYS_NO_MEMORY || (at == s->members.n && !list_add(&s->members, mem)))
        return false;
    struct members *const m = &s->members.at[at];
    if (m->ranks.n > 0 && m->ranks.at[m->ranks.n - 1] == rank)
        return true;
    int64_t *const new = list_add(&m->ranks, mem);
    if (new)
        *new = rank;
    return new != NULL;
}

static bool rows_of(struct grid *g, const struct by_name *b, const int64_t *rank)
{
    for (size_t i = 0; i < b->durations.n; i++) {
        struct description d;
        if (!durations_describe(&b->durations.at[i], &d))
            return false;
        struct cell row[RANK_CELLS] = { cell_name((name_id)b->keys.key.at[i]) };
        describe_cells(row + 1, &d);
        if (rank)
            row[1 + DESCRIBE_CELLS] = cell_int(*rank);
        grid_row(g, row);
    }
    return !arena_failed(g->mem);
}

static bool hccl_sum_add(void *state, struct mode_context *c, const struct rank_summary *r)
{
    struct hccl_sum_state *const s = state;
    struct arena *const scratch = c->scratch;
    const struct rank_collectives *const ops = &r->collectives.ops;
    const struct chosen_step step = step_choose(c->options, &r->steps);
    struct by_name of_rank = { 0 };
    for (size_t i = 0; i < ops->n; i++) {
        const int64_t ns = ops->end_ns[i] - ops->begin_ns[i];
        if (!step_has_time(&step, ops->begin_ns[i]))
            continue;
        if (!add_duration(&s->types, ops->type[i], ns, c->mem) || !add_duration(&of_rank, ops->type[i], ns, scratch) ||
            !add_op(s, ops->name[i], ns, r->identity.rank, c->mem) ||
            !add_member(s, ops->group[i], r->identity.rank, c->mem))
            return false;
    }
    return rows_of(&s->of_ranks, &of_rank, &r->identity.rank);
}

struct ranking {
    const struct hccl_sum_state *s;
    const struct names *names;
};

/* The largest mean first, then by name. */
static int by_mean(const void *a, const void *b, void *ranking)
{
    const struct ranking *const r = ranking;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct op *const p = &r->s->op.at[x], *const q = &r->s->op.at[y];
    const __int128 left = (__int128)p->sum_ns * q->n, right = (__int128)q->sum_ns * p->n;
    if (left != right)
        return left > right ? -1 : 1;
    return names_compare(r->names, (name_id)r->s->ops.key.at[x], (name_id)r->s->ops.key.at[y]);
}

static bool top_rows(struct grid *g, struct hccl_sum_state *s, const struct mode_context *c)
{
    const size_t n = s->op.n, asked = c->options->top ? c->options->top : DEFAULT_TOP, top = asked < n ? asked : n;
    uint32_t *const order = arena_take(c->mem, n, sizeof *order), *const place = arena_take(c->mem, n, sizeof *place);
    struct durations *const durations = arena_take(c->mem, top, sizeof *durations);
    if (!order || !place || !durations)
        return false;
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, n, sizeof *order, by_mean, &(struct ranking){ s, c->names });
    for (size_t i = 0; i < top; i++)
        place[order[i]] = (uint32_t)i + 1;
    for (size_t i = 0; i < s->uses.n; i++) {
        const struct hccl_sum_use *const use = &s->uses.at[i];
        if (place[use->op] > 0 && !durations_add(&durations[place[use->op] - 1], use->ns, 1, c->mem))
            return false;
    }
    for (size_t i = 0; i < top; i++) {
        struct description d;
        if (!durations_describe(&durations[i], &d))
            return false;
        struct cell row[TOP_CELLS] = { cell_name((name_id)s->ops.key.at[order[i]]) };
        describe_cells(row + 1, &d);
        row[1 + DESCRIBE_CELLS] = cell_int(s->op.at[order[i]].min_rank);
        row[2 + DESCRIBE_CELLS] = cell_int(s->op.at[order[i]].max_rank);
        grid_row(g, row);
    }
    return !arena_failed(g->mem);
}

/* "0;1;2" */
static const char *list_text(const struct members *m, struct arena *mem)
{
    struct error e = { 0 };
    struct out o;
    if (!out_open_memory(&o, &e))
        return NULL;
    for (size_t i = 0; i < m->ranks.n; i++) {
        out_bytes(&o, ";", i > 0);
        out_i64(&o, m->ranks.at[i]);
    }
    const char *const text = arena_text(mem, o.buf, o.n);
    out_discard(&o);
    return text;
}

static bool group_rows(struct grid *g, const struct hccl_sum_state *s, const struct mode_context *c)
{
    for (size_t i = 0; i < s->members.n; i++) {
        const name_id name = (name_id)s->groups.key.at[i];
        const uint64_t number = group_number(names_text(c->names, name), names_len(c->names, name));
        const struct cell row[] = { cell_name(name), cell_text(arena_printf(c->mem, "%03u", (unsigned)(number % 1000))),
                                    cell_text(list_text(&s->members.at[i], c->mem)) };
        if (!row[1].text || !row[2].text)
            return false;
        grid_row(g, row);
    }
    return !arena_failed(g->mem);
}

static bool hccl_sum_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    struct hccl_sum_state *const s = state;
    struct grid all = { .n_columns = RANK_CELLS - 1, .mem = c->mem }, top = { .n_columns = TOP_CELLS, .mem = c->mem };
    struct grid groups = { .n_columns = sizeof group_columns / sizeof *group_columns, .mem = c->mem };
    static const struct grid_key by_type[] = { { 0, false } }, by_id[] = { { 1, false }, { 0, false } };
    static const struct grid_key by_rank[] = { { RANK_CELLS - 1, false }, { 0, false } };
    if (!rows_of(&all, &s->types, NULL) || !top_rows(&top, s, c) || !group_rows(&groups, s, c) ||
        !grid_sort(&all, by_type, 1, c->names) || !grid_sort(&s->of_ranks, by_rank, 2, c->names) ||
        !grid_sort(&groups, by_id, 2, c->names) ||
        !recipe_table(out, "HcclAllRankStats", "all_stats.csv", RECIPE_COLUMNS(all_columns), &all) ||
        !recipe_table(out, "HcclPerRankStats", "rank_stats.csv", RECIPE_COLUMNS(rank_columns), &s->of_ranks) ||
        !recipe_table(out, "HcclTopOpStats", "top_op_stats.csv", RECIPE_COLUMNS(top_columns), &top) ||
        !recipe_table(out, "HcclGroupNameMap", "group_name_map.csv", RECIPE_COLUMNS(group_columns), &groups))
        return error_no_memory(e, c->mode->name);
    return true;
}

const struct mode mode_hccl_sum = {
    .name = "hccl_sum",
    .class_name = "HcclSum",
    .about = "durations of collectives",
    .needs = RANK_COLLECTIVES,
    .uses = RANK_STEPS,
    .begin = hccl_sum_begin,
    .add = hccl_sum_add,
    .finish = hccl_sum_finish,
};
