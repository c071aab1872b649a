/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/checks/checked_rank.h"

#include <stdlib.h>
#include <string.h>

#include "answers/checks/advise_checks.h"
#include "answers/run/chrome_kinds.h"
#include "answers/run/profiles_mean.h"

/* Fills alone_ns. Kernels are sorted by begin, so that one is alone after the latest end so far. */
static bool checked_rank_alone(struct checked_rank *s)
{
    int64_t reach_ns = INT64_MIN;
    s->alone_ns = arena_take(s->spare, s->spans.n[SPAN_KERNEL], sizeof *s->alone_ns);
    for (size_t i = 0; s->alone_ns && i < s->spans.n[SPAN_KERNEL]; i++) {
        const struct rank_span x = rank_span(&s->spans, SPAN_KERNEL, i);
        if (!advise_counts(s, x.step))
            continue;
        s->alone_ns[i] = (double)span_ns(x.begin_ns > reach_ns ? x.begin_ns : reach_ns, x.end_ns);
        reach_ns = x.end_ns > reach_ns ? x.end_ns : reach_ns;
    }
    return s->alone_ns != NULL;
}

/* The mean over the usual and the slow steps that count. */
static bool checked_rank_mean(struct checked_rank *s)
{
    const struct step_division *d = &s->division;
    struct weighted_profile *part = arena_take(s->spare, s->n_slow + 1, sizeof *part);
    const bool has_usual = !s->is_of_few;
    size_t n_slow = 0, n_parts = 0;
    for (size_t i = 0; i < s->n_slow; i++)
        n_slow += advise_counts(s, s->slow[i]);
    const size_t n_all = (has_usual ? d->n_usual : 0) + n_slow;
    const double n = (double)(n_all > 0 ? n_all : 1);
    if (!part)
        return false;
    if (has_usual)
        part[n_parts++] = (struct weighted_profile){ &d->usual, (double)d->n_usual / n };
    for (size_t i = 0; i < s->n_slow; i++)
        if (advise_counts(s, s->slow[i]))
            part[n_parts++] = (struct weighted_profile){ &d->of[i], 1 / n };
    return profiles_mean(&s->mean, part, n_parts, s->spare);
}

/* A trace without steps: all of it counts as one. */
static bool checked_rank_whole(struct checked_rank *s)
{
    const struct chrome_slices *x = &s->rank.trace->slices;
    struct chrome_kinds kinds;
    int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
    bool has_device = false;
    if (!chrome_kinds_init(&kinds, s->rank.trace, s->spare) || !step_series_take(&s->series, 1, s->spare))
        return false;
    for (size_t i = 0; i < x->n; i++) {
        const enum slice_kind kind = chrome_kind(&kinds, i);
        if (kind == SLICE_OTHER)
            continue;
        has_device |= kind >= SLICE_KERNEL;
        begin_ns = x->begin_ns[i] < begin_ns ? x->begin_ns[i] : begin_ns;
        end_ns = x->begin_ns[i] + x->dur_ns[i] > end_ns ? x->begin_ns[i] + x->dur_ns[i] : end_ns;
    }
    s->series.n = 1;
    s->series.is_whole = true;
    s->series.is_host = !has_device;
    s->series.begin_ns[0] = s->series.host_begin_ns[0] = begin_ns < end_ns ? begin_ns : 0;
    s->series.end_ns[0] = s->series.host_end_ns[0] = begin_ns < end_ns ? end_ns : 0;
    s->series.time_ns[0] = span_ns(s->series.begin_ns[0], s->series.end_ns[0]);
    s->series.is_chosen[0] = true;
    return step_series_compare(&s->series, s->spare);
}

bool checked_rank_begin(struct checked_rank *s)
{
    struct step_series *all = &s->series;
    if (!run_rank_series(all, &s->rank, s->spare) || (s->rank.trace && all->n == 0 && !checked_rank_whole(s)))
        return false;
    s->n_startup = all->n_startup;
    s->from_ns = s->n_startup > 0 ? all->begin_ns[s->n_startup] : INT64_MIN;
    s->slow = arena_take(s->spare, all->n, sizeof *s->slow);
    for (size_t i = 0; s->slow && i < all->n; i++)
        if (i >= s->n_startup && !step_is_usual(all, i))
            s->slow[s->n_slow++] = (uint32_t)i;
    if (!s->slow || !run_rank_division(&s->division, all, &s->rank, s->slow, s->n_slow, s->spare) ||
        !rank_spans_find(&s->spans, &s->rank, all, s->spare))
        return false;
    s->has_device = s->rank.device || s->spans.busy.n > 0;
    s->is_gpu = s->has_device && !s->spans.is_npu;
    return true;
}

bool checked_rank_count(struct checked_rank *s, const bool *counts, bool is_of_few)
{
    s->counts = counts;
    s->is_of_few = is_of_few;
    s->n_steps = 0;
    for (uint32_t i = 0; i < s->series.n; i++)
        s->n_steps += advise_counts(s, i);
    s->n_steps = s->n_steps > 0 ? s->n_steps : 1;
    s->per = s->series.is_whole ? "in all" : "a step";
    if (!checked_rank_mean(s))
        return false;
    s->step_ns = s->mean.time_ns;
    return checked_rank_alone(s) && host_gaps_find(&s->gaps, &s->spans, s->n_startup, counts, s->spare) &&
           host_pauses_find(&s->pauses, &s->spans, &s->gaps, s->step_ns, s->n_steps, s->spare) && kernel_pays_find(s) &&
           launch_waits_find(s);
}
