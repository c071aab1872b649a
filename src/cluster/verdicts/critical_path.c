/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/verdicts/verdicts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/sort.h"
#include "profile/calls.h"

bool critical_path_add(struct critical_path *p, const struct rank_summary *s, uint32_t rank, const uint32_t *id)
{
    const struct summary_collectives *const c = &s->collectives;
    for (size_t i = 0; i < c->ops.n; i++) {
        struct path_row *const row = list_add(&p->rows, p->mem);
        if (!row)
            return false;
        *row = (struct path_row){ .rank = rank,
                                  .id = id[i],
                                  .step = c->step[i] == NO_ROW ? INT64_MIN : s->steps.id[c->step[i]],
                                  .begin_ns = c->ops.begin_ns[i],
                                  .end_ns = c->ops.end_ns[i],
                                  .before_ns = c->computing_ns[i] + c->copying_ns[i] + c->free_ns[i],
                                  .free_ns = c->free_ns[i],
                                  .longest_ns = c->longest_ns[i],
                                  .longest = c->longest[i],
                                  .type = c->ops.type[i],
                                  .group = c->ops.group[i] };
    }
    for (size_t i = 0; i < s->steps.n; i++) {
        struct path_end *const end = list_add(&p->ends, p->mem);
        if (!end)
            return false;
        *end = (struct path_end){ rank, s->steps.id[i], s->sums.tail_computing_ns[i], s->sums.tail_free_ns[i] };
    }
    return true;
}

bool critical_path_is_full(const struct critical_path *p)
{
    return p->rows.n > (p->limit ? p->limit : (size_t)PATH_ROWS);
}

void critical_path_keep(struct critical_path *p, int64_t step)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->rows.n; i++)
        if (p->rows.at[i].step == step)
            p->rows.at[kept++] = p->rows.at[i];
    p->rows.n = kept;
}

/* A collective with all of its members. */
struct critical_path_node {
    uint32_t last;            /* row of the member that joined last */
    uint32_t from, to;        /* its members: places in `member` */
    int64_t begin_ns, end_ns; /* of the member that joined last */
};

/* One step of all ranks, with times on the common clock. */
struct graph {
    size_t n, n_nodes, n_ends;
    struct path_row *row;
    struct path_end *end;
    uint32_t *node;           /* by row */
    uint32_t *before;         /* by row: the last row of its rank that has ended when it begins; NO_ROW: none */
    uint32_t *member, *order; /* rows sorted by node; nodes sorted by end */
    uint32_t *last;           /* by end: the row of its rank that ends last; NO_ROW: none */
    struct critical_path_node *at;
    int64_t *cut_ns, *node_cut_ns; /* time to leave out in a replay: before a row, of a node */
    int64_t *tail_cut_ns;          /* the same after the last row, by end */
    int64_t *new_end_ns;           /* by row, in a replay */
    bool *is_played;               /* by node */
    struct arena *mem;
};

static void *columns_taken(struct graph *g, size_t n, size_t size)
{
    return arena_take(g->mem, n + 1, size);
}

static bool choose_rows(struct graph *g, const struct critical_path *p, const struct collective_match *m, int64_t step)
{
    for (size_t i = 0; i < p->rows.n; i++)
        g->n += p->rows.at[i].step == step;
    for (size_t i = 0; i < p->ends.n; i++)
        g->n_ends += p->ends.at[i].step == step;
    g->row = columns_taken(g, g->n, sizeof *g->row);
    g->end = columns_taken(g, g->n_ends + m->rank.n, sizeof *g->end);
    if (!g->row || !g->end || g->n >= NO_ROW)
        return false;
    g->n = g->n_ends = 0;
    for (size_t i = 0; i < p->rows.n; i++)
        if (p->rows.at[i].step == step) {
            struct path_row *const r = &g->row[g->n++];
            *r = p->rows.at[i];
            r->begin_ns -= m->clock.at[r->rank].ahead_ns;
            r->end_ns -= m->clock.at[r->rank].ahead_ns;
        }
    for (size_t i = 0; i < p->ends.n; i++)
        if (p->ends.at[i].step == step)
            g->end[g->n_ends++] = p->ends.at[i];
    for (uint32_t i = 0; step == INT64_MIN && i < m->rank.n; i++)
        g->end[g->n_ends++] = (struct path_end){ .rank = i, .step = step };
    return true;
}

static bool find_nodes(struct graph *g)
{
    struct keys ids = { 0 };
    g->node = columns_taken(g, g->n, sizeof *g->node);
    g->member = columns_taken(g, g->n, sizeof *g->member);
    g->at = columns_taken(g, g->n, sizeof *g->at);
    if (!g->node || !g->member || !g->at)
        return false;
    for (uint32_t i = 0; i < g->n; i++) {
        const uint64_t key = g->row[i].id == NO_ROW ? UINT64_C(1) << 32 | i : g->row[i].id;
        if ((g->node[i] = keys_add(&ids, key, g->mem)) == KEYS_NO_MEMORY)
            return false;
    }
    g->n_nodes = ids.key.n;
    order_fill(g->member, g->n);
    if (!order_by_u32(g->member, g->n, g->node))
        return false;
    for (uint32_t i = 0; i < g->n; i++) {
        struct critical_path_node *const node = &g->at[g->node[g->member[i]]];
        const struct path_row *const r = &g->row[g->member[i]];
        if (node->to == 0 || r->begin_ns > node->begin_ns)
            *node =
                (struct critical_path_node){ g->member[i], node->to == 0 ? i : node->from, i, r->begin_ns, r->end_ns };
        node->to = i + 1;
    }
    return true;
}

/* Fills `before` and `last`, from the rows of each rank sorted by their ends. */
static bool find_before(struct graph *g)
{
    uint64_t *const end = columns_taken(g, g->n, sizeof *end);
    uint32_t *const order = columns_taken(g, g->n, sizeof *order);
    g->before = columns_taken(g, g->n, sizeof *g->before);
    g->last = columns_taken(g, g->n_ends, sizeof *g->last);
    if (!end || !order || !g->before || !g->last)
        return false;
    for (size_t i = 0; i < g->n; i++)
        end[i] = (uint64_t)g->row[i].end_ns ^ UINT64_C(1) << 63;
    size_t next = 0;
    for (size_t from = 0, to; from < g->n; from = to) {
        const uint32_t rank = g->row[from].rank;
        for (to = from; to < g->n && g->row[to].rank == rank; to++)
            order[to] = (uint32_t)to;
        if (!order_by_u64(order + from, to - from, end))
            return false;
        for (size_t i = from; i < to; i++) {
            const size_t at = SEARCH_FIRST_NOT(k, from, to, g->row[order[k]].end_ns <= g->row[i].begin_ns);
            g->before[i] = at > from && order[at - 1] != i ? order[at - 1] : NO_ROW;
        }
        for (; next < g->n_ends && g->end[next].rank <= rank; next++)
            g->last[next] = g->end[next].rank == rank ? order[to - 1] : NO_ROW;
    }
    for (; next < g->n_ends; next++)
        g->last[next] = NO_ROW;
    return true;
}

static bool order_nodes(struct graph *g)
{
    uint64_t *const end = columns_taken(g, g->n_nodes, sizeof *end);
    g->order = columns_taken(g, g->n_nodes, sizeof *g->order);
    g->cut_ns = columns_taken(g, g->n, sizeof *g->cut_ns);
    g->node_cut_ns = columns_taken(g, g->n_nodes, sizeof *g->node_cut_ns);
    g->tail_cut_ns = columns_taken(g, g->n_ends, sizeof *g->tail_cut_ns);
    g->new_end_ns = columns_taken(g, g->n, sizeof *g->new_end_ns);
    g->is_played = columns_taken(g, g->n_nodes, sizeof *g->is_played);
    if (arena_failed(g->mem))
        return false;
    for (size_t i = 0; i < g->n_nodes; i++)
        end[i] = (uint64_t)g->at[i].end_ns ^ UINT64_C(1) << 63;
    order_fill(g->order, g->n_nodes);
    return order_by_u64(g->order, g->n_nodes, end);
}

/* Where a rank's part of the step ends. */
static int64_t end_of(const struct graph *g, size_t i, const int64_t *row_end_ns)
{
    return g->last[i] == NO_ROW
               ? INT64_MIN
               : row_end_ns[g->last[i]] + g->end[i].computing_ns + g->end[i].free_ns - g->tail_cut_ns[i];
}

/* Replays the step without what is cut, and returns its last end. If the predecessor of a collective comes later in the
 * order, the clocks are wrong; then the measured time counts. */
static int64_t play(struct graph *g)
{
    int64_t last = INT64_MIN;
    memset(g->is_played, 0, g->n_nodes * sizeof *g->is_played);
    for (size_t k = 0; k < g->n_nodes; k++) {
        const struct critical_path_node *const node = &g->at[g->order[k]];
        int64_t arrived = INT64_MIN;
        for (uint32_t i = node->from; i < node->to; i++) {
            const uint32_t row = g->member[i], before = g->before[row];
            int64_t ns = g->row[row].begin_ns - g->cut_ns[row];
            if (before != NO_ROW && g->is_played[g->node[before]])
                ns += g->new_end_ns[before] - g->row[before].end_ns;
            arrived = ns > arrived ? ns : arrived;
        }
        const int64_t moved = arrived - node->begin_ns - g->node_cut_ns[g->order[k]];
        for (uint32_t i = node->from; i < node->to; i++)
            g->new_end_ns[g->member[i]] = g->row[g->member[i]].end_ns + moved;
        g->is_played[g->order[k]] = true;
    }
    for (size_t i = 0; i < g->n_ends; i++) {
        const int64_t end = end_of(g, i, g->new_end_ns);
        last = end > last ? end : last;
    }
    return last;
}

/* One stretch of the path. */
struct critical_path_segment {
    enum path_kind kind;
    uint32_t rank, at; /* at: a node (communication), an end (is_tail), or the row that follows */
    bool is_tail;
    name_id name, group;
    int64_t ns;
};

struct critical_path_walk {
    struct graph g;
    LIST(struct critical_path_segment) segments;
    int64_t begin_ns, end_ns;
};

static bool add_segment(struct critical_path_walk *w, struct critical_path_segment s)
{
    struct critical_path_segment *const new = s.ns > 0 ? list_add(&w->segments, w->g.mem) : NULL;
    if (new)
        *new = s;
    return new || s.ns <= 0;
}

/* What a rank did before a row, since its last collective that had ended. Collectives that began in between each know
 * their free time. */
static bool add_before(struct critical_path_walk *w, uint32_t row)
{
    const struct graph *const g = &w->g;
    const uint32_t before = g->before[row];
    const struct path_row *const r = &g->row[row], *first = r;
    while (before == NO_ROW && first > g->row && first[-1].rank == r->rank)
        first--;
    const int64_t from = before == NO_ROW ? first->begin_ns - first->before_ns : g->row[before].end_ns;
    const int64_t all = r->begin_ns - from;
    int64_t free_ns = 0, longest_ns = -1;
    name_id longest = NAME_EMPTY;
    for (size_t i = (size_t)row + 1; i-- > 0 && g->row[i].rank == r->rank && g->row[i].begin_ns > from;) {
        free_ns += g->row[i].free_ns;
        if (g->row[i].longest_ns > longest_ns) {
            longest_ns = g->row[i].longest_ns;
            longest = g->row[i].longest;
        }
    }
    free_ns = free_ns > all ? all : free_ns;
    w->begin_ns = from;
    return add_segment(w, (struct critical_path_segment){ PATH_COMPUTING, r->rank, row, false, longest, NAME_EMPTY,
                                                          all - free_ns }) &&
           add_segment(
               w, (struct critical_path_segment){ PATH_FREE, r->rank, row, false, NAME_EMPTY, NAME_EMPTY, free_ns });
}

/* Follows the path from the last end of the step backwards. */
static bool walk_back(struct critical_path_walk *w)
{
    struct graph *const g = &w->g;
    size_t end = 0;
    bool done = true;
    for (size_t i = 0; i < g->n; i++)
        g->new_end_ns[i] = g->row[i].end_ns;
    for (size_t i = 1; i < g->n_ends; i++)
        end = end_of(g, i, g->new_end_ns) > end_of(g, end, g->new_end_ns) ? i : end;
    if (g->n_ends == 0 || g->last[end] == NO_ROW)
        return true;
    const struct path_end *const tail = &g->end[end];
    uint32_t row = g->last[end];
    w->end_ns = w->begin_ns = end_of(g, end, g->new_end_ns);
    done = add_segment(w, (struct critical_path_segment){ PATH_COMPUTING, tail->rank, (uint32_t)end, true, NAME_EMPTY,
                                                          NAME_EMPTY, tail->computing_ns }) &&
           add_segment(w, (struct critical_path_segment){ PATH_FREE, tail->rank, (uint32_t)end, true, NAME_EMPTY,
                                                          NAME_EMPTY, tail->free_ns });
    for (size_t n = 0; done && row != NO_ROW && n < g->n; n++) {
        const struct critical_path_node *const node = &g->at[g->node[row]];
        const uint32_t last = node->begin_ns < g->row[row].end_ns ? node->last : row; /* else the clocks are wrong */
        const struct path_row *const r = &g->row[last];
        done = add_segment(w, (struct critical_path_segment){ PATH_COMMUNICATION, r->rank, g->node[row], false, r->type,
                                                              r->group, g->row[row].end_ns - r->begin_ns }) &&
               add_before(w, last);
        row = g->before[last];
    }
    return done;
}

/* Whether two segments are reported as one part. */
static bool is_same_part(const struct critical_path_segment *a, const struct critical_path_segment *b)
{
    return a->kind == b->kind && a->name == b->name && a->group == b->group &&
           (a->kind == PATH_COMMUNICATION || a->rank == b->rank);
}

static int by_part(const void *a, const void *b)
{
    const struct critical_path_segment *x = a, *y = b;
    const uint64_t left = (uint64_t)x->kind << 32 | x->name, right = (uint64_t)y->kind << 32 | y->name;
    if (left != right)
        return left < right ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

struct critical_path_part {
    size_t from, to; /* segments */
    int64_t ns;
};

static int by_length(const void *a, const void *b)
{
    const struct critical_path_part *x = a, *y = b;
    return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : (x->from > y->from) - (x->from < y->from);
}

/* Leaves a part out of the next replay (is_cut), or puts it back. */
static void cut(struct critical_path_walk *w, const struct critical_path_part *p, bool is_cut)
{
    struct graph *const g = &w->g;
    for (size_t i = p->from; i < p->to; i++) {
        const struct critical_path_segment *const s = &w->segments.at[i];
        int64_t *const list = s->is_tail ? g->tail_cut_ns : s->kind == PATH_COMMUNICATION ? g->node_cut_ns : g->cut_ns;
        list[s->at] = is_cut ? list[s->at] + s->ns : 0;
    }
}

/* How much shorter the step is without a part. */
static int64_t saved_by(struct critical_path_walk *w, const struct critical_path_part *p)
{
    cut(w, p, true);
    const int64_t saved = w->end_ns - play(&w->g);
    cut(w, p, false);
    return saved > 0 ? saved : 0;
}

static bool copy_part(struct critical_path_walk *w, const struct critical_path_part *p,
                      const struct collective_match *m, const struct groups *g, struct job_report *out)
{
    const struct critical_path_segment *const s = &w->segments.at[p->from];
    const char *const name = names_text(m->names, s->name), *const group = names_text(m->names, s->group);
    const struct noted_group *const noted =
        groups_noted(g, names_number(m->names, group_number(group, names_len(m->names, s->group))));
    size_t len = strlen(name);
    struct path_part *const to = list_add(&out->parts, out->mem);
    bool is_one_rank = true;
    len -= s->kind == PATH_COMMUNICATION && len > 0 && name[len - 1] == '_'; /* hcom_allReduce_ */
    if (!to)
        return false;
    for (size_t i = p->from; i < p->to; i++)
        is_one_rank &= w->segments.at[i].rank == s->rank;
    *to =
        (struct path_part){ .kind = s->kind,
                            .rank = is_one_rank ? m->rank.at[s->rank] : -1,
                            .name = arena_text(out->mem, name, len),
                            .group_name = noted ? arena_text(out->mem, noted->pg_name, strlen(noted->pg_name)) : "",
                            .group = s->kind == PATH_COMMUNICATION ? arena_text(out->mem, group, strlen(group)) : NULL,
                            .n = (uint32_t)(p->to - p->from),
                            .ns = p->ns,
                            .saved_ns = saved_by(w, p) };
    return to->name && to->group_name && (to->group || s->kind != PATH_COMMUNICATION);
}

static bool report_parts(struct critical_path_walk *w, const struct collective_match *m, const struct groups *g,
                         struct job_report *out)
{
    const size_t n = w->segments.n;
    struct critical_path_part *const part = arena_take(w->g.mem, n + 1, sizeof *part);
    struct keys ranks = { 0 };
    size_t n_parts = 0;
    bool done = part != NULL;
    for (size_t i = 0; done && i < n; i++)
        done = keys_add(&ranks, w->segments.at[i].rank, w->g.mem) != KEYS_NO_MEMORY;
    if (n > 0)
        qsort(w->segments.at, n, sizeof *w->segments.at, by_part);
    for (size_t from = 0, to; done && from < n; from = to) {
        struct critical_path_part *const p = &part[n_parts++];
        p->from = from;
        for (to = from; to < n && is_same_part(&w->segments.at[from], &w->segments.at[to]); to++)
            p->ns += w->segments.at[to].ns;
        p->to = to;
    }
    if (n_parts > 0)
        qsort(part, n_parts, sizeof *part, by_length);
    for (size_t i = 0; done && i < n_parts && i < PATH_PARTS; i++)
        done = copy_part(w, &part[i], m, g, out);
    out->has_path = n > 0;
    out->path_ns = w->end_ns - w->begin_ns;
    out->path_segments = (uint32_t)n;
    out->path_ranks = (uint32_t)ranks.key.n;
    return done;
}

bool critical_path_finish(struct critical_path *p, const struct collective_match *m, const struct groups *g,
                          int64_t step, struct job_report *out)
{
    struct critical_path_walk w = { .g.mem = arena_new() };
    const bool done = w.g.mem && choose_rows(&w.g, p, m, step) && find_nodes(&w.g) && find_before(&w.g) &&
                      order_nodes(&w.g) && walk_back(&w) && report_parts(&w, m, g, out);
    if (done && step != INT64_MIN)
        out->path_step = arena_printf(out->mem, "%lld", (long long)step);
    arena_free(w.g.mem);
    return done && (step == INT64_MIN || out->path_step);
}
