/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/checks/host_pauses.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/ascending.h"
#include "base/memory/sort.h"

static bool is_host_work(int kind)
{
    return kind == SPAN_CALL || kind == SPAN_OPERATOR || kind == SPAN_PYTHON;
}

/* What is open from one moment to another on the threads that work: the span that began last. */
static void find_open(struct host_pause *p, const struct rank_spans *v, const struct working_threads *w)
{
    enum { MOST_BACK = 64 };
    int64_t latest_ns = INT64_MIN;
    for (int kind = SPAN_CALL; kind < SPAN_KINDS; kind++) {
        if (!is_host_work(kind))
            continue;
        for (size_t t = 0; t < w->n.n; t++) {
            const uint32_t track = (uint32_t)w->key.key.at[t];
            if (!thread_works(w, track))
                continue;
            const size_t later = SEARCH_FIRST_NOT(i, 0, v->n[kind],
                                                  rank_span(v, (enum span_kind)kind, i).track < track ||
                                                      (rank_span(v, (enum span_kind)kind, i).track == track &&
                                                       rank_span(v, (enum span_kind)kind, i).begin_ns <= p->begin_ns));
            for (size_t back = 0; back < MOST_BACK && back < later; back++) {
                const struct rank_span x = rank_span(v, (enum span_kind)kind, later - 1 - back);
                if (x.track != track)
                    break;
                if (x.end_ns < p->end_ns)
                    continue;
                if (x.begin_ns > latest_ns) {
                    latest_ns = x.begin_ns;
                    p->is_recorded = true;
                    p->kind = (enum span_kind)kind;
                    p->row = later - 1 - back;
                    p->name = x.id;
                }
                break;
            }
        }
    }
}

/* The gaps that are long enough for a pause. */
static bool find_long(struct busy_times *out, const struct host_gaps *g, double long_ns, struct arena *mem)
{
    *out = (struct busy_times){ .begin_ns = arena_take(mem, g->n, sizeof *out->begin_ns),
                                .end_ns = arena_take(mem, g->n, sizeof *out->end_ns) };
    for (size_t i = 0; out->begin_ns && out->end_ns && i < g->n; i++)
        if ((double)span_ns(g->at[i].begin_ns, g->at[i].end_ns) >= long_ns) {
            out->begin_ns[out->n] = g->at[i].begin_ns;
            out->end_ns[out->n++] = g->at[i].end_ns;
        }
    return out->begin_ns && out->end_ns;
}

static bool is_inside(const struct busy_times *gaps, int64_t ns)
{
    const size_t later = SEARCH_FIRST_NOT(i, 0, gaps->n, gaps->begin_ns[i] < ns);
    return later > 0 && ns < gaps->end_ns[later - 1];
}

/* The moments inside these gaps at which something begins or ends, ascending. */
static bool find_events(uint64_t **out, size_t *n, const struct busy_times *gaps, const struct rank_spans *v,
                        const struct working_threads *w, struct arena *mem)
{
    size_t most = 0;
    for (int kind = 0; kind < SPAN_KINDS; kind++)
        most += is_host_work(kind) ? 2 * v->n[kind] : 0;
    uint64_t *ns = arena_take(mem, most, sizeof *ns), *sorted = arena_take(mem, most, sizeof *sorted);
    uint32_t *order = arena_take(mem, most, sizeof *order);
    *n = 0;
    if (!ns || !sorted || !order)
        return false;
    uint32_t track = UINT32_MAX;
    bool works = false;
    for (int kind = 0; kind < SPAN_KINDS; kind++)
        for (size_t i = 0; is_host_work(kind) && i < v->n[kind]; i++) {
            const struct rank_span x = rank_span(v, (enum span_kind)kind, i);
            if (x.track != track || i == 0)
                works = thread_works(w, x.track);
            track = x.track;
            if (!works)
                continue;
            const int64_t moment[] = { x.begin_ns, x.end_ns };
            for (size_t k = 0; k < 2; k++)
                if (is_inside(gaps, moment[k]))
                    ns[(*n)++] = (uint64_t)moment[k] ^ UINT64_C(1) << 63; /* signed times in unsigned order */
        }
    order_fill(order, *n);
    if (!order_by_u64(order, *n, ns))
        return false;
    for (size_t i = 0; i < *n; i++)
        sorted[i] = ns[order[i]];
    *out = sorted;
    return true;
}

static int by_name_and_begin(const void *a, const void *b)
{
    const struct host_pause *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Whether nearly each step has a pause of the group, and the longest of each step are about as long. `longest` has room
 * for the group. */
static bool group_is_steady(const struct host_pause *p, size_t n, size_t n_steps, int64_t *longest)
{
    const double least_steps = 0.8, most_apart = 1.5;
    size_t steps = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t ns = span_ns(p[i].begin_ns, p[i].end_ns);
        if (i > 0 && p[i].step == p[i - 1].step)
            longest[steps - 1] = ns > longest[steps - 1] ? ns : longest[steps - 1];
        else
            longest[steps++] = ns;
    }
    qsort(longest, steps, sizeof *longest, compare_i64s);
    return (double)steps >= least_steps * (double)n_steps &&
           (double)longest[steps - 1 - steps / 10] < most_apart * (double)longest[steps / 10];
}

bool host_pauses_find(struct host_pauses *out, const struct rank_spans *v, const struct host_gaps *g, double step_ns,
                      size_t n_steps, struct arena *mem)
{
    const double share = 0.05, most_ns = 1e6, least_ns = 1e5;
    const double wanted = share * step_ns, long_ns = wanted > most_ns ? most_ns : wanted < least_ns ? least_ns : wanted;
    struct working_threads threads = { 0 };
    uint64_t *event = NULL;
    size_t n = 0, at = 0;
    LIST(struct host_pause) list = { 0 };
    *out = (struct host_pauses){ 0 };
    struct busy_times gaps;
    if (!find_long(&gaps, g, long_ns, mem))
        return false;
    if (gaps.n == 0)
        return true;
    if (!threads_count(&threads, v, mem) || !find_events(&event, &n, &gaps, v, &threads, mem))
        return false;
    for (size_t i = 0; i < g->n; i++) {
        const struct host_gap *gap = &g->at[i];
        if ((double)span_ns(gap->begin_ns, gap->end_ns) < long_ns)
            continue;
        int64_t from_ns = gap->begin_ns;
        while (at < n && (int64_t)(event[at] ^ UINT64_C(1) << 63) <= from_ns)
            at++;
        for (bool is_last = false; !is_last; at++) {
            const int64_t event_ns = at < n ? (int64_t)(event[at] ^ UINT64_C(1) << 63) : INT64_MAX;
            is_last = event_ns >= gap->end_ns;
            const int64_t to_ns = is_last ? gap->end_ns : event_ns;
            if ((double)span_ns(from_ns, to_ns) >= long_ns) {
                struct host_pause *new = list_add(&list, mem);
                if (!new)
                    return false;
                *new =
                    (struct host_pause){ .begin_ns = from_ns, .end_ns = to_ns, .step = gap->step, .name = NAME_EMPTY };
                find_open(new, v, &threads);
            }
            from_ns = to_ns;
            if (is_last)
                break;
        }
    }
    int64_t *longest = arena_take(mem, list.n, sizeof *longest);
    if (!longest)
        return false;
    if (list.n > 1)
        qsort(list.at, list.n, sizeof *list.at, by_name_and_begin);
    for (size_t first = 0, end; first < list.n; first = end) {
        for (end = first; end < list.n && list.at[end].name == list.at[first].name;)
            end++;
        const bool is_steady = group_is_steady(&list.at[first], end - first, n_steps, longest);
        for (size_t i = first; i < end; i++)
            list.at[i].is_steady = is_steady;
    }
    *out = (struct host_pauses){ list.n, list.at };
    return true;
}
