/* SPDX-License-Identifier: Apache-2.0 */
/* mode_module_statistic.c - operators and kernels of the modules of the network, on each rank. */
#include "cluster/modes.h"

#include "cluster/job/rank_readers.h"
#include "cluster/modes/mode_parts.h"
#include "cluster/results/recipe.h"

static const struct result_column columns[] = {
    COLUMN_CSV("parentModule", "TEXT", "Parent Module"),
    COLUMN_CSV("module", "TEXT", "Module"),
    COLUMN_CSV("opName", "TEXT", "Op Name"),
    COLUMN_CSV("kernelList", "TEXT", "Kernel List"),
    COLUMN_CSV("totalKernelDuration(ns)", "REAL", "Total Kernel Duration(ns)"),
    COLUMN_CSV("avgKernelDuration(ns)", "REAL", "Avg Kernel Duration(ns)"),
    COLUMN_CSV("opCount", "INTEGER", "Op Count"),
    COLUMN_CSV("rankID", "INTEGER", "Rank ID"),
};
enum { CELLS = sizeof columns / sizeof *columns, PARTS = RANK_MARKS | RANK_TASKS | RANK_OPS | RANK_COLLECTIVES };

struct module_statistic_state {
    struct grid rows;
    size_t n_without, n_absent; /* ranks without modules; without operators */
};

static void *module_statistic_begin(struct mode_context *c)
{
    struct module_statistic_state *s = arena_take(c->mem, 1, sizeof *s);
    if (s)
        s->rows = (struct grid){ .n_columns = CELLS, .mem = c->mem };
    return s;
}

/* Operators are not part of a summary: the rank is read again. */
static bool module_statistic_add(void *state, struct mode_context *c, const struct rank_summary *r)
{
    struct module_statistic_state *const s = state;
    struct arena *const scratch = c->scratch;
    struct rank all;
    struct module_stats stats = { 0 };
    bool is_there;
    if (!rank_reload(c, r->identity.rank, PARTS, scratch, &all, &is_there, c->e) ||
        (is_there && !module_stats_find(&stats, &all, NULL, scratch)))
        return false;
    s->n_absent += !is_there;
    s->n_without += is_there && stats.list.n == 0;
    for (size_t i = 0; i < stats.list.n; i++) {
        const struct module_stat *const m = &stats.list.at[i];
        const struct cell row[CELLS] = {
            cell_name(m->parent),  cell_name(m->module),           cell_name(m->op),
            cell_name(m->kernels), cell_real((double)m->total_ns), cell_real((double)m->total_ns / (double)m->count),
            cell_uint(m->count),   cell_int(r->identity.rank),
        };
        grid_row(&s->rows, row);
    }
    return !arena_failed(c->mem);
}

static bool module_statistic_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    const struct module_statistic_state *const s = state;
    bool works = recipe_table(out, "ModuleStatistic", "module_statistic.csv", RECIPE_COLUMNS(columns), &s->rows);
    works = works && note_absent(out, c, s->n_absent);
    if (s->n_without > 0)
        works =
            works &&
            results_note(
                out,
                "module_statistic: %zu ranks have no ranges of the domain \"Module\" around operators; they are left "
                "out",
                s->n_without);
    return works || error_no_memory(e, c->mode->name);
}

const struct mode mode_module_statistic = {
    .name = "module_statistic",
    .class_name = "ModuleStatistic",
    .about = "operators and kernels of the modules of the network",
    .needs = RANK_MARKS | RANK_OPS,
    .begin = module_statistic_begin,
    .add = module_statistic_add,
    .single = PARTS,
    .finish = module_statistic_finish,
};
