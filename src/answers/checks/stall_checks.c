/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/checks/advise_checks.h"

#include <math.h>
#include <stdio.h>
#include <math.h>
#include <string.h>

#include "answers/checks/findings.h"
#include "answers/run/step_thread_time.h"
#include "base/process/robust.h"
#include "base/text/readable.h"
#include "base/memory/sort.h"

static bool contains_one_of(const char *name, const char *const *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcasestr(name, word[i]))
            return true;
    return false;
}

/* ---- Python ---------------------------------------------------------------------------------------------------- */

/* Functions in which Python waits for the launches of another thread, or for the device. */
static bool waits_for_launches(const char *function)
{
    static const char *const word[] = { "run_backward", "execution_engine", "synchronize", "ProfilerStep" };
    return contains_one_of(function, word, sizeof word / sizeof *word);
}

/* A function that takes a twentieth of the mean step, while the device has nothing to do. */
static bool is_slow_function(const struct checked_rank *s, const struct spent *x)
{
    const double least_share = 0.05;
    if (waits_for_launches(x->name))
        return false;
    const size_t low = SEARCH_FIRST_NOT(i, 0, s->mean.n, spent_compare(&s->mean.at[i], x) < 0);
    return low < s->mean.n && spent_compare(&s->mean.at[low], x) == 0 && s->mean.at[low].ns >= least_share * s->step_ns;
}

enum check_state check_slow_python(const struct checked_rank *s, struct finding *out)
{
    if (s->spans.n[SPAN_PYTHON] == 0)
        return CHECK_UNRECORDED;
    finding_of_kinds(s, out, 1u << SPENT_PYTHON, is_slow_function);
    if (out->n == 0)
        return CHECK_FINE;
    char time[READABLE_MOST];
    finding_say(s, out, "the device waits %s %s for Python code of its own; most of it in %.300s",
                readable_duration(time, out->gain_ns), s->per,
                out->evidence[0].place.event ? out->evidence[0].place.event : "the function below");
    return CHECK_FOUND;
}

/* ---- pauses ---------------------------------------------------------------------------------------------------- */

static double pause_ns(const struct host_pause *p)
{
    return (double)span_ns(p->begin_ns, p->end_ns);
}

enum check_state check_unrecorded(const struct checked_rank *s, struct finding *out)
{
    const struct rank_spans *v = &s->spans;
    const struct host_pause *longest = NULL;
    size_t n = 0;
    if (v->n[SPAN_OPERATOR] + v->n[SPAN_CALL] == 0)
        return CHECK_UNRECORDED;
    for (size_t i = 0; i < s->pauses.n; i++) {
        const struct host_pause *p = &s->pauses.at[i];
        if (p->is_recorded || !p->is_steady)
            continue;
        finding_lose(s, out, p->step, pause_ns(p));
        longest = !longest || pause_ns(p) > pause_ns(longest) ? p : longest;
        n++;
    }
    if (n == 0)
        return CHECK_FINE;
    char time[READABLE_MOST], runs[READABLE_MOST];
    const struct spent_place place = { .begin_ns = longest->begin_ns,
                                       .dur_ns = span_ns(longest->begin_ns, longest->end_ns) };
    finding_add(s, out, pause_ns(longest), &place, "the longest pause takes %s",
                readable_duration(time, pause_ns(longest)));
    finding_say(
        s, out,
        "in %s pause%s %s the device waits for a host of which nothing was recorded, as long in each step: probably Python code",
        readable_runs(runs, (double)n / (double)s->n_steps), n == s->n_steps ? "" : "s", s->per);
    return CHECK_FOUND;
}

/* Pauses that the program did not make. */
struct interruptions {
    size_t n, n_steps, n_names, n_of_switch; /* n_of_switch: as long as some turns of Python's lock */
    double ns;
};

/* Python's threads hand their lock over every 5 ms: who waits for it waits for a turn, or for several. */
static bool is_of_switch(double ns)
{
    const double turn_ns = 5e6, over = 0.15;
    const double turns = floor(ns / turn_ns + over / 2);
    return turns >= 1 && turns <= 4 && fabs(ns / turn_ns - turns) < over;
}

/* A thread that has lost its processor, or the lock, gets it back after a slice of time of another one. Shorter pauses
 * are what a healthy host varies by: threads that are woken, pages that are mapped. */
static const double SLICE_NS = 3e6;

static bool was_interrupted(const struct checked_rank *s, const struct host_pause *p)
{
    char kind[COLLECTIVE_KIND];
    const char *name = names_text(s->spans.names, p->name);
    if (p->is_steady || pause_ns(p) < SLICE_NS || (p->is_recorded && call_is_synchronisation(name)))
        return false;
    collective_kind(kind, p->is_recorded ? name : ""); /* it waits for other ranks */
    return !kind[0];
}

static bool find_interruptions(const struct checked_rank *s, struct interruptions *out)
{
    const double least_steps = 0.5, least_share = 0.1;
    uint8_t *is_of_step = arena_take(s->spare, s->series.n, 1);
    const struct host_pause *last = NULL;
    *out = (struct interruptions){ 0 };
    for (size_t i = 0; is_of_step && i < s->pauses.n; i++) {
        const struct host_pause *p = &s->pauses.at[i];
        if (!was_interrupted(s, p))
            continue;
        out->n++;
        out->ns += pause_ns(p);
        out->n_of_switch += is_of_switch(pause_ns(p));
        out->n_names += !last || last->name != p->name;
        out->n_steps += !is_of_step[p->step];
        is_of_step[p->step] = 1;
        last = p;
    }
    return (double)out->n_steps >= least_steps * (double)s->n_steps && out->n_names > 1 &&
           out->ns >= least_share * s->step_ns * (double)s->n_steps;
}

static void lose_interruptions(const struct checked_rank *s, struct finding *out)
{
    const struct rank_spans *v = &s->spans;
    for (size_t i = 0; i < s->pauses.n; i++) {
        const struct host_pause *p = &s->pauses.at[i];
        if (!was_interrupted(s, p))
            continue;
        finding_lose(s, out, p->step, pause_ns(p));
        struct spent_place place = { .begin_ns = p->begin_ns, .dur_ns = span_ns(p->begin_ns, p->end_ns) };
        if (p->is_recorded)
            place = rank_span_place(v, p->kind, p->row);
        char time[READABLE_MOST];
        finding_add(s, out, pause_ns(p), &place, "%s for %s",
                    p->is_recorded ? names_text(v->names, p->name) : "nothing was recorded",
                    readable_duration(time, pause_ns(p)));
    }
}

static enum check_state check_interruptions(const struct checked_rank *s, struct finding *out, bool of_gil)
{
    const double most = 0.6;
    struct interruptions x;
    if (s->spans.n[SPAN_OPERATOR] + s->spans.n[SPAN_CALL] == 0)
        return CHECK_UNRECORDED;
    if (!find_interruptions(s, &x) || ((double)x.n_of_switch >= most * (double)x.n) != of_gil)
        return CHECK_FINE;
    lose_interruptions(s, out);
    char runs[READABLE_MOST];
    readable_runs(runs, (double)x.n / (double)s->n_steps);
    if (of_gil)
        finding_say(
            s, out,
            "the host stands still %s times %s, mostly for 5 ms or a multiple: the time for which Python's threads keep the lock (GIL)",
            runs, s->per);
    else
        finding_say(s, out,
                    "the host stands still %s times %s, each time for another duration, in %zu different places: "
                    "other work has its processors (or its data is not in memory)",
                    runs, s->per, x.n_names);
    return CHECK_FOUND;
}

enum check_state check_gil(const struct checked_rank *s, struct finding *out)
{
    return check_interruptions(s, out, true);
}

/* By the kernel's own count of what the thread of the steps waited for a processor. False: it was not recorded. */
static bool starved_by_count(const struct checked_rank *s, struct finding *out)
{
    double ready_ns = 0;
    for (uint32_t i = 0; i < s->series.n; i++) {
        if (!advise_counts(s, i))
            continue;
        const struct step_thread_time t = step_thread_mean(&s->rank, &s->series, &i, 1);
        if (!t.is_known)
            return false;
        ready_ns += t.ready_ns / (double)s->n_steps;
        finding_lose(s, out, i, s->has_device ? fmin(t.ready_ns, s->gaps.step_ns[i]) : t.ready_ns);
    }
    char ready[READABLE_MOST];
    finding_say(s, out, "the thread of the steps waits %s %s for a processor that other work has",
                readable_duration(ready, ready_ns), s->per);
    return ready_ns > 0;
}

enum check_state check_host_starved(const struct checked_rank *s, struct finding *out)
{
    if (starved_by_count(s, out))
        return CHECK_FOUND;
    return s->has_device ? check_interruptions(s, out, false) : CHECK_UNRECORDED;
}

/* ---- work that belongs outside of steps ------------------------------------------------------------------------ */

static bool is_compilation(const char *name)
{
    static const char *const word[] = { "aclopCompile", "compile_inner",   "compile_fx",     "_compile.",
                                        "nvrtcCompile", "cuModuleLoad",    "cuLibraryLoad",  "cudaLibraryLoad",
                                        "OpCompile",    "aclnnCompile",    "torch._dynamo",  "_dynamo/",
                                        "_inductor/",   "backend_compile", "triton.compile", "async_compile",
                                        "recompil" };
    return contains_one_of(name, word, sizeof word / sizeof *word);
}

enum check_state check_recompilation(const struct checked_rank *s, struct finding *out)
{
    const struct rank_spans *v = &s->spans;
    uint8_t *known = arena_take(s->spare, names_count(v->names), 1); /* by name: 1 no, 2 yes */
    size_t n = 0;
    if (!known || v->n[SPAN_CALL] + v->n[SPAN_OPERATOR] + v->n[SPAN_RANGE] + v->n[SPAN_PYTHON] == 0)
        return CHECK_UNRECORDED;
    for (int kind = SPAN_CALL; kind < SPAN_GC; kind++) {
        struct rank_span outer = { .end_ns = INT64_MIN };
        for (size_t i = 0; i < v->n[kind]; i++) {
            const name_id id = rank_span_id(v, (enum span_kind)kind, i);
            known[id] = known[id] ? known[id] : 1 + is_compilation(names_text(v->names, id));
            if (known[id] != 2)
                continue;
            const struct rank_span x = rank_span(v, (enum span_kind)kind, i);
            if (!advise_counts(s, x.step) || (x.track == outer.track && x.begin_ns < outer.end_ns))
                continue;
            outer = x;
            const double free_ns = (double)busy_within(&s->gaps.free, x.begin_ns, x.end_ns);
            const double usual_ns = out->step_ns ? out->step_ns[x.step] : 0,
                         room_ns = s->gaps.step_ns[x.step] - usual_ns;
            if (!(free_ns > 0))
                continue;
            n++;
            finding_lose(s, out, x.step, free_ns < room_ns ? free_ns : room_ns); /* of several layers one counts */
            const struct spent_place place = rank_span_place(v, (enum span_kind)kind, i);
            char time[READABLE_MOST];
            finding_add(s, out, free_ns / (double)s->n_steps, &place, "%.300s: %s", x.name,
                        readable_duration(time, (double)span_ns(x.begin_ns, x.end_ns)));
        }
    }
    if (n == 0)
        return CHECK_FINE;
    finding_say(s, out,
                "the host compiles or loads code for the device %zu time%s after the start, and the device waits", n,
                n == 1 ? "" : "s");
    return CHECK_FOUND;
}

/* The distance of the steps that are marked, if it is always the same; 0: it is not. */
static size_t period_of(const bool *is, size_t first, size_t n)
{
    size_t last = n, period = 0;
    for (size_t i = first; i < n; i++) {
        if (!is[i])
            continue;
        const size_t apart = last < n ? i - last : 0;
        if (apart > 0 && period > 0 && apart != period)
            return 0;
        period = apart > 0 ? apart : period;
        last = i;
    }
    return period;
}

/* Steps that copy far more to the host than others, and take longer. */
enum check_state check_checkpoint(const struct checked_rank *s, struct finding *out)
{
    enum { LEAST_STEPS = 4, FACTOR = 10 };
    const double least_longer = 0.1;
    const struct rank_spans *v = &s->spans;
    const size_t n = s->series.n;
    double *bytes = arena_take(s->spare, n, sizeof *bytes), *copies = arena_take(s->spare, n, sizeof *copies),
           *sorted = arena_take(s->spare, n, sizeof *sorted);
    bool *is = arena_take(s->spare, n, sizeof *is);
    if (!bytes || !copies || !sorted || !is || n < s->n_startup + LEAST_STEPS)
        return CHECK_FINE;
    for (size_t i = 0; i < v->n[SPAN_COPY]; i++) {
        struct rank_span x = rank_span(v, SPAN_COPY, i), launch;
        const struct span_copy c = rank_span_copy(v, i);
        x.step = rank_span_launch(v, SPAN_COPY, i, &launch) ? launch.step : x.step;
        if (!c.is_to_host || !advise_counts(s, x.step))
            continue;
        bytes[x.step] += c.bytes > 0 ? (double)c.bytes : (double)span_ns(x.begin_ns, x.end_ns);
        copies[x.step]++;
    }
    size_t n_counted = 0, n_found = 0, most = 0;
    for (size_t i = s->n_startup; i < n; i++)
        sorted[n_counted++] = bytes[i];
    const double usual_bytes = upper_median(sorted, n_counted);
    n_counted = 0;
    for (size_t i = s->n_startup; i < n; i++)
        sorted[n_counted++] = (double)s->series.time_ns[i];
    const double usual_ns = upper_median(sorted, n_counted);
    for (size_t i = s->n_startup; i < n; i++) {
        const double longer_ns = (double)s->series.time_ns[i] - usual_ns;
        is[i] = bytes[i] > FACTOR * usual_bytes && copies[i] >= LEAST_STEPS && longer_ns > least_longer * usual_ns;
        n_found += is[i];
        most = is[i] && (!is[most] || bytes[i] > bytes[most]) ? i : most;
        finding_lose(s, out, (uint32_t)i, is[i] ? longer_ns : 0);
        out->free_ns += !is[i]                           ? 0
                        : longer_ns < s->gaps.step_ns[i] ? longer_ns / (double)s->n_steps
                                                         : s->gaps.step_ns[i] / (double)s->n_steps;
    }
    if (n_found == 0 || n_found * 2 > n_counted)
        return CHECK_FINE;
    const size_t period = period_of(is, s->n_startup, n);
    char every[60] = "", usual[READABLE_MOST];
    if (period > 0)
        snprintf(every, sizeof every, ", every %zu steps", period);
    for (size_t i = s->n_startup; i < n; i++)
        if (is[i]) {
            char time[READABLE_MOST];
            const struct spent_place place = { .begin_ns = s->series.begin_ns[i], .dur_ns = s->series.time_ns[i] };
            finding_add(s, out, out->step_ns[i] / (double)s->n_steps, &place,
                        "step %.60s copies %.3f MB to the host in %.0f copies and takes %s",
                        names_text(s->rank.names, s->series.name[i]), bytes[i] / 1e6, copies[i],
                        readable_duration(time, (double)s->series.time_ns[i]));
        }
    finding_say(
        s, out,
        "%zu of %zu steps%s copy tensors to the host that others do not copy, as a checkpoint does, and take longer than a usual step of %s",
        n_found, n_counted, every, readable_duration(usual, usual_ns));
    return CHECK_FOUND;
}
