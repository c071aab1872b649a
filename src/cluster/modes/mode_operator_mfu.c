/* SPDX-License-Identifier: Apache-2.0 */
/* mode_operator_mfu.c - the share of the peak of their device that kernels reach with the operations that they have to
 * do. */
#include "cluster/modes.h"

#include <math.h>

#include "base/files/out.h"
#include "cluster/job/job.h"
#include "cluster/job/rank_readers.h"
#include "cluster/modes/mode_parts.h"
#include "cluster/rank/rank_parts.h"
#include "cluster/results/recipe.h"
#include "profile/calls.h"

static const struct result_column kernel_columns[] = {
    COLUMN_CSV("rank_id", "INTEGER", "Rank ID"),
    COLUMN_CSV("op_name", "TEXT", "Op Name"),
    COLUMN_CSV("kernel_name", "TEXT", "Kernel Name"),
    COLUMN_CSV("kernel_start(ns)", "INTEGER", "Kernel Start(ns)"),
    COLUMN_CSV("kernel_end(ns)", "INTEGER", "Kernel End(ns)"),
    COLUMN_CSV("kernel_duration(ns)", "INTEGER", "Kernel Duration(ns)"),
    COLUMN_CSV("mfu", "REAL", "MFU"),
    COLUMN("actual_tflops", "REAL"),
    COLUMN("chip_peak_tflops", "REAL"),
    COLUMN("flops", "INTEGER"),
    COLUMN("flops_op_name", "TEXT"),
    COLUMN("input_shapes", "TEXT"),
    COLUMN("output_shapes", "TEXT"),
};
static const struct result_column module_columns[] = {
    COLUMN_CSV("rank_id", "INTEGER", "Rank ID"),
    COLUMN_CSV("parent_module", "TEXT", "Parent Module"),
    COLUMN_CSV("module", "TEXT", "Module"),
    COLUMN_CSV("op_name", "TEXT", "Op Name"),
    COLUMN_CSV("kernel_list", "TEXT", "Kernel List"),
    COLUMN_CSV("total_kernel_duration(ns)", "REAL", "Total Kernel Duration(ns)"),
    COLUMN_CSV("avg_kernel_duration(ns)", "REAL", "Avg Kernel Duration(ns)"),
    COLUMN_CSV("op_count", "INTEGER", "Op Count"),
    COLUMN_CSV("avg_mfu", "TEXT", "Avg MFU"),
};
enum {
    KERNEL_CELLS = sizeof kernel_columns / sizeof *kernel_columns,
    MODULE_CELLS = sizeof module_columns / sizeof *module_columns,
    PARTS = RANK_TASKS | RANK_MARKS | RANK_OPS | RANK_COLLECTIVES,
};
static const struct result_table kernel_table = {
    .name = "OperatorMFU", .file = "operator_mfu_kernel.csv", .column = kernel_columns, .n_columns = KERNEL_CELLS
};

struct operator_mfu_state {
    struct table_sink *kernels; /* as many rows as there are such kernels on all ranks */
    struct grid modules;
    size_t n_without, n_absent, n_unknown; /* ranks without operations; of summaries only; without cores and clock */
    bool lacks_peak;                       /* of some type of numbers */
};

static void *operator_mfu_begin(struct mode_context *c)
{
    struct operator_mfu_state *const s = arena_take(c->mem, 1, sizeof *s);
    if (s)
        *s = (struct operator_mfu_state){ .modules = { .n_columns = MODULE_CELLS, .mem = c->mem } };
    return s;
}

/* By task of a rank. */
struct measured {
    struct task_work *work;
    double *mfu;               /* 0: not known */
    double peak[NUMBER_KINDS]; /* operations a second */
};

static double duration_ns(const struct rank *r, size_t task)
{
    return (double)(r->tasks.end_ns[task] - r->tasks.begin_ns[task]);
}

static bool measure(struct measured *m, struct operator_mfu_state *s, const struct mode_context *c,
                    const struct rank *r, const char *collection, struct arena *mem)
{
    struct device_facts device;
    const bool is_known = rank_device_read(&device, collection, mem);
    s->n_unknown += !is_known;
    for (int i = 0; i < NUMBER_KINDS; i++)
        m->peak[i] = is_known ? device_peak_operations(&device, (enum number_kind)i) : 0;
    m->work = task_work_find(r, mem);
    m->mfu = arena_take(mem, r->tasks.n, sizeof *m->mfu);
    const struct chosen_step step = step_choose(c->options, &r->steps);
    for (size_t i = 0; m->work && m->mfu && i < r->tasks.n; i++) {
        struct task_work *const w = &m->work[i];
        const double ns = duration_ns(r, i), peak = m->peak[w->numbers];
        if (!(ns > 0) || !step_has_time(&step, r->tasks.begin_ns[i]))
            w->operations = 0;
        m->mfu[i] = w->operations > 0 && peak > 0 ? w->operations / (ns * 1e-9) / peak : 0;
        s->lacks_peak = s->lacks_peak || (is_known && w->operations > 0 && !(peak > 0));
    }
    return m->work && m->mfu;
}

static struct cell rounded(double v, int digits)
{
    return v > 0 ? cell_real(round_exact(v, digits)) : cell_na();
}

/* Tables of kernels have quotes around them. */
static name_id unquoted(struct names *names, name_id name)
{
    const char *const text = names_text(names, name);
    const size_t len = names_len(names, name);
    return len >= 2 && text[0] == '"' && text[len - 1] == '"' ? names_add(names, text + 1, len - 2) : name;
}

static void kernel_row(struct grid *to, const struct measured *m, const struct rank *r, size_t task, int64_t rank)
{
    const struct task_work *const w = &m->work[task];
    const uint32_t kernel = r->tasks.kernel[task];
    const double ns = duration_ns(r, task);
    const struct cell row[KERNEL_CELLS] = {
        cell_int(rank),
        w->op == NO_ROW ? cell_na() : cell_name(r->ops.name[w->op]),
        cell_name(r->kernels.name[kernel]),
        cell_int(r->tasks.begin_ns[task]),
        cell_int(r->tasks.end_ns[task]),
        cell_int(r->tasks.end_ns[task] - r->tasks.begin_ns[task]),
        rounded(m->mfu[task], 4),
        rounded(w->operations / (ns * 1e-9) / 1e12, 2),
        rounded(m->peak[w->numbers] / 1e12, 2),
        w->operations < 0x1p63 ? cell_int((int64_t)llround(w->operations)) : cell_real(w->operations),
        cell_name(w->by),
        cell_name(unquoted(r->names, r->kernels.input_shapes[kernel])),
        cell_name(unquoted(r->names, r->kernels.output_shapes[kernel])),
    };
    grid_row(to, row);
}

/* "41.5%,38.25%": the means of the kernels that have some. NAME_NA: no memory. */
static name_id mfu_text(const struct module_stats *all, const struct module_stat *m, struct names *names)
{
    struct error e = { 0 };
    struct out o;
    if (!out_open_memory(&o, &e))
        return NAME_NA;
    for (size_t i = m->first_value; i < m->first_value + m->n_values; i++) {
        const struct module_value *const v = &all->values.at[i];
        if (v->n == 0)
            continue;
        out_bytes(&o, ",", o.n > 0);
        out_real(&o, round_exact(v->sum / (double)v->n * 100, 2));
        out_char(&o, '%');
    }
    const name_id text = names_add(names, o.buf, o.n);
    out_discard(&o);
    return text;
}

static bool module_rows(struct operator_mfu_state *s, const struct module_stats *stats, struct names *names,
                        int64_t rank)
{
    for (size_t i = 0; i < stats->list.n; i++) {
        const struct module_stat *const m = &stats->list.at[i];
        const name_id mfu = mfu_text(stats, m, names);
        if (mfu == NAME_NA)
            return false;
        const struct cell row[MODULE_CELLS] = {
            cell_int(rank),
            cell_name(m->parent),
            cell_name(m->module),
            cell_name(m->op),
            cell_name(m->kernels),
            cell_real((double)m->total_ns),
            cell_real((double)m->total_ns / (double)m->count),
            cell_uint(m->count),
            cell_name(mfu),
        };
        grid_row(&s->modules, row);
    }
    return !arena_failed(s->modules.mem);
}

/* Single kernels and operators are not part of a summary: the rank is read again. */
static bool operator_mfu_add(void *state, struct mode_context *c, const struct rank_summary *of)
{
    struct operator_mfu_state *const s = state;
    struct arena *const scratch = c->scratch;
    struct rank r;
    struct measured m;
    struct module_stats stats = { 0 };
    struct grid rows = { .n_columns = KERNEL_CELLS, .mem = scratch };
    bool is_there;
    if (!rank_reload(c, of->identity.rank, PARTS | RANK_STEPS, scratch, &r, &is_there, c->e))
        return false;
    s->n_absent += !is_there;
    if (!is_there)
        return true;
    const size_t place = job_place(c->job, of->identity.rank);
    if (!measure(&m, s, c, &r, c->job->ranks.at[place].path, scratch) || !module_stats_find(&stats, &r, m.mfu, scratch))
        return false;
    for (size_t i = 0; i < r.tasks.n; i++)
        if (m.work[i].operations > 0)
            kernel_row(&rows, &m, &r, i, of->identity.rank);
    s->n_without += rows.cells.n == 0;
    return module_rows(s, &stats, c->names, of->identity.rank) && recipe_stream(&s->kernels, c, &kernel_table, &rows);
}

static bool operator_mfu_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    const struct operator_mfu_state *const s = state;
    bool works = recipe_table(out, "ModuleMFU", "operator_mfu_module.csv", RECIPE_COLUMNS(module_columns), &s->modules);
    works = works && note_absent(out, c, s->n_absent);
    if (s->n_without > 0)
        works =
            works && results_note(out,
                                  "operator_mfu: %zu ranks have no kernels whose operations are known, by ranges of "
                                  "the domain \"mfu_flops\" or by their shapes",
                                  s->n_without);
    if (s->n_unknown > 0)
        works =
            works && results_note(out,
                                  "operator_mfu: cores and clock of %zu ranks are not known, because there is no "
                                  "info.json of a device in their directories; they have operations without a share",
                                  s->n_unknown);
    if (s->lacks_peak)
        works = works && results_note(out, "operator_mfu: kernels of FP32 and other types whose peak is not published "
                                           "have operations without a share");
    return works || error_no_memory(e, c->mode->name);
}

const struct mode mode_operator_mfu = {
    .name = "operator_mfu",
    .class_name = "OperatorMfu",
    .about = "share of the peak of the device that kernels reach",
    .needs = RANK_TASKS,
    .uses = RANK_STEPS,
    .begin = operator_mfu_begin,
    .add = operator_mfu_add,
    .single = PARTS | RANK_STEPS,
    .finish = operator_mfu_finish,
    .streams = true,
};
