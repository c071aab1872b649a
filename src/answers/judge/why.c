/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/judge/why.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answers/run/profiles_mean.h"
#include "answers/run/rank_spans.h"
#include "base/text/framework_names.h"
#include "base/text/utf8.h"
#include "raw/chip.h"

static const char *copy(const char *text, struct arena *mem)
{
    return text ? arena_text(mem, text, strlen(text)) : NULL;
}

/* The name of a process or thread in the trace, or its number if it has none. */
static const char *name_in(const struct chrome_trace *t, name_id name, name_id id, const char *word, struct arena *mem)
{
    return name != NAME_EMPTY ? copy(names_text(t->names, name), mem)
                              : arena_printf(mem, "%s %.500s", word, names_text(t->names, id));
}

static struct why_place place_in_trace(const struct spent_place *s, const struct chrome_trace *t, struct arena *mem)
{
    struct why_place out = { .event = copy(s->event, mem), .begin_ns = s->begin_ns, .dur_ns = s->dur_ns };
    if (s->track == SHOWN_TRACE && s->number < t->tracks.n) {
        const struct chrome_track *track = &t->tracks.at[s->number];
        const struct chrome_process *process = &t->processes.at[track->process];
        out.process = name_in(t, process->name, process->id.text, "process", mem);
        out.thread = name_in(t, track->name, track->id.text, "thread", mem);
    }
    return out;
}

static struct why_place place_in_collection(const struct spent_place *s, const struct run_rank *q, struct arena *mem)
{
    const struct device *d = q->device;
    const struct collection *collection = q->collection;
    const struct chip_words *words = d ? chip_words(q->profile->chip) : NULL;
    struct why_place out = { .event = copy(s->event, mem), .begin_ns = s->begin_ns, .dur_ns = s->dur_ns };
    const char *framework = collection && collection->framework_id == FRAMEWORK_PYTORCH
                                ? "Python"
                                : framework_names[collection ? collection->framework_id : FRAMEWORK_PYTORCH].name;
    switch (s->track) {
    case SHOWN_NONE:
        out.process = d && s->dur_ns > 0 ? "Overlap Analysis" : NULL;
        out.thread = out.process ? "Free" : NULL;
        break;
    case SHOWN_STREAM:
        out.process = words ? words->hardware : NULL;
        out.thread = arena_printf(mem, "Stream %u", s->number);
        break;
    case SHOWN_COMMUNICATION:
        out.process = "Communication";
        out.thread = s->group && *s->group && strcmp(s->group, "N/A") != 0
                         ? arena_printf(mem, "Group %.500s Communication", s->group)
                         : "Communication";
        break;
    case SHOWN_STEPS:
        out.process = words ? words->hardware : NULL;
        out.thread = "Step Trace";
        break;
    case SHOWN_FRAMEWORK:
        out.process = framework;
        out.thread = arena_printf(mem, "Thread %u", s->number);
        break;
    case SHOWN_GC: out.process = out.thread = "Python GC"; break;
    case SHOWN_CALLS:
        out.process = words ? words->stack : NULL;
        out.thread = arena_printf(mem, "Thread %u", s->number);
        break;
    case SHOWN_MARKS:
        out.process = copy(q->profile->host.source.pid_name, mem);
        out.thread = arena_printf(mem, "Thread %u", s->number);
        break;
    default: break;
    }
    return out;
}

struct why_place why_place_of(const struct spent_place *at, const struct step_series *s, const struct run_rank *q,
                              struct arena *mem)
{
    struct why_place out = q->trace ? place_in_trace(at, q->trace, mem) : place_in_collection(at, q, mem);
    const uint32_t step = s && !s->is_whole ? step_series_at(s->begin_ns, s->end_ns, s->n, at->begin_ns) : NO_ROW;
    out.is_gap = at->track == SHOWN_NONE && at->dur_ns > 0;
    out.in_recording_ns = q->begin_ns <= at->begin_ns ? span_ns(q->begin_ns, at->begin_ns) : -1;
    if (step != NO_ROW) {
        out.step = copy(names_text(q->names, s->name[step]), mem);
        out.in_step_ns = span_ns(s->begin_ns[step], at->begin_ns);
    }
    return out;
}

/* What ends last before a gap, and what begins first behind it, among some kinds of spans. */
static void gap_neighbours(const struct rank_spans *v, unsigned kinds, const struct why_place *gap, const char **before,
                           const char **after, struct arena *mem)
{
    const int64_t begin_ns = gap->begin_ns, end_ns = stamp_add(gap->begin_ns, gap->dur_ns);
    struct rank_span last = { .end_ns = INT64_MIN }, next = { .begin_ns = INT64_MAX };
    for (int kind = 0; kind < SPAN_KINDS; kind++)
        for (size_t i = 0; kinds >> kind & 1 && i < v->n[kind]; i++) {
            const struct rank_span x = rank_span(v, (enum span_kind)kind, i);
            if (x.end_ns <= begin_ns && x.end_ns > last.end_ns)
                last = x;
            if (x.begin_ns >= end_ns && x.begin_ns < next.begin_ns)
                next = x;
        }
    *before = copy(last.name, mem);
    *after = copy(next.name, mem);
}

/* ---- words ----------------------------------------------------------------------------------------------------- */

const char *why_cause_words(const struct why_answer *a, enum step_cause cause)
{
    static const char *const words[CAUSES] = {
        [CAUSE_RUNS] = "more runs",
        [CAUSE_LONGER] = "longer runs",
        [CAUSE_CLOCK] = "lower clock",
        [CAUSE_TRANSFER] = "slower transfer",
        [CAUSE_WAIT] = "waiting for ranks",
        [CAUSE_DATA] = "waiting for data",
        [CAUSE_REQUESTS] = "waiting for requests",
        [CAUSE_MEMORY] = "memory",
        [CAUSE_GC] = "garbage collection",
        [CAUSE_HOST] = "host late",
    };
    if (cause == CAUSE_TRANSFER && !a->knows_waits)
        return "waiting or transfer";
    return a->is_host && cause == CAUSE_HOST ? "outside operators" : words[cause];
}

const char *why_waiting_words(const struct why_answer *a, const struct step_difference *d, enum step_cause cause,
                              struct arena *mem)
{
    const double most_of = 0.8;
    for (size_t i = 0; cause == CAUSE_WAIT && i < d->n; i++)
        if (d->item[i].named == NAMED_RANK && d->item[i].more_ns >= most_of * d->cause_ns[CAUSE_WAIT])
            return arena_printf(mem, "waits for %s", d->item[i].name);
    return why_cause_words(a, cause);
}

const char *why_item_words(const struct step_item *m)
{
    return m->named == NAMED_OUTSIDE   ? "nothing was recorded of the host"
           : m->named == NAMED_NOTHING ? "Python"
                                       : m->name;
}

const char *why_more_words(char out[READABLE_MOST + 2], double ns)
{
    char number[READABLE_MOST];
    snprintf(out, READABLE_MOST + 2, "%c%s", ns < 0 ? '-' : '+', readable_duration(number, fabs(ns)));
    return out;
}

/* At most so many columns. */
static const char *name_cut(const char *name, struct arena *mem)
{
    enum { MOST = 40, DOTS = 3 };
    size_t at = 0, cut = 0;
    int n = 0;
    for (bool is_shown; name[at]; n++) {
        cut = n == MOST - DOTS ? at : cut;
        at += utf8_shown(name + at, &is_shown);
    }
    return n <= MOST ? name : arena_printf(mem, "%.*s...", (int)cut, name);
}

/* "(100 %): name" behind a cause: its share, and the item that grew most. */
static const char *cause_detail(const struct step_difference *d, enum step_cause cause, bool is_named,
                                struct arena *mem)
{
    const double percent = 100 * d->cause_ns[cause] / d->more_ns;
    for (size_t i = 0; is_named && i < d->n; i++)
        if (d->item[i].cause == cause && d->item[i].more_ns > 0)
            return arena_printf(mem, "(%.0f %%): %s", percent, name_cut(why_item_words(&d->item[i]), mem));
    return arena_printf(mem, "(%.0f %%)", percent);
}

/* The largest causes, at most two and each a seventh at least; and the wait for a processor, if it is as large. */
static const char *because_of(const struct why_answer *a, const struct step_difference *d, struct arena *mem)
{
    enum { MOST = 2, LEAST_PERCENT = 15 };
    const char *text = NULL;
    char more[READABLE_MOST + 2];
    bool is_said[CAUSES] = { 0 };
    for (int k = 0; k < MOST && d->more_ns > 0; k++) {
        int c = 0;
        for (int i = 1; i < CAUSES; i++)
            c = is_said[c] || (!is_said[i] && d->cause_ns[i] > d->cause_ns[c]) ? i : c;
        if (d->cause_ns[c] <= 0 || 100 * d->cause_ns[c] < LEAST_PERCENT * d->more_ns)
            break;
        is_said[c] = true;
        const enum step_cause cause = (enum step_cause)c;
        const char *words = why_waiting_words(a, d, cause, mem);
        const bool is_for_rank = cause == CAUSE_WAIT && words != why_cause_words(a, cause);
        text = arena_printf(mem, "%s%s%s %s %s", text ? text : "", text ? ", " : "", words,
                            why_more_words(more, d->cause_ns[c]), cause_detail(d, cause, !is_for_rank, mem));
    }
    const double waited = step_thread_share(&a->thread_usual, &a->thread, d->more_ns);
    if (100 * waited >= LEAST_PERCENT)
        text = arena_printf(mem, "%s%sits thread waits for a processor for %.0f %% of it", text ? text : "",
                            text ? "; " : "", 100 * waited);
    return text;
}

/* Waits whose name is that of the rank that joined last. */
static void name_ranks(struct step_difference *x, const struct known_waits *w)
{
    for (size_t i = 0; w && i < x->n; i++)
        for (size_t k = 0; x->item[i].cause == CAUSE_WAIT && x->item[i].named == NAMED_OPERATOR && k < w->n; k++)
            if (w->at[k].is_for_rank && strcmp(w->at[k].for_whom, x->item[i].name) == 0)
                x->item[i].named = NAMED_RANK;
}

/* Copies the first `most` items with their texts, and adds up the others. The rest of the answer is there. */
static bool answer_keep(struct why_answer *out, struct step_difference *x, const struct step_series *s,
                        const struct run_rank *q, size_t most, struct arena *mem)
{
    enum {
        HOST = 1 << SPAN_CALL | 1 << SPAN_OPERATOR | 1 << SPAN_RANGE | 1 << SPAN_PYTHON,
        DEVICE = 1 << SPAN_KERNEL | 1 << SPAN_COLLECTIVE | 1 << SPAN_COPY
    };
    const size_t n = x->n < most ? x->n : most;
    name_ranks(x, q->waits);
    out->knows_waits = run_rank_knows_waits(q);
    out->is_host = s->is_host;
    out->because = because_of(out, x, mem);
    out->lacks_python = x->n > 0 && x->item[0].named == NAMED_OUTSIDE && run_rank_lacks_python(q);
    out->difference = *x;
    out->difference.n = n;
    out->difference.item = arena_take(mem, n, sizeof *out->difference.item);
    out->place = arena_take(mem, n, sizeof *out->place);
    if (!out->difference.item || !out->place)
        return false;
    for (size_t i = 0; i < x->n; i++)
        if (i < n) {
            out->difference.item[i] = x->item[i];
            out->difference.item[i].name = copy(x->item[i].name, mem);
            out->place[i] = why_place_of(&x->item[i].place, s, q, mem);
        } else {
            out->others_ns += x->item[i].more_ns;
            out->n_others++;
        }
    struct arena *spare = NULL;
    struct rank_spans spans;
    bool done = true;
    for (size_t i = 0; i < n && done; i++) {
        struct why_place *p = &out->place[i];
        if (!p->is_gap)
            continue;
        done = spare || ((spare = arena_new()) && rank_spans_find(&spans, q, s, spare));
        if (done) {
            gap_neighbours(&spans, HOST, p, &p->host_before, &p->host_after, mem);
            gap_neighbours(&spans, DEVICE, p, &p->device_before, &p->device_after, mem);
        }
    }
    arena_free(spare);
    return done && !arena_failed(mem);
}

/* Every row of all sets once: *row, and where each row of the series is in it. */
static size_t rows_of_sets(const struct why_rows *set, size_t n_sets, uint32_t *row, uint32_t *where, size_t n_steps)
{
    size_t n = 0;
    for (size_t i = 0; i < n_steps; i++)
        where[i] = NO_ROW;
    for (size_t k = 0; k < n_sets; k++)
        for (size_t i = 0; i < set[k].n; i++)
            if (where[set[k].row[i]] == NO_ROW) {
                where[set[k].row[i]] = (uint32_t)n;
                row[n++] = set[k].row[i];
            }
    return n;
}

/* The mean of the steps of a set. */
static bool set_mean(struct step_profile *out, const struct step_series *s, const struct step_division *d,
                     const struct why_rows *set, const uint32_t *where, double *time_ns, struct arena *mem)
{
    struct weighted_profile *part = arena_take(mem, set->n, sizeof *part);
    *time_ns = 0;
    for (size_t i = 0; part && i < set->n; i++) {
        part[i] = (struct weighted_profile){ &d->of[where[set->row[i]]], 1 / (double)set->n };
        *time_ns += (double)s->time_ns[set->row[i]] / (double)set->n;
    }
    return part && profiles_mean(out, part, set->n, mem);
}

static double ns_without(const struct step_profile *f, unsigned kinds)
{
    double sum = 0;
    for (size_t i = 0; i < f->n; i++)
        sum += kinds >> f->at[i].kind & 1 ? 0 : f->at[i].ns;
    return sum;
}

/* Where the thread of the steps was, against that of the usual ones. */
static void thread_compare(struct why_answer *out, const struct step_series *s, const struct run_rank *q,
                           const struct why_rows *set, struct arena *spare)
{
    uint32_t *usual = arena_take(spare, s->n, sizeof *usual);
    size_t n = 0;
    for (uint32_t i = 0; usual && i < s->n; i++) {
        bool is_in_set = false;
        for (size_t k = 0; k < set->n && !is_in_set; k++)
            is_in_set = set->row[k] == i;
        if (!is_in_set && step_is_usual(s, i))
            usual[n++] = i;
    }
    out->thread = step_thread_mean(q, s, set->row, set->n);
    if (out->thread.is_known)
        out->thread_usual = step_thread_mean(q, s, usual, n);
}

bool why_steps(struct why_answer *out, const struct step_series *s, const struct run_rank *q,
               const struct why_rows *set, size_t n_sets, size_t most, struct arena *mem)
{
    struct arena *spare = arena_new();
    struct step_division division;
    uint32_t *row = spare ? arena_take(spare, s->n, sizeof *row) : NULL,
             *where = row ? arena_take(spare, s->n, sizeof *where) : NULL;
    struct step_series like = *s; /* with what is usual for the set */
    const size_t n_rows = where ? rows_of_sets(set, n_sets, row, where, s->n) : 0;
    bool done = where && (s->iteration || run_rank_division(&division, s, q, row, n_rows, spare));
    for (size_t i = 0; i < n_sets && done; i++) {
        struct step_profile own;
        struct step_difference x;
        double time_ns, usual_ns;
        if (s->iteration)
            done = (set[i].n == 0 || step_series_liken(&like, set[i].row[0], spare)) &&
                   run_rank_division(&division, &like, q, row, n_rows, spare);
        if (!done)
            break;
        out[i] = (struct why_answer){ .n_usual = division.n_usual };
        thread_compare(&out[i], &like, q, &set[i], spare);
        done = set_mean(&own, s, &division, &set[i], where, &time_ns, spare);
        /* With two steps the other one is the usual one: the median, which is their mean, would explain half of the
         * difference. */
        usual_ns = s->n > 2 && set[i].n == 1 && !s->iteration ? s->usual_ns : division.usual.time_ns;
        if (set[i].without) {
            time_ns = ns_without(&own, set[i].without);
            usual_ns = ns_without(&division.usual, set[i].without);
        }
        done = done && step_difference_find(&x, &own, &division.usual, time_ns, usual_ns, set[i].without, spare) &&
               answer_keep(&out[i], &x, s, q, most, mem);
    }
    arena_free(spare);
    return done;
}

bool why_usual(struct step_profile *out, const struct run_rank *q, struct arena *mem)
{
    struct arena *spare = arena_new();
    struct step_series s;
    struct step_division division;
    const bool done = spare && run_rank_series(&s, q, spare) && run_rank_division(&division, &s, q, NULL, 0, spare);
    *out = (struct step_profile){ 0 };
    if (done) {
        *out = division.usual;
        out->at = arena_take(mem, out->n, sizeof *out->at);
        for (size_t i = 0; out->at && i < out->n; i++) {
            out->at[i] = division.usual.at[i];
            out->at[i].name = copy(out->at[i].name, mem);
            out->at[i].place = (struct spent_place){ 0 }; /* it is in another timeline */
        }
    }
    arena_free(spare);
    return done && !arena_failed(mem);
}

bool why_rank(struct why_answer *out, const struct run_rank *q, const struct step_profile *other, size_t most,
              struct arena *mem)
{
    struct arena *spare = arena_new();
    struct step_series s;
    struct step_division division;
    struct step_difference x;
    const unsigned communication = 1u << SPENT_WAIT | 1u << SPENT_TRANSFER;
    *out = (struct why_answer){ 0 };
    const bool done = spare && run_rank_series(&s, q, spare) && run_rank_division(&division, &s, q, NULL, 0, spare) &&
                      step_difference_find(&x, &division.usual, other, ns_without(&division.usual, communication),
                                           ns_without(other, communication), communication, spare) &&
                      answer_keep(out, &x, &s, q, most, mem);
    if (done)
        out->n_usual = division.n_usual;
    arena_free(spare);
    return done;
}
