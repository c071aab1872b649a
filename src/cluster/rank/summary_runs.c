/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/columns.h"
#include "cluster/rank/summary_parts.h"

#include <stdlib.h>

#include "base/memory/tuples.h"
#include "cluster/rank/rank_parts.h"

enum { NAME, OP_TYPE, TASK_TYPE, SHAPES, STEP, PARTS };

struct grouping {
    struct tuples tuples;
    const struct names *names;
};

/* Steps ascend; what is in none comes last. */
static int by_texts(const void *a, const void *b, void *grouping)
{
    const struct grouping *const g = grouping;
    uint32_t x[PARTS], y[PARTS];
    tuple_parts(&g->tuples, *(const uint32_t *)a, x, PARTS);
    tuple_parts(&g->tuples, *(const uint32_t *)b, y, PARTS);
    for (size_t i = 0; i < STEP; i++) {
        const int order = x[i] == y[i] ? 0 : names_compare(g->names, x[i], y[i]);
        if (order != 0)
            return order;
    }
    return (x[STEP] > y[STEP]) - (x[STEP] < y[STEP]);
}

/* Rows of kernels by group, then by duration; the groups by their texts. */
static bool summary_runs_fill(struct summary_runs *out, size_t n, const struct grouping *g, const uint32_t *group,
                              const uint64_t *ns, struct arena *mem, struct arena *scratch)
{
    const size_t n_groups = tuples_n(&g->tuples, PARTS);
    uint32_t *rows = arena_take(scratch, n, sizeof *rows), *order = arena_take(scratch, n_groups, sizeof *order);
    uint32_t *place = arena_take(scratch, n_groups, sizeof *place), *placed = arena_take(scratch, n, sizeof *placed);
    out->n = n_groups;
    arena_columns(mem, n_groups, out->name, out->op_type, out->task_type, out->input_shapes, out->step);
    out->first = arena_take(mem, n_groups + 1, sizeof *out->first);
    out->ns = arena_take(mem, n, sizeof *out->ns);
    if (arena_failed(mem) || arena_failed(scratch))
        return false;
    order_fill(order, n_groups);
    qsort_r(order, n_groups, sizeof *order, by_texts, (void *)(uintptr_t)g);
    for (size_t i = 0; i < n_groups; i++) {
        uint32_t part[PARTS];
        tuple_parts(&g->tuples, order[i], part, PARTS);
        place[order[i]] = (uint32_t)i;
        out->name[i] = part[NAME];
        out->op_type[i] = part[OP_TYPE];
        out->task_type[i] = part[TASK_TYPE];
        out->input_shapes[i] = part[SHAPES];
        out->step[i] = part[STEP];
    }
    for (size_t i = 0; i < n; i++) {
        placed[i] = place[group[i]];
        out->first[placed[i] + 1]++;
    }
    for (size_t i = 0; i < n_groups; i++)
        out->first[i + 1] += out->first[i];
    order_fill(rows, n);
    if (!order_by_u64(rows, n, ns) || !order_by_u32(rows, n, placed))
        return false;
    for (size_t i = 0; i < n; i++)
        out->ns[i] = (int64_t)ns[rows[i]];
    return true;
}

bool summarise_runs(struct rank_summary *s, const struct rank *r)
{
    const size_t most = r->tasks.n;
    size_t n = 0;
    s->kernels = (struct summary_runs){ 0 };
    struct arena *scratch = arena_new();
    uint32_t *group = scratch ? arena_take(scratch, most, sizeof *group) : NULL;
    uint64_t *ns = scratch ? arena_take(scratch, most, sizeof *ns) : NULL;
    struct grouping g = { .names = r->names };
    bool works = group && ns;
    for (size_t i = 0; works && i < most; i++) {
        const uint32_t k = r->tasks.kernel[i];
        if (k == NO_ROW)
            continue;
        const int64_t begin = r->tasks.begin_ns[i], end = r->tasks.end_ns[i];
        const uint32_t part[PARTS] = { r->kernels.name[k], r->kernels.op_type[k], r->kernels.task_type[k],
                                       r->kernels.input_shapes[k], step_of(&s->steps, begin) };
        group[n] = tuple_add(&g.tuples, part, PARTS, scratch);
        ns[n] = end > begin ? (uint64_t)end - (uint64_t)begin : 0;
        works = group[n++] != KEYS_NO_MEMORY;
    }
    works = works && summary_runs_fill(&s->kernels, n, &g, group, ns, s->mem, scratch);
    arena_free(scratch);
    return works;
}
