/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank/summary_parts.h"

#include <stdlib.h>

#include "base/memory/tuples.h"
#include "cluster/rank/rank_parts.h"
#include "cluster/rank/summary_file.h"

enum { NAME, STEP, PARTS };

struct calls_by_name {
    struct tuples tuples;
    LIST(struct durations) durations; /* of each */
    const struct names *names;
};

/* What there is of all steps comes behind them: NO_ROW is the largest number. */
static int by_name_and_step(const void *a, const void *b, void *grouping)
{
    const struct calls_by_name *const g = grouping;
    uint32_t x[PARTS], y[PARTS];
    tuple_parts(&g->tuples, *(const uint32_t *)a, x, PARTS);
    tuple_parts(&g->tuples, *(const uint32_t *)b, y, PARTS);
    const int order = x[NAME] == y[NAME] ? 0 : names_compare(g->names, x[NAME], y[NAME]);
    return order != 0 ? order : (x[STEP] > y[STEP]) - (x[STEP] < y[STEP]);
}

static bool summary_calls_add(struct calls_by_name *g, name_id name, uint32_t step, int64_t ns, struct arena *scratch)
{
    const uint32_t at = tuple_add(&g->tuples, (const uint32_t[PARTS]){ name, step }, PARTS, scratch);
    if (at == KEYS_NO_MEMORY || (at == g->durations.n && !list_add(&g->durations, scratch)))
        return false;
    return durations_add(&g->durations.at[at], ns, 1, scratch);
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
        if (!durations_describe(&g->durations.at[order[i]], &d))
            return false;
        out->name[i] = part[NAME];
        out->step[i] = part[STEP];
        out->count[i] = (int64_t)d.count;
        out->total_ns[i] = d.sum;
        out->min_ns[i] = d.min_ns;
        out->max_ns[i] = d.max_ns;
        out->q1_ns[i] = d.q1;
        out->median_ns[i] = d.median;
        out->q3_ns[i] = d.q3;
        out->stdev_ns[i] = d.population_std;
    }
    out->n = n;
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
        works = summary_calls_add(&g, r->calls.name[i], NO_ROW, ns, scratch) &&
                (step == NO_ROW || summary_calls_add(&g, r->calls.name[i], step, ns, scratch));
    }
    works = works && summary_calls_fill(&s->calls, &g, s->mem, scratch);
    arena_free(scratch);
    return works;
}
