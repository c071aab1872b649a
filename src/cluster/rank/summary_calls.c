/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank/summary_parts.h"

#include <stdlib.h>

#include "base/memory/tuples.h"
#include "cluster/rank/rank_parts.h"
#include "cluster/rank/summary_file.h"

enum { NAME, STEP, PARTS };
enum { IN_ALL = NO_ROW, IN_NONE = NO_ROW - 1 }; /* besides rows of steps */

struct calls_by_name {
    struct tuples tuples;
    LIST(struct durations) durations; /* of each */
    const struct names *names;
};

/* What there is of all steps comes behind them: IN_ALL is the largest number. */
static int by_name_and_step(const void *a, const void *b, void *grouping)
{
    const struct calls_by_name *const g = grouping;
    uint32_t x[PARTS], y[PARTS];
    tuple_parts(&g->tuples, *(const uint32_t *)a, x, PARTS);
    tuple_parts(&g->tuples, *(const uint32_t *)b, y, PARTS);
    const int order = x[NAME] == y[NAME] ? 0 : names_compare(g->names, x[NAME], y[NAME]);
    return order != 0 ? order : (x[STEP] > y[STEP]) - (x[STEP] < y[STEP]);
}

static struct durations *summary_calls_of(struct calls_by_name *g, name_id name, uint32_t step, struct arena *scratch)
{
    const uint32_t at = tuple_add(&g->tuples, (const uint32_t[PARTS]){ name, step }, PARTS, scratch);
    if (at == KEYS_NO_MEMORY || (at == g->durations.n && !list_add(&g->durations, scratch)))
        return NULL;
    return &g->durations.at[at];
}

/* The whole recording, of what is in each step and in none. */
static bool summary_calls_join(struct calls_by_name *g, struct arena *scratch)
{
    for (size_t i = 0, n = g->durations.n; i < n; i++) {
        uint32_t part[PARTS];
        tuple_parts(&g->tuples, (uint32_t)i, part, PARTS);
        struct durations *const all = summary_calls_of(g, part[NAME], IN_ALL, scratch);
        const struct durations *const d = &g->durations.at[i];
        for (size_t k = 0; all && k < d->count.n; k++)
            if (!durations_add(all, (int64_t)d->value.key.at[k], d->count.at[k], scratch))
                return false;
        if (!all)
            return false;
    }
    return true;
}

static bool summary_calls_fill(struct summary_calls *out, struct calls_by_name *g, struct arena *mem,
                               struct arena *scratch)
{
    const size_t n = g->durations.n;
    uint32_t *order = arena_take(scratch, n, sizeof *order);
    out->name = arena_take(mem, n, sizeof *out->name);
    out->step = arena_take(mem, n, sizeof *out->step);
    int64_t **whole[] = { &out->count, &out->total_ns, &out->min_ns, &out->max_ns };
    double **real[] = { &out->q1_ns, &out->median_ns, &out->q3_ns, &out->stdev_ns };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        *whole[i] = arena_take(mem, n, sizeof **whole[i]);
        *real[i] = arena_take(mem, n, sizeof **real[i]);
    }
    if (arena_failed(mem) || arena_failed(scratch))
        return false;
    order_fill(order, n);
    qsort_r(order, n, sizeof *order, by_name_and_step, g);
    for (size_t i = 0; i < n; i++) {
        struct description d;
        uint32_t part[PARTS];
        tuple_parts(&g->tuples, order[i], part, PARTS);
        if (part[STEP] == IN_NONE)
            continue;
        if (!durations_describe(&g->durations.at[order[i]], &d))
            return false;
        const size_t row = out->n++;
        out->name[row] = part[NAME];
        out->step[row] = part[STEP];
        out->count[row] = (int64_t)d.count;
        out->total_ns[row] = d.sum;
        out->min_ns[row] = d.min_ns;
        out->max_ns[row] = d.max_ns;
        out->q1_ns[row] = d.q1;
        out->median_ns[row] = d.median;
        out->q3_ns[row] = d.q3;
        out->stdev_ns[row] = d.population_std;
    }
    return true;
}

bool summarise_calls(struct rank_summary *s, const struct rank *r)
{
    s->calls = (struct summary_calls){ 0 };
    struct arena *scratch = arena_new();
    struct calls_by_name g = { .names = r->names };
    bool works = scratch != NULL;
    for (size_t i = 0; works && i < r->calls.n; i++) {
        const uint32_t step = step_of(&s->steps, r->calls.begin_ns[i]);
        const int64_t begin = r->calls.begin_ns[i], end = r->calls.end_ns[i], ns = end > begin ? end - begin : 0;
        struct durations *const d = summary_calls_of(&g, r->calls.name[i], step == NO_ROW ? IN_NONE : step, scratch);
        works = d && durations_add(d, ns, 1, scratch);
    }
    works = works && summary_calls_join(&g, scratch) && summary_calls_fill(&s->calls, &g, s->mem, scratch);
    arena_free(scratch);
    return works;
}
