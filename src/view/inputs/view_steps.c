/* SPDX-License-Identifier: Apache-2.0 */
#include "view/inputs/view_inputs.h"

#include <string.h>

#include "answers/judge/causes.h"
#include "answers/run/trace_steps.h"
#include "base/memory/sort.h"
#include "report/term.h"

enum { MOST_REASONS = 12, MOST_EXPLAINED = 32, MOST_FINDINGS = 8 };

/* Title of a collection without steps: how the device spent its time, as in the summary of ascope analyse. */
static const char *whole_title(const struct step_series *s, struct arena *mem)
{
    char all[READABLE_MOST], computing[READABLE_MOST], communication[READABLE_MOST], rest[READABLE_MOST];
    if (s->is_host)
        return "No steps were recorded";
    return arena_printf(
        mem, "No steps were recorded: of %s computing %s, communication %s, free %s",
        readable_duration(all, (double)s->time_ns[0]),
        readable_duration(computing, (double)(s->part_ns[STEP_COMPUTING][0] + s->part_ns[STEP_OVERLAPPED][0])),
        readable_duration(communication, (double)s->part_ns[STEP_COMMUNICATION][0]),
        readable_duration(rest, (double)s->part_ns[STEP_FREE][0]));
}

static bool series_keep(struct view_series *out, const struct step_series *s, const struct names *names,
                        struct arena *mem)
{
    char number[READABLE_MOST];
    *out = (struct view_series){ .median_ns = s->median_ns, .is_host = s->is_host };
    out->title = s->is_whole
                     ? whole_title(s, mem)
                     : arena_printf(mem, "%zu %s%s%s%s, median %s%s", s->n, s->has_model ? "iteration" : "step",
                                    s->n == 1 ? "" : "s", s->by ? " of " : "", s->by ? s->by : "",
                                    readable_duration(number, (double)s->median_ns), s->is_host ? ", on the host" : "");
    for (size_t i = 0; i < s->n && !s->is_whole; i++) {
        struct view_step *step = list_add(&out->steps, mem);
        if (!step)
            return false;
        *step = (struct view_step){ .name = names_text(names, s->name[i]),
                                    .begin_ns = s->begin_ns[i],
                                    .end_ns = s->end_ns[i],
                                    .time_ns = s->time_ns[i],
                                    .is_slow = s->is_slow[i] };
        if (!(step->name = arena_text(mem, step->name, strlen(step->name))))
            return false;
        for (size_t p = 0; p < STEP_PARTS; p++)
            step->part_ns[p] = s->part_ns[p][i];
    }
    view_series_sum(out);
    if (s->is_whole) {
        out->whole_ns = s->time_ns[0];
        for (size_t p = 0; p < STEP_PARTS; p++)
            out->whole_part_ns[p] = s->part_ns[p][0];
    }
    return out->title != NULL;
}

static struct view_sentence sentence_at(const char *text, const struct why_place *place)
{
    const bool is_placed = place->process || place->event;
    return (struct view_sentence){ text, is_placed ? place->begin_ns : 1,
                                   is_placed ? place->begin_ns + place->dur_ns : 0, place->event };
}

/* What took longer, and where; without a text if there is no memory. */
static struct view_sentence item_sentence(const struct why_answer *a, const struct step_item *m,
                                          const struct why_place *place, struct arena *mem)
{
    char more[READABLE_MOST + 2], before[READABLE_MOST], after[READABLE_MOST];
    const char *text =
        arena_printf(mem, "%s %s: %s (%s, usually %s)", why_more_words(more, m->more_ns), why_cause_words(a, m->cause),
                     why_item_words(m), readable_duration(after, m->after_ns), readable_duration(before, m->before_ns));
    return sentence_at(text, place);
}

/* Explains a slow step: what took longer than usual. */
static bool step_explain(struct view_step *step, const struct why_answer *found, int64_t median_ns, struct arena *mem)
{
    char time[READABLE_MOST], usual[READABLE_MOST];
    struct view_sentence *head = list_add(&step->why, mem);
    if (!head)
        return false;
    *head =
        (struct view_sentence){ arena_printf(mem, "Step %s took %s, the median step %s. It had more of:", step->name,
                                             readable_duration(time, (double)step->time_ns),
                                             readable_duration(usual, (double)median_ns)),
                                step->begin_ns, step->end_ns, NULL };
    for (size_t i = 0; i < found->difference.n; i++) {
        const struct step_item *m = &found->difference.item[i];
        if (m->more_ns * 20 < found->difference.more_ns)
            continue;
        struct view_sentence *to = list_add(&step->why, mem);
        if (!to)
            return false;
        *to = item_sentence(found, m, &found->place[i], mem);
    }
    return !arena_failed(mem);
}

/* What the judge finds in the steps of a series, which are those of the run's only rank. */
static bool findings_add(struct view_series *s, const struct explained_run *x, struct arena *mem)
{
    const struct judged_run *r = x->run;
    const size_t n = run_findings(r);
    if (r->n < 2)
        return true;
    if (n == 0) {
        struct view_finding *none = list_add(&s->findings, mem);
        if (none)
            none->says = (struct view_sentence){ run_nothing_text(r, mem), 1, 0, NULL };
    }
    for (size_t i = 0; i < r->of.n; i++) {
        const struct slow *f = &r->of.at[i];
        if (i > MOST_FINDINGS && i < n)
            continue;
        /* Of a periodic finding the first step, of the others all. */
        const struct rank_step *first = r->at[f->first], *last = f->shape == SLOW_PERIOD ? first : r->at[f->last];
        struct view_finding *to = list_add(&s->findings, mem);
        if (!to)
            return false;
        if (i == MOST_FINDINGS && i < n) {
            to->says =
                (struct view_sentence){ arena_printf(mem, "and %zu more; ascope why explains them", n - MOST_FINDINGS),
                                        1, 0, NULL };
            continue;
        }
        to->says = (struct view_sentence){ run_finding_text(r, f, mem), s->steps.at[first - r->rank->step].begin_ns,
                                           s->steps.at[last - r->rank->step].end_ns, NULL };
        to->is_start_up = f->shape == SLOW_START_UP;
        const struct explained *of = causes_of(x, f);
        if (of && of->answer.because)
            to->because = sentence_at(of->answer.because, &of->answer.place[0]);
    }
    return !arena_failed(mem);
}

/* Finds the rows of the slowest slow steps, at most MOST_EXPLAINED. Returns their number; SIZE_MAX: no memory. */
static size_t slow_rows(const struct step_series *s, uint32_t row[MOST_EXPLAINED], struct arena *mem)
{
    uint32_t *order = arena_take(mem, s->n, sizeof *order);
    uint64_t *key = arena_take(mem, s->n, sizeof *key);
    if (!order || !key)
        return SIZE_MAX;
    for (size_t i = 0; i < s->n; i++)
        key[i] = UINT64_MAX - (s->is_slow[i] ? (uint64_t)s->time_ns[i] : 0);
    order_fill(order, s->n);
    if (!order_by_u64(order, s->n, key))
        return SIZE_MAX;
    size_t n = 0;
    while (n < s->n && n < MOST_EXPLAINED && s->is_slow[order[n]]) {
        row[n] = order[n];
        n++;
    }
    return n;
}

/* Explains the slowest of the slow steps. */
static bool slow_steps_explain(struct view_series *out, const struct step_series *s, const struct run_rank *q,
                               struct arena *mem)
{
    uint32_t row[MOST_EXPLAINED];
    struct why_answer found[MOST_EXPLAINED];
    struct why_rows set[MOST_EXPLAINED];
    const size_t n = slow_rows(s, row, mem);
    if (n == SIZE_MAX)
        return false;
    for (size_t i = 0; i < n; i++)
        set[i] = (struct why_rows){ &row[i], 1, 0 };
    if (n > 0 && !why_steps(found, s, q, set, n, MOST_REASONS, mem))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!step_explain(&out->steps.at[row[i]], &found[i], out->median_ns, mem))
            return false;
    return true;
}

bool view_steps_add(struct view_input *in, const struct run_rank *q)
{
    struct step_series s;
    struct arena *mem = in->mem;
    in->has_rank = run_rank_number(q, &in->rank);
    if (!run_rank_series(&s, q, mem))
        return false;
    if (s.n == 0 && q->trace)
        return true;
    struct view_series *out = list_add(&in->series, mem);
    if (!out || !series_keep(out, &s, q->names, mem))
        return false;
    if (s.is_whole || out->steps.n == 0)
        return true;
    struct judged_run run;
    struct explained_run explained;
    return causes_of_series(&explained, &run, &s, q, MOST_FINDINGS, mem) && findings_add(out, &explained, mem) &&
           slow_steps_explain(out, &s, q, mem);
}

bool view_trace_steps(struct view_input *in, struct error *e)
{
    struct names *names = names_new();
    const struct run_rank view = run_rank_of_trace(&in->trace, names);
    struct view_advice advice = { 0 };
    const bool done = names && trace_steps_find(&in->trace, in->context, e) && view_steps_add(in, &view) &&
                      view_advice_add(&advice, &view, 0, in->path, 0, in->mem) && view_advice_put(&advice, in);
    names_free(names);
    return done || (e->fault == FAULT_NONE && error_no_memory(e, in->path));
}
