/* SPDX-License-Identifier: Apache-2.0 */
/* mode_cann_api_sum.c - durations of the calls of the runtime by name, on each rank and over all of them. */
#include "base/memory/ascending.h"
#include "cluster/modes.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory/keys.h"
#include "base/files/out.h"
#include "base/text/stamp.h"
#include "cluster/results/recipe.h"
#include "profile/calls.h"

static const struct result_column rank_columns[] = {
    COLUMN("name", "TEXT"),          COLUMN("durationRatio", "REAL"), COLUMN("totalTimeNs", "INTEGER"),
    COLUMN("totalCount", "INTEGER"), COLUMN("averageNs", "REAL"),     COLUMN("minNs", "REAL"),
    COLUMN("Q1Ns", "REAL"),          COLUMN("medNs", "REAL"),         COLUMN("Q3Ns", "REAL"),
    COLUMN("maxNs", "REAL"),         COLUMN("stdev", "REAL"),         COLUMN("rank", "INTEGER"),
};
static const struct result_column all_columns[] = {
    COLUMN("name", "TEXT"),          COLUMN("timeRatio", "REAL"), COLUMN("totalTimeNs", "INTEGER"),
    COLUMN("totalCount", "INTEGER"), COLUMN("averageNs", "REAL"), COLUMN("Q1Ns", "REAL"),
    COLUMN("medNs", "REAL"),         COLUMN("Q3Ns", "REAL"),      COLUMN("minNs", "REAL"),
    COLUMN("maxNs", "REAL"),         COLUMN("stdev", "REAL"),     COLUMN("minRank", "TEXT"),
    COLUMN("maxRank", "TEXT"),
};
enum { RANK_CELLS = sizeof rank_columns / sizeof *rank_columns, ALL_CELLS = sizeof all_columns / sizeof *all_columns };

/* Calls of one name on one rank, rounded as its row shows them: what is computed over ranks begins with these. */
struct named_calls {
    uint32_t name; /* its number here */
    int64_t rank, total_ns, count;
    double ratio, average, min, q1, median, q3, max, stdev;
};

static const struct result_table rank_table = {
    .name = "CannApiSumRank", .file = "rank_stats.csv", .column = rank_columns, .n_columns = RANK_CELLS
};

struct cann_api_sum_state {
    struct keys names;
    struct table_sink *ranks;
    LIST(struct named_calls) calls;
    int64_t total_ns;
};

static void *cann_api_sum_begin(struct mode_context *c)
{
    return arena_take(c->mem, 1, sizeof(struct cann_api_sum_state));
}

/* The rows of the rank that was added last. */
static bool rank_rows(struct cann_api_sum_state *s, const struct mode_context *c, size_t first)
{
    struct grid g = { .n_columns = RANK_CELLS, .mem = c->scratch };
    static const struct grid_key by_ratio[] = { { 1, true }, { 0, false } };
    for (size_t i = first; i < s->calls.n; i++) {
        const struct named_calls *const of = &s->calls.at[i];
        const struct cell row[RANK_CELLS] = {
            cell_name((name_id)s->names.key.at[of->name]),
            cell_real(of->ratio),
            cell_int(of->total_ns),
            cell_int(of->count),
            cell_real(of->average),
            cell_real(of->min),
            cell_real(of->q1),
            cell_real(of->median),
            cell_real(of->q3),
            cell_real(of->max),
            cell_real(of->stdev),
            cell_int(of->rank),
        };
        grid_row(&g, row);
    }
    return grid_sort(&g, by_ratio, 2, c->names) && recipe_stream(&s->ranks, c, &rank_table, &g);
}

static bool cann_api_sum_add(void *state, struct mode_context *c, const struct rank_summary *r)
{
    struct cann_api_sum_state *const s = state;
    const struct summary_calls *const from = &r->calls;
    const struct chosen_step step = step_choose(c->options, &r->steps);
    const uint32_t row = step.is_all ? NO_ROW : step.row; /* NO_ROW: the sums over all steps */
    if (!step.is_all && step.row == NO_ROW)
        return true;
    const size_t first = s->calls.n;
    int64_t total = 0;
    for (size_t i = 0; i < from->n; i++)
        total = wrap_add(total, from->step[i] == row ? from->total_ns[i] : 0);
    s->total_ns = wrap_add(s->total_ns, total);
    for (size_t i = 0; i < from->n; i++) {
        if (from->step[i] != row)
            continue;
        const uint32_t name = keys_add(&s->names, from->name[i], c->mem);
        struct named_calls *const to = list_add(&s->calls, c->mem);
        if (name == KEYS_NO_MEMORY || !to)
            return false;
        *to = (struct named_calls){
            .name = name,
            .rank = r->identity.rank,
            .total_ns = from->total_ns[i],
            .count = from->count[i],
            .ratio = total ? round_away((double)from->total_ns[i] * 100.0 / (double)total, 2) : 0,
            .average = round_away((double)from->total_ns[i] / (double)from->count[i], 1),
            .min = (double)from->min_ns[i],
            .q1 = round_away(from->q1_ns[i], 1),
            .median = round_away(from->median_ns[i], 1),
            .q3 = round_away(from->q3_ns[i], 1),
            .max = (double)from->max_ns[i],
            .stdev = round_away(from->stdev_ns[i], 1),
        };
    }
    return rank_rows(s, c, first);
}

/* As numpy rounds to one decimal. */
static double tenth(double v)
{
    return rint(v * 10) / 10;
}

/* "0, 3": ranks with this extreme. */
static const char *ranks_with(const struct named_calls *const *of, size_t n, bool is_max, double value,
                              struct arena *mem)
{
    struct error e = { 0 };
    struct out o;
    if (!out_open_memory(&o, &e))
        return NULL;
    for (size_t i = 0; i < n; i++)
        if ((is_max ? of[i]->max : of[i]->min) == value) {
            out_bytes(&o, ", ", o.n > 0 ? 2 : 0);
            out_i64(&o, of[i]->rank);
        }
    const char *const text = arena_text(mem, o.buf, o.n);
    out_discard(&o);
    return text;
}

/* One name over all ranks. The deviation is pooled from those of the ranks; `scratch` has room for n numbers. */
static bool row_over_ranks(struct grid *g, name_id name, const struct named_calls *const *of, size_t n, int64_t all_ns,
                           double *scratch, struct arena *mem)
{
    int64_t total = 0, count = 0;
    double q1 = of[0]->q1, q3 = of[0]->q3, min = of[0]->min, max = of[0]->max;
    for (size_t i = 0; i < n; i++) {
        total = wrap_add(total, of[i]->total_ns);
        count += of[i]->count;
        q1 = fmin(q1, of[i]->q1);
        q3 = fmax(q3, of[i]->q3);
        min = fmin(min, of[i]->min);
        max = fmax(max, of[i]->max);
        scratch[i] = of[i]->median;
    }
    qsort(scratch, n, sizeof *scratch, compare_doubles);
    const double median = n % 2 ? scratch[n / 2] : (scratch[n / 2 - 1] + scratch[n / 2]) / 2;
    const double average = (double)total / (double)count;
    long double inside = 0, between = 0;
    for (size_t i = 0; i < n; i++) {
        const long double off = (long double)of[i]->average - average;
        inside += (long double)(of[i]->count - 1) * of[i]->stdev * of[i]->stdev;
        between += (long double)of[i]->count * off * off;
    }
    const double stdev = n == 1 ? of[0]->stdev : (double)sqrtl((inside + between) / (long double)(count - 1));
    const struct cell row[ALL_CELLS] = {
        cell_name(name),
        cell_real(all_ns ? tenth((double)total / (double)all_ns * 100.0) : 0),
        cell_int(total),
        cell_int(count),
        cell_real(tenth(average)),
        cell_real(tenth(q1)),
        cell_real(tenth(median)),
        cell_real(tenth(q3)),
        cell_real(tenth(min)),
        cell_real(tenth(max)),
        cell_real(tenth(stdev)),
        cell_text(ranks_with(of, n, false, min, mem)),
        cell_text(ranks_with(of, n, true, max, mem)),
    };
    if (!row[ALL_CELLS - 2].text || !row[ALL_CELLS - 1].text)
        return false;
    grid_row(g, row);
    return !arena_failed(mem);
}

/* Rows of one name follow each other, ranks ascending. */
static bool rows_over_ranks(struct grid *g, const struct cann_api_sum_state *s, struct arena *mem)
{
    const size_t n = s->calls.n, n_names = s->names.key.n;
    size_t *const first = arena_take(mem, n_names + 1, sizeof *first);
    const struct named_calls **const of = arena_take(mem, n, sizeof *of);
    double *const scratch = arena_take(mem, n, sizeof *scratch);
    if (!first || !of || !scratch)
        return false;
    for (size_t i = 0; i < n; i++)
        first[s->calls.at[i].name + 1]++;
    for (size_t i = 0; i < n_names; i++)
        first[i + 1] += first[i];
    for (size_t i = 0; i < n; i++)
        of[first[s->calls.at[i].name]++] = &s->calls.at[i];
    for (size_t i = 0, from = 0; i < n_names; from = first[i++])
        if (!row_over_ranks(g, (name_id)s->names.key.at[i], of + from, first[i] - from, s->total_ns, scratch, mem))
            return false;
    return true;
}

static bool cann_api_sum_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    const struct cann_api_sum_state *const s = state;
    struct grid all = { .n_columns = ALL_CELLS, .mem = c->mem };
    static const struct grid_key by_total[] = { { 2, true }, { 0, false } };
    if (!rows_over_ranks(&all, s, c->mem) || !grid_sort(&all, by_total, 2, c->names) ||
        !recipe_table(out, "CannApiSum", "all_stats.csv", RECIPE_COLUMNS(all_columns), &all))
        return error_no_memory(e, c->mode->name);
    return true;
}

const struct mode mode_cann_api_sum = {
    .name = "cann_api_sum",
    .class_name = "CannApiSum",
    .about = "durations of runtime calls",
    .needs = RANK_CALLS,
    .uses = RANK_STEPS,
    .begin = cann_api_sum_begin,
    .add = cann_api_sum_add,
    .finish = cann_api_sum_finish,
    .streams = true,
};
