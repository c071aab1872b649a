/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/verdicts/verdicts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process/robust.h"

enum { LEAST_LINKS = 4, SHOWN = 5 };

static const struct result_column columns[] = {
    COLUMN("srcRank", "INTEGER"),      COLUMN("dstRank", "INTEGER"),      COLUMN("transportType", "TEXT"),
    COLUMN("opName", "TEXT"),          COLUMN("groupName", "TEXT"),       COLUMN("transitSize(MB)", "REAL"),
    COLUMN("transitTime(ms)", "REAL"), COLUMN("bandwidth(GB/s)", "REAL"), COLUMN("medianBandwidth(GB/s)", "REAL"),
    COLUMN("share", "REAL"),
};
enum { CELLS = sizeof columns / sizeof *columns, SHARE = CELLS - 1 };

void slow_links_init(struct slow_links *l, struct names *names, struct arena *mem)
{
    *l = (struct slow_links){ .groups = { .names = names, .mem = mem }, .names = names, .mem = mem };
}

bool slow_links_add(struct slow_links *l, const struct rank_summary *r, const struct cluster_options *o)
{
    const struct rank_comm_matrix *const m = &r->comm_matrix;
    char wanted[32];
    snprintf(wanted, sizeof wanted, "step%lld", (long long)o->step);
    for (size_t i = 0; i < m->n; i++) {
        if (!(m->transit_ms[i] > 0) || m->src[i] == m->dst[i] || m->src[i] < 0 || m->dst[i] < 0 ||
            (o->has_step && strcmp(names_text(l->names, m->step[i]), wanted) != 0))
            continue;
        const uint32_t part[] = { m->op[i], m->group[i], m->transport[i], (uint32_t)m->src[i], (uint32_t)m->dst[i] };
        const uint32_t at = tuple_add(&l->keys, part, sizeof part / sizeof *part, l->mem);
        if (at == KEYS_NO_MEMORY || (at == l->links.n && !list_add(&l->links, l->mem)))
            return false;
        struct link_sum *const link = &l->links.at[at];
        *link = (struct link_sum){ m->op[i],
                                   m->transport[i],
                                   m->group[i],
                                   m->src[i],
                                   m->dst[i],
                                   link->mb + m->transit_mb[i],
                                   link->ms + m->transit_ms[i],
                                   link->steps + 1 };
    }
    return groups_add(&l->groups, r);
}

/* Kinds follow each other: operator, transport, and bytes of all uses, in KB. */
static int by_kind(const void *a, const void *b, void *names)
{
    const struct link_sum *const x = a, *const y = b;
    int order = x->op == y->op ? 0 : names_compare(names, x->op, y->op);
    if (order == 0 && x->transport != y->transport)
        order = names_compare(names, x->transport, y->transport);
    if (order == 0)
        order = (rint(x->mb * 1000) > rint(y->mb * 1000)) - (rint(x->mb * 1000) < rint(y->mb * 1000));
    return order;
}

static int by_kind_and_link(const void *a, const void *b, void *names)
{
    const struct link_sum *const x = a, *const y = b;
    int order = by_kind(a, b, names);
    if (order == 0 && x->group != y->group)
        order = names_compare(names, x->group, y->group);
    if (order == 0)
        order = (x->src > y->src) - (x->src < y->src);
    return order != 0 ? order : (x->dst > y->dst) - (x->dst < y->dst);
}

/* Links of one kind. `scratch` has room for n numbers. */
static void link_judge(struct slow_links *l, const struct link_sum *link, size_t n, double *scratch, struct grid *g)
{
    if (n < LEAST_LINKS)
        return;
    for (size_t i = 0; i < n; i++)
        scratch[i] = link[i].mb / link[i].ms;
    const struct middle of = middle_of(scratch, n);
    const double median = of.median, deviation = of.deviation;
    const char *const op = names_text(l->names, link->op), *const end = strrchr(op, '-');
    const double slow = end && strcmp(end, "-total") == 0 ? 0.8 : 0.5;
    for (size_t i = 0; i < n; i++) {
        const double gbs = link[i].mb / link[i].ms;
        if (gbs >= median * slow || gbs >= median - 3 * deviation)
            continue;
        const int64_t src = groups_global(&l->groups, link[i].group, link[i].src);
        const int64_t dst = groups_global(&l->groups, link[i].group, link[i].dst);
        const struct cell row[CELLS] = {
            src < 0 ? cell_na() : cell_int(src),
            dst < 0 ? cell_na() : cell_int(dst),
            cell_name(link[i].transport),
            cell_name(link[i].op),
            cell_name(link[i].group),
            cell_real(link[i].mb),
            cell_real(link[i].ms),
            cell_real(gbs),
            cell_real(median),
            cell_real(gbs / median),
        };
        grid_row(g, row);
    }
}

/* A line for each of the slowest links; a link may be slow in several kinds of operators. */
static bool report(const struct slow_links *l, const struct grid *g, struct results *out)
{
    const size_t n = g->cells.n / CELLS;
    int64_t shown[SHOWN][2];
    size_t n_shown = 0;
    for (size_t i = 0; i < n && n_shown < SHOWN; i++) {
        const struct cell *const row = g->cells.at + i * CELLS;
        bool is_new = row[0].kind != CELL_NA && row[1].kind != CELL_NA;
        for (size_t k = 0; k < n_shown; k++)
            is_new &= shown[k][0] != row[0].i || shown[k][1] != row[1].i;
        if (!is_new)
            continue;
        shown[n_shown][0] = row[0].i;
        shown[n_shown++][1] = row[1].i;
        if (!results_finding(out, "link %lld-%lld (%s) carries %.0f %% of the bandwidth of its kind in %s",
                             (long long)row[0].i, (long long)row[1].i, names_text(l->names, row[2].name),
                             100 * row[SHARE].f, names_text(l->names, row[3].name)))
            return false;
    }
    return true;
}

bool slow_links_finish(struct slow_links *l, struct results *out)
{
    struct grid g = { .n_columns = CELLS, .mem = l->mem };
    static const struct grid_key by_share[] = { { SHARE, false }, { 0, false }, { 1, false }, { 3, false } };
    const size_t n = l->links.n;
    double *const scratch = arena_take(l->mem, n, sizeof *scratch);
    if (!scratch)
        return false;
    if (n > 0)
        qsort_r(l->links.at, n, sizeof *l->links.at, by_kind_and_link, l->names);
    for (size_t from = 0, end; from < n; from = end) {
        for (end = from + 1; end < n && by_kind(&l->links.at[from], &l->links.at[end], l->names) == 0;)
            end++;
        link_judge(l, l->links.at + from, end - from, scratch, &g);
    }
    return grid_sort(&g, by_share, 4, l->names) &&
           recipe_table(out, "SlowLinks", "slow_links.csv", RECIPE_COLUMNS(columns), &g) && report(l, &g, out);
}
