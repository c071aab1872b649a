/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/columns.h"
#include "cluster/rank/summary_parts.h"

#include <stdlib.h>

#include "base/files/out.h"
#include "base/memory/keys.h"
#include "base/text/stamp.h"
#include "cluster/rank/rank_parts.h"

enum { WAIT_DIFFERS_NS = 50000 }; /* a launch that waits so much longer than the one before is the runtime's */

struct gap {
    int64_t begin_ns, end_ns;
    uint32_t step;
};

struct type_count {
    uint64_t n;
    uint32_t first; /* order of appearance */
};

struct gap_source {
    const struct rank *r;
    struct by_connection calls, ops;
    uint32_t *by_end;  /* rows of tasks */
    struct keys types; /* of the tasks in one gap */
    LIST(struct type_count) counts;
    struct arena *scratch;
};

struct reason {
    enum gap_reason reason;
    int64_t ns, framework_idle_ns, runtime_idle_ns;
    name_id tasks;
};

/* The longest of each step first, then by begin. */
static int by_step_and_length(const void *a, const void *b)
{
    const struct gap *x = a, *y = b;
    const int64_t nx = x->end_ns - x->begin_ns, ny = y->end_ns - y->begin_ns;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return nx != ny ? (nx > ny ? -1 : 1) : (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int by_length(const void *a, const void *b)
{
    const struct gap *x = a, *y = b;
    const int64_t nx = x->end_ns - x->begin_ns, ny = y->end_ns - y->begin_ns;
    return nx != ny ? (nx > ny ? -1 : 1) : (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* How many are kept: at most SUMMARY_GAPS of each step, among which are the longest of all. */
static size_t choose(struct gap *gap, size_t n)
{
    if (n > 0)
        qsort(gap, n, sizeof *gap, by_step_and_length);
    size_t kept = 0;
    for (size_t i = 0, of_step = 0; i < n; i++) {
        of_step = i > 0 && gap[i].step == gap[i - 1].step ? of_step + 1 : 0;
        if (of_step < SUMMARY_GAPS) {
            const struct gap g = gap[i];
            gap[kept++] = g;
        }
    }
    if (kept > 0)
        qsort(gap, kept, sizeof *gap, by_length);
    return kept;
}

static int by_count(const void *a, const void *b)
{
    const struct type_count *x = a, *y = b;
    return x->n != y->n ? (x->n > y->n ? -1 : 1) : (x->first > y->first) - (x->first < y->first);
}

/* "2 MEMCPY_ASYNC tasks, 1 MsTx tasks": the most frequent first, equal ones as they appeared. */
static name_id types_text(struct gap_source *g)
{
    struct error e = { 0 };
    struct out o;
    if (!out_open_memory(&o, &e))
        return NAME_EMPTY;
    qsort(g->counts.at, g->counts.n, sizeof *g->counts.at, by_count);
    for (size_t i = 0; i < g->counts.n; i++) {
        const name_id type = (name_id)g->types.key.at[g->counts.at[i].first];
        out_bytes(&o, ", ", i > 0 ? 2 : 0);
        out_u64(&o, g->counts.at[i].n);
        out_lit(&o, " ");
        out_bytes(&o, names_text(g->r->names, type), names_len(g->r->names, type));
        out_lit(&o, " tasks");
    }
    const name_id name = names_add(g->r->names, o.buf, o.n);
    out_discard(&o);
    return name;
}

/* Tasks that are whole inside a gap: they neither compute nor communicate. False: no memory. */
static bool tasks_inside(struct gap_source *g, const struct gap *gap, struct reason *why)
{
    const struct rank_tasks *const t = &g->r->tasks;
    int64_t busy_until = gap->begin_ns, longest = 0;
    keys_clear(&g->types);
    g->counts.n = 0;
    for (size_t i = SEARCH_FIRST_NOT(at, 0, t->n, t->begin_ns[at] <= gap->begin_ns);
         i < t->n && t->begin_ns[i] < gap->end_ns; i++) {
        if (t->end_ns[i] >= gap->end_ns)
            continue;
        const uint32_t type = keys_add(&g->types, t->type[i], g->scratch);
        const bool is_new = type == g->counts.n;
        if (type == KEYS_NO_MEMORY || (is_new && !list_add(&g->counts, g->scratch)))
            return false;
        if (is_new)
            g->counts.at[type] = (struct type_count){ 0, type };
        g->counts.at[type].n++;
        if (t->begin_ns[i] - busy_until > longest)
            longest = t->begin_ns[i] - busy_until;
        if (t->end_ns[i] > busy_until)
            busy_until = t->end_ns[i];
    }
    if (g->types.key.n == 0)
        return true;
    why->reason = GAP_TASKS;
    why->ns = gap->end_ns - busy_until > longest ? gap->end_ns - busy_until : longest;
    why->tasks = types_text(g);
    return why->tasks != NAME_EMPTY;
}

/* From the launches of the tasks around a gap. */
static void summary_gaps_explain(const struct gap_source *g, const struct gap *gap, struct reason *why)
{
    const struct rank *const r = g->r;
    const struct rank_tasks *const t = &r->tasks;
    const size_t n_before = SEARCH_FIRST_NOT(i, 0, t->n, t->end_ns[g->by_end[i]] <= gap->begin_ns);
    const size_t behind = SEARCH_FIRST_NOT(i, 0, t->n, t->begin_ns[i] < gap->end_ns);
    why->reason = GAP_NO_NEIGHBOUR;
    if (n_before == 0 || behind == t->n)
        return;
    const uint64_t connection[2] = { t->connection[g->by_end[n_before - 1]], t->connection[behind] };
    int64_t call_begin[2], call_end[2], op_end[2];
    for (size_t i = 0; i < 2; i++) {
        const uint32_t call = by_connection_find(&g->calls, connection[i]);
        const uint32_t link = by_connection_find(&g->ops, connection[i]);
        why->reason = GAP_NO_OPERATOR;
        if (call == NO_ROW || link == NO_ROW)
            return;
        call_begin[i] = r->calls.begin_ns[call];
        call_end[i] = r->calls.end_ns[call];
        op_end[i] = r->ops.end_ns[r->op_links.op[link]];
    }
    why->framework_idle_ns = op_end[1] - op_end[0];
    why->runtime_idle_ns = call_end[1] - call_end[0];
    const int64_t waited = call_begin[0] - op_end[0], waits = call_begin[1] - op_end[1];
    if (wrap_sub(waits, waited) < WAIT_DIFFERS_NS) {
        why->reason = GAP_FRAMEWORK;
        why->ns = why->framework_idle_ns;
        return;
    }
    const int64_t first = call_end[0] - call_begin[0], second = call_end[1] - call_begin[1];
    const int64_t launch = first > second ? first : second, between = call_begin[1] - call_end[0];
    why->reason = between >= launch ? GAP_BETWEEN_LAUNCHES : GAP_LAUNCH;
    why->ns = between >= launch ? between : launch;
}

static bool summary_gaps_fill(struct summary_gaps *out, struct gap_source *g, const struct gap *gap, size_t n,
                              struct arena *mem)
{
    arena_columns(mem, n, out->step, out->begin_ns, out->end_ns, out->framework_idle_ns, out->runtime_idle_ns,
                  out->reason, out->reason_ns, out->tasks);
    if (arena_failed(mem))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct reason why = { GAP_NO_NEIGHBOUR, 0, INT64_MIN, INT64_MIN, NAME_EMPTY };
        if (!tasks_inside(g, &gap[i], &why))
            return false;
        if (why.reason != GAP_TASKS)
            summary_gaps_explain(g, &gap[i], &why);
        out->step[i] = gap[i].step;
        out->begin_ns[i] = gap[i].begin_ns;
        out->end_ns[i] = gap[i].end_ns;
        out->framework_idle_ns[i] = why.framework_idle_ns;
        out->runtime_idle_ns[i] = why.runtime_idle_ns;
        out->reason[i] = why.reason;
        out->reason_ns[i] = why.ns;
        out->tasks[i] = why.tasks;
    }
    out->n = n;
    return true;
}

static bool summary_gaps_find(struct rank_summary *s, const struct rank *r, struct arena *scratch)
{
    struct busy busy;
    struct gap_source g = { .r = r, .scratch = scratch };
    if (!busy_of_rank(&busy, r, BUSY_KERNELS | BUSY_COLLECTIVES, scratch) ||
        !by_connection_init(&g.calls, r->calls.connection, r->calls.n, scratch) ||
        !by_connection_init(&g.ops, r->op_links.connection, r->op_links.n, scratch))
        return false;
    const size_t n = busy.n > 0 ? busy.n - 1 : 0;
    struct gap *const gap = arena_take(scratch, n, sizeof *gap);
    g.by_end = arena_take(scratch, r->tasks.n, sizeof *g.by_end);
    if (!gap || !g.by_end)
        return false;
    for (size_t i = 0; i < n; i++)
        gap[i] = (struct gap){ busy.end_ns[i], busy.begin_ns[i + 1], step_of(&s->steps, busy.end_ns[i]) };
    order_fill(g.by_end, r->tasks.n);
    /* Times are after 1970: their bits order them. */
    return order_by_u64(g.by_end, r->tasks.n, (const uint64_t *)r->tasks.end_ns) &&
           summary_gaps_fill(&s->gaps, &g, gap, choose(gap, n), s->mem);
}

bool summarise_gaps(struct rank_summary *s, const struct rank *r)
{
    s->gaps = (struct summary_gaps){ 0 };
    struct arena *scratch = arena_new();
    const bool works = scratch && summary_gaps_find(s, r, scratch);
    arena_free(scratch);
    return works;
}
