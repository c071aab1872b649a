/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/checks/advise_checks.h"

#include <stdlib.h>
#include <string.h>

#include "answers/checks/findings.h"
#include "base/process/robust.h"
#include "base/text/readable.h"
#include "base/memory/sort.h"

enum call_is { CALL_OTHER = 1, CALL_LAUNCH, CALL_WAIT };

/* Room for what call_is_of() remembers by name; NULL: no memory. */
static uint8_t *calls_known(const struct checked_rank *s)
{
    return arena_take(s->spare, names_count(s->spans.names), 1);
}

static enum call_is call_is_of(uint8_t *known, const struct rank_spans *v, size_t call)
{
    const name_id id = rank_span_id(v, SPAN_CALL, call);
    if (!known[id]) {
        const char *name = names_text(v->names, id);
        known[id] = call_is_launch(name) ? CALL_LAUNCH : call_is_synchronisation(name) ? CALL_WAIT : CALL_OTHER;
    }
    return known[id];
}

bool launch_waits_find(struct checked_rank *s)
{
    struct launch_waits *w = &s->launches;
    const struct rank_spans *v = &s->spans;
    uint8_t *known = calls_known(s);
    struct rank_span launch = { .end_ns = INT64_MIN };
    bool is_after = false;
    *w = (struct launch_waits){ .wait_ns = arena_take(s->spare, s->series.n, sizeof *w->wait_ns) };
    if (!known || !w->wait_ns)
        return false;
    for (size_t i = 0; i < v->n[SPAN_CALL]; i++) {
        const enum call_is is = call_is_of(known, v, i);
        if (!is_after && is != CALL_LAUNCH)
            continue;
        const struct rank_span x = rank_span(v, SPAN_CALL, i);
        if (is_after && x.track == launch.track && x.begin_ns < launch.end_ns) /* called by the launch itself */
            continue;
        if (is_after && x.track == launch.track && is == CALL_WAIT) {
            const int64_t ns = span_ns(x.begin_ns, x.end_ns);
            w->n_waits++;
            w->longest = ns > w->longest_ns ? i : w->longest;
            w->longest_ns = ns > w->longest_ns ? ns : w->longest_ns;
            if (advise_counts(s, x.step))
                w->wait_ns[x.step] += (double)ns;
        }
        is_after = is == CALL_LAUNCH;
        launch = is_after ? x : launch;
        w->n += is_after;
    }
    return true;
}

static bool is_blocking(const struct launch_waits *w)
{
    enum { LEAST = 20 };
    return w->n >= LEAST && w->n_waits * 2 > w->n;
}

/* Without these waits the host would be ahead by what it waited: the device has no more to gain than that, nor than the
 * time in which it has nothing to do. */
static void lose_free(const struct checked_rank *s, struct finding *out, const double *waited_ns)
{
    for (size_t i = s->n_startup; i < s->series.n; i++) {
        const double free_ns = s->gaps.step_ns[i];
        finding_lose(s, out, (uint32_t)i, waited_ns[i] < free_ns ? waited_ns[i] : free_ns);
    }
}

enum check_state check_launch_blocking(const struct checked_rank *s, struct finding *out)
{
    const struct rank_spans *v = &s->spans;
    const struct launch_waits *w = &s->launches;
    if (w->n == 0 && !(s->rank.trace && v->n[SPAN_CALL] > 0))
        return CHECK_UNRECORDED;
    if (!is_blocking(w))
        return CHECK_FINE;
    lose_free(s, out, w->wait_ns);
    const struct spent_place place = rank_span_place(v, SPAN_CALL, w->longest);
    char time[READABLE_MOST];
    finding_add(s, out, (double)w->longest_ns, &place, "%.200s: %s is the longest wait after a launch", place.event,
                readable_duration(time, (double)w->longest_ns));
    finding_say(s, out,
                "%llu of %llu launches (%.0f %%) are immediately followed by a synchronisation: launch blocking",
                (unsigned long long)w->n_waits, (unsigned long long)w->n, 100.0 * (double)w->n_waits / (double)w->n);
    return CHECK_FOUND;
}

/* ---- waits in the middle of a step ----------------------------------------------------------------------------- */

/* Something in which the host waits until the device is done. */
struct host_wait {
    int64_t begin_ns, end_ns;
    uint32_t step;
    enum span_kind kind; /* of the span to show: the operator around the call, or the call */
    size_t row;
};
struct host_waits {
    LIST(struct host_wait) list;
};

/* Operators that need a value of the device on the host, which users call by other names: tensor.item(), bool(tensor),
 * tensor.cpu(). */
static bool reads_the_device(const char *name)
{
    static const char *const word[] = { "aten::item",         "aten::_local_scalar_dense",
                                        "aten::is_nonzero",   "aten::to",
                                        "aten::_to_copy",     "aten::copy_",
                                        "aten::equal",        "aten::nonzero",
                                        "aten::masked_select" };
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (strcmp(name, word[i]) == 0)
            return true;
    return false;
}

/* The outermost such operator around a call. Operators are by thread and begin. */
static void widen_wait(const struct rank_spans *v, struct host_wait *w, uint32_t track)
{
    enum { MOST_BACK = 16 };
    const struct host_wait call = *w;
    const size_t later = SEARCH_FIRST_NOT(i, 0, v->n[SPAN_OPERATOR],
                                          rank_span(v, SPAN_OPERATOR, i).track < track ||
                                              (rank_span(v, SPAN_OPERATOR, i).track == track &&
                                               rank_span(v, SPAN_OPERATOR, i).begin_ns <= call.begin_ns));
    for (size_t back = 0; back < MOST_BACK && back < later; back++) {
        const struct rank_span x = rank_span(v, SPAN_OPERATOR, later - 1 - back);
        if (x.track != track)
            break;
        if (x.end_ns >= call.end_ns && reads_the_device(x.name)) {
            w->kind = SPAN_OPERATOR;
            w->row = later - 1 - back;
            w->begin_ns = x.begin_ns;
            w->end_ns = x.end_ns;
        }
    }
}

static int by_wait_begin(const void *a, const void *b)
{
    const struct host_wait *x = a, *y = b;
    return x->begin_ns != y->begin_ns ? (x->begin_ns < y->begin_ns ? -1 : 1) : (x->row > y->row) - (x->row < y->row);
}

/* Calls that synchronise; several in one operator count once. */
static bool find_waits(const struct checked_rank *s, struct host_waits *out)
{
    const struct rank_spans *v = &s->spans;
    uint8_t *known = calls_known(s);
    for (size_t i = 0; known && i < v->n[SPAN_CALL]; i++) {
        if (call_is_of(known, v, i) != CALL_WAIT)
            continue;
        const struct rank_span x = rank_span(v, SPAN_CALL, i);
        if (!advise_counts(s, x.step))
            continue;
        struct host_wait w = { x.begin_ns, x.end_ns, x.step, SPAN_CALL, i };
        widen_wait(v, &w, x.track);
        const struct host_wait *last = out->list.n > 0 ? &out->list.at[out->list.n - 1] : NULL;
        if (last && last->kind == w.kind && last->row == w.row)
            continue;
        struct host_wait *new = list_add(&out->list, s->spare);
        if (new)
            *new = w;
    }
    if (out->list.n > 1)
        qsort(out->list.at, out->list.n, sizeof *out->list.at, by_wait_begin);
    return known != NULL;
}

/* The waits of one name. */
struct wait_sum {
    const char *name;
    double ns, n;
    struct host_wait longest;
};

static void add_waits(const struct checked_rank *s, struct finding *out, const struct host_waits *w,
                      const double *lost_ns)
{
    enum { NAMES = 8 };
    struct wait_sum sum[NAMES] = { 0 };
    for (size_t i = 0; i < w->list.n; i++) {
        const struct host_wait *x = &w->list.at[i];
        const char *name = rank_span(&s->spans, x->kind, x->row).name;
        size_t at = 0;
        while (at < NAMES && sum[at].name && strcmp(sum[at].name, name) != 0)
            at++;
        if (at == NAMES)
            continue;
        if (!sum[at].name ||
            span_ns(x->begin_ns, x->end_ns) > span_ns(sum[at].longest.begin_ns, sum[at].longest.end_ns))
            sum[at].longest = *x;
        sum[at].name = name;
        sum[at].ns += lost_ns[i];
        sum[at].n++;
    }
    for (size_t at = 0; at < NAMES && sum[at].name; at++) {
        const double n_steps = (double)s->n_steps;
        const struct spent_place place = rank_span_place(&s->spans, sum[at].longest.kind, sum[at].longest.row);
        char time[READABLE_MOST], runs[READABLE_MOST];
        const bool is_item =
            strcmp(sum[at].name, "aten::item") == 0 || strcmp(sum[at].name, "aten::_local_scalar_dense") == 0;
        finding_add(s, out, sum[at].ns / n_steps, &place,
                    "%.200s%s: %s times %s, the device is free for %s because of it", sum[at].name,
                    is_item ? ", which is tensor.item() in Python" : "", readable_runs(runs, sum[at].n / n_steps),
                    s->per, readable_duration(time, sum[at].ns / n_steps));
    }
}

/* One wait a step is normal: a loss that is logged, the end of the step. So are many in few steps: a checkpoint, an
 * evaluation. */
static bool waits_in_most_steps(const struct checked_rank *s, const struct host_waits *w)
{
    uint32_t *n_of = arena_take(s->spare, s->series.n, sizeof *n_of);
    size_t n = 0;
    for (size_t i = 0; n_of && i < w->list.n; i++)
        n += ++n_of[w->list.at[i].step] == 2;
    return n * 2 > s->n_steps;
}

enum check_state check_synchronisation(const struct checked_rank *s, struct finding *out)
{
    const struct rank_spans *v = &s->spans;
    struct host_waits w = { 0 };
    if (v->n[SPAN_CALL] == 0 || !find_waits(s, &w))
        return CHECK_UNRECORDED;
    double *lost_ns = arena_take(s->spare, w.list.n, sizeof *lost_ns), free_ns = 0;
    if (!lost_ns || is_blocking(&s->launches) || !waits_in_most_steps(s, &w))
        return CHECK_FINE;
    for (size_t i = 0; i < w.list.n; i++) {
        const struct host_wait *x = &w.list.at[i];
        const int64_t end_ns = s->series.host_end_ns[x->step],
                      until_ns =
                          i + 1 < w.list.n && w.list.at[i + 1].begin_ns < end_ns ? w.list.at[i + 1].begin_ns : end_ns;
        const double waited_ns = (double)span_ns(x->begin_ns, x->end_ns);
        free_ns = (double)busy_within(&s->gaps.free, x->begin_ns, until_ns);
        lost_ns[i] = free_ns < waited_ns ? free_ns : waited_ns;
        finding_lose(s, out, x->step, lost_ns[i]);
    }
    add_waits(s, out, &w, lost_ns);
    char count[READABLE_MOST];
    finding_say(
        s, out,
        "the host waits for the device %s times %s in the middle of its work (synchronisation), and cannot run ahead of it",
        readable_runs(count, (double)w.list.n / (double)s->n_steps), s->per);
    return CHECK_FOUND;
}

/* ---- launches that are slower than what they launch ------------------------------------------------------------ */

static const int64_t SOON_NS = 10000; /* a kernel that begins so soon after its launch was waited for by the device */

/* The gaps that launches end which come too late, without pauses: these are much longer than the gaps between launches. */
static bool is_late(const struct host_gap *g, int64_t longest_ns)
{
    return g->has_launch && g->delay_ns < SOON_NS && span_ns(g->begin_ns, g->end_ns) <= longest_ns;
}

static int64_t longest_gap(const struct checked_rank *s, size_t *n_late)
{
    const int64_t pause_ns = 1000000;
    const double pause_share = 0.05; /* of a step */
    enum { FACTOR = 20 };
    int64_t *ns = arena_take(s->spare, s->gaps.n, sizeof *ns);
    size_t n = 0;
    *n_late = 0;
    int64_t last_ns = INT64_MIN;
    for (size_t i = 0; ns && i < s->gaps.n; i++) {
        const struct host_gap *g = &s->gaps.at[i];
        if (!is_late(g, INT64_MAX))
            continue;
        ns[n++] = span_ns(g->begin_ns, g->end_ns);
        *n_late += g->is_kernel && g->launch.begin_ns != last_ns; /* other waits of the host may divide a gap */
        last_ns = g->launch.begin_ns;
    }
    const int64_t by_median = ns ? FACTOR * upper_median_i64(ns, n) : 0, by_step = (int64_t)(pause_share * s->step_ns),
                  most = by_step < pause_ns ? pause_ns : by_step;
    return by_median < most ? by_median : most;
}

enum check_state check_launch_bound(const struct checked_rank *s, struct finding *out)
{
    const double least_late = 0.5, least_small = 0.3, least_free = 0.1; /* of kernels, of kernels, of a step */
    const struct rank_spans *v = &s->spans;
    size_t n_known = 0, n_small = 0, n_late = 0;
    double small_ns = 0;
    double *lost_ns = arena_take(s->spare, s->series.n, sizeof *lost_ns);
    if (v->n[SPAN_CALL] == 0 || !lost_ns)
        return CHECK_UNRECORDED;
    for (size_t i = 0; i < v->n[SPAN_KERNEL]; i++) {
        struct rank_span launch;
        const struct rank_span x = rank_span(v, SPAN_KERNEL, i);
        if (!advise_counts(s, x.step) || !rank_span_launch(v, SPAN_KERNEL, i, &launch))
            continue;
        n_known++;
        if (span_ns(x.begin_ns, x.end_ns) >= span_ns(launch.begin_ns, launch.end_ns))
            continue;
        n_small++;
        small_ns += s->alone_ns[i];
        lost_ns[x.step] += s->alone_ns[i];
    }
    if (n_known == 0)
        return CHECK_UNRECORDED;
    const int64_t longest_ns = longest_gap(s, &n_late);
    if (is_blocking(&s->launches) || (double)n_late < least_late * (double)n_known ||
        (double)n_small < least_small * (double)n_known ||
        s->gaps.sum_ns < least_free * s->step_ns * (double)s->n_steps)
        return CHECK_FINE;
    double free_ns = 0;
    const struct host_gap *longest = NULL;
    for (size_t i = 0; i < s->gaps.n; i++) {
        const struct host_gap *g = &s->gaps.at[i];
        if (!is_late(g, longest_ns))
            continue;
        const int64_t ns = span_ns(g->begin_ns, g->end_ns);
        free_ns += (double)ns;
        lost_ns[g->step] += (double)ns;
        longest = !longest || ns > span_ns(longest->begin_ns, longest->end_ns) ? g : longest;
    }
    for (size_t i = s->n_startup; i < s->series.n; i++)
        finding_lose(s, out, (uint32_t)i, lost_ns[i]);
    const double n_steps = (double)s->n_steps;
    char kernels[READABLE_MOST], free_text[READABLE_MOST], small_text[READABLE_MOST], small_n[READABLE_MOST];
    readable_duration(free_text, free_ns / n_steps);
    readable_duration(small_text, small_ns / n_steps);
    readable_runs(small_n, (double)n_small / n_steps);
    finding_say(
        s, out,
        "of %s kernels %s, %.0f %% begin within 10 us of their launch while the device has nothing else to do: it waits for launches (launch bound)",
        readable_runs(kernels, (double)n_known / n_steps), s->per, 100 * (double)n_late / (double)n_known);
    if (longest) {
        const struct spent_place place = { v->of.trace ? SHOWN_TRACE : SHOWN_CALLS,
                                           longest->launch.track,
                                           NULL,
                                           longest->launch.name,
                                           longest->launch.begin_ns,
                                           span_ns(longest->launch.begin_ns, longest->launch.end_ns) };
        finding_add(s, out, free_ns / n_steps, &place, "the device is free between kernels for %s %s", free_text,
                    s->per);
    }
    if (n_small > 0)
        finding_add(s, out, small_ns / n_steps, NULL, "%s kernels %s are shorter than the call that launches them: %s",
                    small_n, s->per, small_text);
    return CHECK_FOUND;
}

/* Launch calls of one name, longest first, until one is usual. */
enum check_state check_launch_outlier(const struct checked_rank *s, struct finding *out)
{
    enum { FACTOR = 100 };
    const int64_t least_ns = 1000000;
    const struct rank_spans *v = &s->spans;
    uint8_t *known = calls_known(s);
    LIST(int64_t) launches = { 0 };
    size_t n_out = 0;
    if (!known || v->n[SPAN_CALL] == 0)
        return CHECK_UNRECORDED;
    for (size_t i = 0; i < v->n[SPAN_CALL]; i++) {
        if (call_is_of(known, v, i) != CALL_LAUNCH)
            continue;
        const struct rank_span x = rank_span(v, SPAN_CALL, i);
        int64_t *ns = list_add(&launches, s->spare);
        if (ns)
            *ns = span_ns(x.begin_ns, x.end_ns);
    }
    const int64_t usual_ns = upper_median_i64(launches.at, launches.n);
    arena_drop(s->spare, launches.at);
    double longest_ns = 0;
    for (size_t i = 0; i < v->n[SPAN_CALL]; i++) {
        if (call_is_of(known, v, i) != CALL_LAUNCH)
            continue;
        const struct rank_span x = rank_span(v, SPAN_CALL, i);
        const int64_t dur_ns = span_ns(x.begin_ns, x.end_ns);
        if (dur_ns < least_ns || dur_ns < FACTOR * usual_ns || !advise_counts(s, x.step))
            continue;
        const double free_ns = (double)busy_within(&s->gaps.free, x.begin_ns, x.end_ns);
        const struct spent_place place = rank_span_place(v, SPAN_CALL, i);
        char time[READABLE_MOST];
        n_out++;
        longest_ns = (double)dur_ns > longest_ns ? (double)dur_ns : longest_ns;
        finding_lose(s, out, x.step, free_ns);
        finding_add(s, out, free_ns / (double)s->n_steps, &place, "%.200s takes %s", x.name,
                    readable_duration(time, (double)dur_ns));
    }
    if (n_out == 0)
        return CHECK_FINE;
    char longest[READABLE_MOST], usual[READABLE_MOST];
    finding_say(s, out, "%zu launch call%s far longer than usual, the longest %s; the median call takes %s", n_out,
                n_out == 1 ? " is" : "s are", readable_duration(longest, longest_ns),
                readable_duration(usual, (double)usual_ns));
    return CHECK_FOUND;
}
