/* SPDX-License-Identifier: Apache-2.0 */
/* mode_free_analysis.c - the longest times during which a rank neither computed nor communicated, and why. */
#include "cluster/modes.h"

#include <string.h>

#include "cluster/modes/mode_parts.h"
#include "cluster/results/recipe.h"

enum { DEFAULT_TOP = 10 };

static const struct result_column columns[] = {
    COLUMN_CSV("rankId", "INTEGER", "Rank ID"),
    COLUMN_CSV("startTime(us)", "TEXT", "Start Time(us)"),
    COLUMN_CSV("endTime(us)", "TEXT", "End Time(us)"),
    COLUMN_CSV("duration(us)", "REAL", "Duration(us)"),
    COLUMN_CSV("pytorchIdleTime(us)", "REAL", "Pytorch Idle Time(us)"),
    COLUMN_CSV("cannIdleTime(us)", "REAL", "Cann Idle Time(us)"),
    COLUMN_CSV("reason", "TEXT", "Reason"),
};
enum { CELLS = sizeof columns / sizeof *columns };

struct free_analysis_state {
    struct grid rows;
    bool has_too_few; /* more are asked for than a summary keeps */
};

static void *free_analysis_begin(struct mode_context *c)
{
    struct free_analysis_state *s = arena_take(c->mem, 1, sizeof *s);
    if (s)
        s->rows = (struct grid){ .n_columns = CELLS, .mem = c->mem };
    return s;
}

/* By what its kernels ran on. */
static bool is_of_gpu(const struct rank_summary *r, const struct names *names)
{
    return r->kernels.n > 0 && strcmp(names_text(names, r->kernels.task_type[0]), "GPU") == 0;
}

/* NULL: no memory. */
static const char *reason_text(const struct summary_gaps *g, size_t i, bool is_gpu, const struct names *names,
                               struct arena *mem)
{
    const char *const before[] = {
        [GAP_TASKS] = "Device task running: ",
        [GAP_NO_NEIGHBOUR] = "Skip free analysis due to no prev or next task.",
        [GAP_NO_OPERATOR] = "Skip free analysis due to no pytorch dispatch time.",
        [GAP_FRAMEWORK] = "Idle Pytorch layer: no task dispatched in ",
        [GAP_BETWEEN_LAUNCHES] = is_gpu ? "Abnormal CUDA layer: long time between two launches "
                                        : "Abnormal CANN layer: long time between two node@launch ",
        [GAP_LAUNCH] = is_gpu ? "Abnormal CUDA layer: long launch " : "Abnormal CANN layer: long node@launch ",
    };
    const enum gap_reason why = g->reason[i];
    if (why == GAP_NO_NEIGHBOUR || why == GAP_NO_OPERATOR)
        return before[why];
    char us[US_TEXT];
    us_real_text(us, g->reason_ns[i]);
    return arena_printf(mem, "%s%s%s%s us", before[why], why == GAP_TASKS ? names_text(names, g->tasks[i]) : "",
                        why == GAP_TASKS ? ", max remaining free " : "", us);
}

static struct cell cell_us_or_na(int64_t ns)
{
    return ns == INT64_MIN ? cell_na() : cell_us_short(ns);
}

static bool free_analysis_add(void *state, struct mode_context *c, const struct rank_summary *r)
{
    struct free_analysis_state *const s = state;
    const struct summary_gaps *const g = &r->gaps;
    const struct chosen_step step = step_choose(c->options, &r->steps);
    const size_t top = c->options->top ? c->options->top : DEFAULT_TOP;
    s->has_too_few |= top > SUMMARY_GAPS;
    for (size_t i = 0, n = 0; i < g->n && n < top && n < SUMMARY_GAPS; i++) {
        if (!step_has_row(&step, g->step[i]))
            continue;
        const struct cell row[CELLS] = {
            cell_int(r->identity.rank),
            cell_text(us_decimal(c->mem, g->begin_ns[i])),
            cell_text(us_decimal(c->mem, g->end_ns[i])),
            cell_us_short(g->end_ns[i] - g->begin_ns[i]),
            cell_us_or_na(g->framework_idle_ns[i]),
            cell_us_or_na(g->runtime_idle_ns[i]),
            cell_text(reason_text(g, i, is_of_gpu(r, c->names), c->names, c->mem)),
        };
        if (!row[1].text || !row[2].text || !row[CELLS - 1].text)
            return false;
        grid_row(&s->rows, row);
        n++;
    }
    return !arena_failed(c->mem);
}

static bool free_analysis_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    const struct free_analysis_state *const s = state;
    if (s->has_too_few &&
        !results_note(out, "free_analysis: at most %d gaps per rank are kept; the others are left out", SUMMARY_GAPS))
        return error_no_memory(e, c->mode->name);
    return recipe_table(out, "FreeAnalysis", "free_analysis.csv", RECIPE_COLUMNS(columns), &s->rows) ||
           error_no_memory(e, c->mode->name);
}

const struct mode mode_free_analysis = {
    .name = "free_analysis",
    .class_name = "FreeAnalysis",
    .about = "the longest idle times, and why",
    .needs = RANK_TASKS,
    .uses = RANK_STEPS | RANK_COLLECTIVES | RANK_CALLS | RANK_OPS,
    .begin = free_analysis_begin,
    .add = free_analysis_add,
    .finish = free_analysis_finish,
};
