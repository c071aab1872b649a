/* SPDX-License-Identifier: Apache-2.0 */
/* mode_compute_op_sum.c - durations of computing operators by type over all ranks, and by type and name on each. */
#include "cluster/modes.h"

#include "cluster/results/recipe.h"
#include "base/memory/tuples.h"

enum { OP_TYPE, TASK_TYPE, PARTS };

static const struct result_column all_columns[] = { COLUMN("OpType", "TEXT"), COLUMN("TaskType", "TEXT"),
                                                    DESCRIBE_COLUMNS };
static const struct result_column type_columns[] = { COLUMN("OpType", "TEXT"), COLUMN("TaskType", "TEXT"),
                                                     DESCRIBE_COLUMNS, COLUMN("Rank", "INTEGER") };
static const struct result_column name_columns[] = { COLUMN("OpName", "TEXT"),   COLUMN("OpType", "TEXT"),
                                                     COLUMN("TaskType", "TEXT"), COLUMN("InputShapes", "TEXT"),
                                                     DESCRIBE_COLUMNS,           COLUMN("Rank", "INTEGER") };
enum {
    ALL_CELLS = sizeof all_columns / sizeof *all_columns,
    TYPE_CELLS = sizeof type_columns / sizeof *type_columns,
    NAME_CELLS = sizeof name_columns / sizeof *name_columns
};

/* Durations by type of the operator and of the task. */
struct by_type {
    struct tuples tuples;
    LIST(struct durations) durations;
};

static const struct result_table name_table = { .name = "ComputeOpPerRankStatsByOpName",
                                                .file = "rank_stats_by_opname.csv",
                                                .column = name_columns,
                                                .n_columns = NAME_CELLS };

struct compute_op_sum_state {
    struct by_type all;
    struct grid types;
    struct table_sink *names; /* as many rows as there are operators on all ranks */
};

static void *compute_op_sum_begin(struct mode_context *c)
{
    struct compute_op_sum_state *s = arena_take(c->mem, 1, sizeof *s);
    if (s)
        s->types = (struct grid){ .n_columns = TYPE_CELLS, .mem = c->mem };
    return s;
}

static struct durations *of_type(struct by_type *b, name_id op_type, name_id task_type, struct arena *mem)
{
    const uint32_t at = tuple_add(&b->tuples, (const uint32_t[PARTS]){ op_type, task_type }, PARTS, mem);
    if (at == KEYS_NO_MEMORY || (at == b->durations.n && !list_add(&b->durations, mem)))
        return NULL;
    return &b->durations.at[at];
}

static bool add_runs(struct durations *d, const struct summary_runs *k, size_t i, struct arena *mem)
{
    for (size_t at = k->first[i], end = k->first[i + 1]; at < end;) {
        const size_t from = at;
        while (at < end && k->ns[at] == k->ns[from])
            at++;
        if (!durations_add(d, k->ns[from], at - from, mem))
            return false;
    }
    return true;
}

static bool types_row(struct grid *g, const struct by_type *b, size_t i, const int64_t *rank)
{
    struct cell row[TYPE_CELLS];
    uint32_t part[PARTS];
    struct description d;
    tuple_parts(&b->tuples, (uint32_t)i, part, PARTS);
    if (!durations_describe(&b->durations.at[i], &d))
        return false;
    row[0] = cell_name(part[OP_TYPE]);
    row[1] = cell_name(part[TASK_TYPE]);
    describe_cells(row + 2, &d);
    if (rank)
        row[2 + DESCRIBE_CELLS] = cell_int(*rank);
    grid_row(g, row);
    return !arena_failed(g->mem);
}

/* Groups of the same name, types and shapes follow each other, a step behind the other. */
static size_t same_name(const struct summary_runs *k, size_t i)
{
    size_t end = i + 1;
    while (end < k->n && k->name[end] == k->name[i] && k->op_type[end] == k->op_type[i] &&
           k->task_type[end] == k->task_type[i] && k->input_shapes[end] == k->input_shapes[i])
        end++;
    return end;
}

static bool compute_op_sum_add(void *state, struct mode_context *c, const struct rank_summary *r)
{
    struct compute_op_sum_state *const s = state;
    struct arena *const scratch = c->scratch;
    const struct summary_runs *const k = &r->kernels;
    const struct chosen_step step = step_choose(c->options, &r->steps);
    struct by_type of_rank = { 0 };
    struct durations of_name = { 0 };
    struct grid names = { .n_columns = NAME_CELLS, .mem = scratch };
    static const struct grid_key by_sum[] = { { 4 + DESCRIBE_CELLS - 1, true }, { 0, false } };
    for (size_t i = 0, end; i < k->n; i = end) {
        end = same_name(k, i);
        durations_clear(&of_name);
        for (size_t at = i; at < end; at++) {
            if (!step_has_row(&step, k->step[at]))
                continue;
            struct durations *all = of_type(&s->all, k->op_type[at], k->task_type[at], c->mem);
            struct durations *own = of_type(&of_rank, k->op_type[at], k->task_type[at], scratch);
            if (!all || !own || !add_runs(all, k, at, c->mem) || !add_runs(own, k, at, scratch) ||
                !add_runs(&of_name, k, at, scratch))
                return false;
        }
        struct description d;
        if (of_name.count.n == 0 || c->options->excludes_op_name || k->input_shapes[i] == NAME_EMPTY)
            continue;
        if (!durations_describe(&of_name, &d))
            return false;
        struct cell row[NAME_CELLS] = { cell_name(k->name[i]), cell_name(k->op_type[i]), cell_name(k->task_type[i]),
                                        cell_name(k->input_shapes[i]) };
        describe_cells(row + 4, &d);
        row[NAME_CELLS - 1] = cell_int(r->identity.rank);
        grid_row(&names, row);
    }
    for (size_t i = 0; i < of_rank.durations.n; i++)
        if (!types_row(&s->types, &of_rank, i, &r->identity.rank))
            return false;
    return !arena_failed(c->mem) && grid_sort(&names, by_sum, 2, c->names) &&
           recipe_stream(&s->names, c, &name_table, &names);
}

static bool compute_op_sum_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    struct compute_op_sum_state *const s = state;
    struct grid all = { .n_columns = ALL_CELLS, .mem = c->mem };
    for (size_t i = 0; i < s->all.durations.n; i++)
        if (!types_row(&all, &s->all, i, NULL))
            return error_no_memory(e, c->mode->name);
    static const struct grid_key by_type[] = {
        { PARTS + DESCRIBE_CELLS - 1, true }, { 0, false }, { 1, false }, { TYPE_CELLS - 1, false }
    };
    if (!grid_sort(&all, by_type, 3, c->names) || !grid_sort(&s->types, by_type, 4, c->names) ||
        !recipe_table(out, "ComputeOpAllRankStats", "all_stats.csv", RECIPE_COLUMNS(all_columns), &all) ||
        !recipe_table(out, "ComputeOpPerRankStatsByOpType", "rank_stats_by_optype.csv", RECIPE_COLUMNS(type_columns),
                      &s->types))
        return error_no_memory(e, c->mode->name);
    return true;
}

const struct mode mode_compute_op_sum = {
    .name = "compute_op_sum",
    .class_name = "ComputeOpSum",
    .about = "durations of computing operators",
    .needs = RANK_TASKS,
    .uses = RANK_STEPS,
    .begin = compute_op_sum_begin,
    .add = compute_op_sum_add,
    .finish = compute_op_sum_finish,
    .streams = true,
};
