/* SPDX-License-Identifier: Apache-2.0 */
/* mode_mstx_sum.c - durations of marks and ranges of the program: on the host, in the runtime and on the device. */
#include "cluster/modes.h"

#include <stdlib.h>

#include "base/memory/tuples.h"
#include "base/text/stamp.h"
#include "cluster/modes/mode_parts.h"
#include "cluster/results/recipe.h"

enum { FRAMEWORK, CANN, DEVICE, SIDES };

#define NS(name, type, csv_name)                                                                                       \
    {                                                                                                                  \
        (name), (type), (csv_name), 1e6                                                                                \
    }
static const struct result_column mark_columns[] = {
    COLUMN("index", "INTEGER"),
    COLUMN("Name", "TEXT"),
    NS("FrameworkDurationNs", "REAL", "FrameworkDuration(Ms)"),
    COLUMN("FrameworkDurationRatio(%)", "REAL"),
    NS("CannDurationNs", "REAL", "CannDuration(Ms)"),
    COLUMN("CannDurationRatio(%)", "REAL"),
    NS("DeviceDurationNs", "REAL", "DeviceDuration(Ms)"),
    COLUMN("DeviceDurationRatio(%)", "REAL"),
    COLUMN("Rank", "INTEGER"),
    COLUMN("StepId", "INTEGER"),
};
static const struct result_column stat_columns[] = {
    COLUMN("Name", "TEXT"),           COLUMN("Count", "REAL"),
    NS("MeanNs", "REAL", "Mean(Ms)"), NS("StdNs", "REAL", "Std(Ms)"),
    NS("MinNs", "REAL", "Min(Ms)"),   COLUMN("MinRank", "INTEGER"),
    NS("Q1Ns", "REAL", "Q1(Ms)"),     NS("MedianNs", "REAL", "Median(Ms)"),
    NS("Q3Ns", "REAL", "Q3(Ms)"),     NS("MaxNs", "REAL", "Max(Ms)"),
    COLUMN("MaxRank", "INTEGER"),     NS("SumNs", "REAL", "Sum(Ms)"),
    COLUMN("Dispersion(%)", "REAL"),  COLUMN("StepId", "INTEGER"),
};
enum {
    MARK_CELLS = sizeof mark_columns / sizeof *mark_columns,
    STAT_CELLS = sizeof stat_columns / sizeof *stat_columns,
    DISPERSION = STAT_CELLS - 2
};
static const struct {
    const char *table, *file;
} side_tables[SIDES] = {
    [FRAMEWORK] = { "MSTXAllFrameworkStats", "all_fwk_stats.csv" },
    [CANN] = { "MSTXAllCannStats", "all_cann_stats.csv" },
    [DEVICE] = { "MSTXAllDeviceStats", "all_device_stats.csv" },
};

struct mark {
    name_id name;
    int64_t rank, step;
    int64_t ns[SIDES]; /* INT64_MIN: unknown */
    double share[SIDES];
};

struct mstx_sum_state {
    LIST(struct mark) marks;
    size_t n_unpaired, n_outside;
};

static void *mstx_sum_begin(struct mode_context *c)
{
    return arena_take(c->mem, 1, sizeof(struct mstx_sum_state));
}

/* Names that occur several times in a step are numbered, in the order of the marks. */
static bool number_names(struct mark *mark, size_t n, struct names *names, struct arena *scratch)
{
    struct tuples keys = { 0 };
    struct keys steps = { 0 };
    LIST(uint32_t) count = { 0 }, next = { 0 };
    uint32_t *const group = arena_take(scratch, n, sizeof *group);
    if (!group)
        return false;
    for (size_t i = 0; i < n; i++) {
        const uint32_t step = keys_add(&steps, (uint64_t)mark[i].step, scratch);
        if (step == KEYS_NO_MEMORY)
            return false;
        group[i] = tuple_add(&keys, (const uint32_t[]){ step, mark[i].name }, 2, scratch);
        if (group[i] == KEYS_NO_MEMORY ||
            (group[i] == count.n && (!list_add(&count, scratch) || !list_add(&next, scratch))))
            return false;
        count.at[group[i]]++;
    }
    for (size_t i = 0; i < n; i++)
        if (count.at[group[i]] > 1) {
            char *const text = arena_printf(scratch, "%s_%u", names_text(names, mark[i].name), next.at[group[i]]++);
            if (!text)
                return false;
            mark[i].name = names_addz(names, text);
        }
    return true;
}

static bool mstx_sum_add(void *state, struct mode_context *c, const struct rank_summary *r)
{
    struct mstx_sum_state *const s = state;
    struct arena *const scratch = c->scratch;
    const size_t first = s->marks.n;
    const struct chosen_step step = step_choose(c->options, &r->steps);
    struct mark_spans spans = { 0 };
    if (!mark_spans_find(&spans, r, &step, scratch))
        return false;
    s->n_unpaired += spans.n_unpaired;
    int64_t total[SIDES] = { 0 };
    for (size_t i = 0; i < spans.list.n; i++) {
        const struct mark_span *const span = &spans.list.at[i];
        struct mark *const mark = list_add(&s->marks, c->mem);
        if (!mark)
            return false;
        const uint32_t at = mark_step(r, span->begin_ns);
        s->n_outside += at == UINT32_MAX && r->steps.n > 0;
        *mark = (struct mark){ .name = span->name,
                               .rank = r->identity.rank,
                               .step = at == UINT32_MAX ? 0 : r->steps.id[at],
                               .ns = { span->framework_ns, span->end_ns - span->begin_ns, span->device_ns } };
        for (size_t k = 0; k < SIDES; k++)
            total[k] = wrap_add(total[k], mark->ns[k] == INT64_MIN ? 0 : mark->ns[k]);
    }
    for (size_t i = first; i < s->marks.n; i++)
        for (size_t k = 0; k < SIDES; k++)
            if (total[k] != 0 && s->marks.at[i].ns[k] != INT64_MIN)
                s->marks.at[i].share[k] = (double)s->marks.at[i].ns[k] / (double)total[k] * 100;
    return s->marks.n == first || number_names(s->marks.at + first, s->marks.n - first, c->names, scratch);
}

static struct cell cell_ns(int64_t ns)
{
    return ns == INT64_MIN ? cell_na() : cell_real((double)ns);
}

struct mstx_sum_sorting {
    const struct mark *mark;
    const struct names *names;
};

/* The largest share of the runtime's time first; equal ones by rank and place. */
static int by_share(const void *a, const void *b, void *sorting)
{
    const struct mstx_sum_sorting *const o = sorting;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const double p = o->mark[x].share[CANN], q = o->mark[y].share[CANN];
    return p != q ? (p > q ? -1 : 1) : (x > y) - (x < y);
}

/* Groups: step and name; inside of them as before, so that the first of equal extremes is found. */
static int by_group(const void *a, const void *b, void *sorting)
{
    const struct mstx_sum_sorting *const o = sorting;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct mark *const p = &o->mark[x], *const q = &o->mark[y];
    if (p->step != q->step)
        return p->step < q->step ? -1 : 1;
    const int order = p->name == q->name ? 0 : names_compare(o->names, p->name, q->name);
    return order != 0 ? order : by_share(a, b, sorting);
}

/* A row about the marks of one name and step, seen from one side. */
static bool stat_row(struct grid *g, const struct mark *mark, const uint32_t *order, size_t n, size_t side)
{
    struct arena *const scratch = arena_new();
    struct durations d = { 0 };
    struct description of;
    const struct mark *shortest = NULL, *longest = NULL;
    bool works = scratch != NULL;
    for (size_t i = 0; works && i < n; i++) {
        const struct mark *const m = &mark[order[i]];
        if (m->ns[side] == INT64_MIN)
            continue;
        works = durations_add(&d, m->ns[side], 1, scratch);
        shortest = !shortest || m->ns[side] < shortest->ns[side] ? m : shortest;
        longest = !longest || m->ns[side] > longest->ns[side] ? m : longest;
    }
    works = works && (!shortest || durations_describe(&d, &of));
    arena_free(scratch);
    if (!works)
        return false;
    struct cell row[STAT_CELLS];
    for (size_t i = 0; i < STAT_CELLS; i++)
        row[i] = cell_na();
    row[0] = cell_name(mark[order[0]].name);
    row[1] = cell_real(0);
    row[STAT_CELLS - 1] = cell_int(mark[order[0]].step);
    row[11] = row[DISPERSION] = cell_real(0);
    if (shortest) {
        const bool is_zero = of.min == 0 && of.max == 0;
        const double v[] = { (double)of.count, of.mean, of.std, of.min };
        for (size_t i = 0; i < sizeof v / sizeof *v; i++)
            row[1 + i] = cell_real_or_na(v[i]);
        row[5] = cell_int(is_zero ? 0 : shortest->rank);
        row[6] = cell_real(of.q1);
        row[7] = cell_real(of.median);
        row[8] = cell_real(of.q3);
        row[9] = cell_real(of.max);
        row[10] = cell_int(is_zero ? 0 : longest->rank);
        row[11] = cell_real((double)of.sum);
        row[DISPERSION] = cell_real(of.sum ? (of.max - of.q3) / (double)of.sum * 100 : 0);
    }
    grid_row(g, row);
    return !arena_failed(g->mem);
}

static bool stat_tables(struct mstx_sum_state *s, struct mode_context *c, uint32_t *order, struct results *out)
{
    const size_t n = s->marks.n;
    struct mstx_sum_sorting sorting = { s->marks.at, c->names };
    struct grid g[SIDES];
    static const struct grid_key keys[] = { { STAT_CELLS - 1, false }, { DISPERSION, true }, { 0, false } };
    qsort_r(order, n, sizeof *order, by_group, &sorting);
    for (size_t side = 0; side < SIDES; side++) {
        g[side] = (struct grid){ .n_columns = STAT_CELLS, .mem = c->mem };
        for (size_t from = 0, end; from < n; from = end) {
            const struct mark *const m = &s->marks.at[order[from]];
            for (end = from + 1;
                 end < n && s->marks.at[order[end]].step == m->step && s->marks.at[order[end]].name == m->name;)
                end++;
            if (!stat_row(&g[side], s->marks.at, order + from, end - from, side))
                return false;
        }
        if (!grid_sort(&g[side], keys, 3, c->names) ||
            !recipe_table(out, side_tables[side].table, side_tables[side].file, RECIPE_COLUMNS(stat_columns), &g[side]))
            return false;
    }
    return true;
}

/* The file has no numbers of rows. */
static bool mark_tables(const struct mstx_sum_state *s, struct mode_context *c, const uint32_t *order,
                        struct results *out)
{
    struct grid g = { .n_columns = MARK_CELLS, .mem = c->mem }, text = { .n_columns = MARK_CELLS - 1, .mem = c->mem };
    for (size_t i = 0; i < s->marks.n; i++) {
        const struct mark *const m = &s->marks.at[order[i]];
        const struct cell row[MARK_CELLS] = {
            cell_uint(i),
            cell_name(m->name),
            cell_ns(m->ns[FRAMEWORK]),
            cell_real(m->share[FRAMEWORK]),
            cell_ns(m->ns[CANN]),
            cell_real(m->share[CANN]),
            cell_ns(m->ns[DEVICE]),
            m->ns[DEVICE] == INT64_MIN ? cell_na() : cell_real(m->share[DEVICE]),
            cell_int(m->rank),
            cell_int(m->step),
        };
        grid_row(&g, row);
        grid_row(&text, row + 1);
    }
    return recipe_table(out, "MSTXMarkStats", NULL, RECIPE_COLUMNS(mark_columns), &g) &&
           recipe_table(out, NULL, "mark_stats.csv", mark_columns + 1, MARK_CELLS - 1, &text);
}

static bool mstx_sum_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    struct mstx_sum_state *const s = state;
    const size_t n = s->marks.n;
    uint32_t *const order = arena_take(c->mem, n, sizeof *order);
    if (!order)
        return error_no_memory(e, c->mode->name);
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, n, sizeof *order, by_share, &(struct mstx_sum_sorting){ s->marks.at, c->names });
    bool works = mark_tables(s, c, order, out) && stat_tables(s, c, order, out);
    if (s->n_unpaired > 0)
        works = works && results_note(out, "mstx_sum: %zu marks X_start or X_stop have no counterpart and are left out",
                                      s->n_unpaired);
    if (s->n_outside > 0)
        works =
            works && results_note(out, "mstx_sum: %zu marks are in no step; they are shown in step 0", s->n_outside);
    return works || error_no_memory(e, c->mode->name);
}

const struct mode mode_mstx_sum = {
    .name = "mstx_sum",
    .class_name = "MstxSum",
    .about = "durations of marks and ranges",
    .needs = RANK_MARKS,
    .uses = RANK_STEPS | RANK_TASKS | RANK_OPS,
    .begin = mstx_sum_begin,
    .add = mstx_sum_add,
    .finish = mstx_sum_finish,
};
