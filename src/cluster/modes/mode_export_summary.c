/* SPDX-License-Identifier: Apache-2.0 */
/* mode_export_summary.c - calls of the runtime and kernels of all ranks as text, for databases whose collections are
 * gone. */
#include "cluster/modes.h"

#include "cluster/job/rank_readers.h"
#include "cluster/results/recipe.h"
#include "cluster/results/results.h"

static const struct result_column api_columns[] = {
    COLUMN("Rank", "INTEGER"),         COLUMN("API Name", "TEXT"),     COLUMN("Total Time(ns)", "INTEGER"),
    COLUMN("Count", "INTEGER"),        COLUMN("Avg Time(ns)", "REAL"), COLUMN("Min Time(ns)", "INTEGER"),
    COLUMN("Max Time(ns)", "INTEGER"),
};
static const struct result_column kernel_columns[] = {
    COLUMN("rank", "INTEGER"),        COLUMN("op_name", "TEXT"),          COLUMN("op_type", "TEXT"),
    COLUMN("task_type", "TEXT"),      COLUMN("task_start_time", "TEXT"),  COLUMN("task_duration", "REAL"),
    COLUMN("task_wait_time", "REAL"), COLUMN("stream_id", "INTEGER"),     COLUMN("block_dim", "INTEGER"),
    COLUMN("input_shapes", "TEXT"),   COLUMN("input_data_types", "TEXT"), COLUMN("output_shapes", "TEXT"),
};
enum {
    API_CELLS = sizeof api_columns / sizeof *api_columns,
    KERNEL_CELLS = sizeof kernel_columns / sizeof *kernel_columns
};
static const struct result_table api_table = {
    .name = "ApiStatistic", .file = "api_statistic.csv", .column = api_columns, .n_columns = API_CELLS
};
static const struct result_table kernel_table = {
    .name = "KernelDetails", .file = "kernel_details.csv", .column = kernel_columns, .n_columns = KERNEL_CELLS
};

struct export_summary_state {
    struct table_sink *calls, *kernels; /* rows of all ranks are more than memory should hold */
    size_t n_absent;
};

static void *export_summary_begin(struct mode_context *c)
{
    return arena_take(c->mem, 1, sizeof(struct export_summary_state));
}

static bool add_calls(struct export_summary_state *s, const struct mode_context *c, const struct rank_summary *r,
                      struct arena *scratch)
{
    struct grid calls = { .n_columns = API_CELLS, .mem = scratch };
    static const struct grid_key by_total[] = { { 2, true }, { 1, false } };
    const struct summary_calls *const from = &r->calls;
    const struct chosen_step step = step_choose(c->options, &r->steps);
    const uint32_t row = step.is_all ? NO_ROW : step.row;
    for (size_t i = 0; i < from->n && (step.is_all || row != NO_ROW); i++)
        if (from->step[i] == row)
            grid_row(&calls,
                     (const struct cell[API_CELLS]){ cell_int(r->identity.rank), cell_name(from->name[i]),
                                                     cell_int(from->total_ns[i]), cell_int(from->count[i]),
                                                     cell_real((double)from->total_ns[i] / (double)from->count[i]),
                                                     cell_int(from->min_ns[i]), cell_int(from->max_ns[i]) });
    return grid_sort(&calls, by_total, 2, c->names) && recipe_stream(&s->calls, c, &api_table, &calls);
}

/* What waits is the device: since the end of everything that computed before. */
static bool put_kernels(struct export_summary_state *s, struct mode_context *c, const struct rank_summary *r,
                        const struct rank *all)
{
    const struct chosen_step step = step_choose(c->options, &r->steps);
    int64_t free_since = INT64_MAX;
    for (size_t i = 0; i < all->tasks.n; i++) {
        const uint32_t k = all->tasks.kernel[i];
        const int64_t begin_ns = all->tasks.begin_ns[i], end_ns = all->tasks.end_ns[i];
        if (k == NO_ROW)
            continue;
        const struct cell row[KERNEL_CELLS] = {
            cell_int(r->identity.rank),
            cell_name(all->kernels.name[k]),
            cell_name(all->kernels.op_type[k]),
            cell_name(all->kernels.task_type[k]),
            cell_time_bare(begin_ns),
            cell_us_short(end_ns - begin_ns),
            cell_us_short(begin_ns > free_since ? begin_ns - free_since : 0),
            cell_uint(all->tasks.stream[i]),
            cell_uint(all->kernels.block_dim[k]),
            cell_name(all->kernels.input_shapes[k]),
            cell_name(all->kernels.input_types[k]),
            cell_name(all->kernels.output_shapes[k]),
        };
        free_since = free_since == INT64_MAX || end_ns > free_since ? end_ns : free_since;
        if (step_has_time(&step, begin_ns) && !writer_rows(c->writer, s->kernels, row, 1, c->e))
            return false;
    }
    return true;
}

static bool export_summary_add(void *state, struct mode_context *c, const struct rank_summary *r)
{
    struct export_summary_state *const s = state;
    struct rank all;
    bool is_there = false, works = true;
    if (r->has & RANK_TASKS) {
        works = rank_reload(c, r->identity.rank, RANK_TASKS, c->scratch, &all, &is_there, c->e);
        s->n_absent += !is_there;
    }
    if (is_there && !s->kernels)
        works = (s->kernels = writer_table(c->writer, c->mode->class_name, &kernel_table, c->e)) != NULL;
    return works && (!is_there || put_kernels(s, c, r, &all)) && add_calls(s, c, r, c->scratch);
}

static bool export_summary_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    const struct export_summary_state *const s = state;
    return note_absent(out, c, s->n_absent) || error_no_memory(e, c->mode->name);
}

const struct mode mode_export_summary = {
    .name = "export_summary",
    .class_name = "ExportSummary",
    .about = "calls and kernels of all ranks",
    .uses = RANK_STEPS | RANK_CALLS | RANK_TASKS,
    .begin = export_summary_begin,
    .add = export_summary_add,
    .single = RANK_TASKS,
    .finish = export_summary_finish,
    .streams = true,
};
