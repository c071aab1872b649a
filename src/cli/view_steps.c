/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view_steps.h"

#include <math.h>
#include <string.h>

#include "answers/trace_steps.h"
#include "answers/why.h"
#include "base/sort.h"
#include "cli/term.h"
#include "cli/why_report.h"

enum { MOST_REASONS = 12, MOST_EXPLAINED = 32 };

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

static bool sentence_add(struct view_step *step, const char *text, int64_t begin_ns, int64_t end_ns, const char *event,
                         struct arena *mem)
{
    struct view_sentence *s = text ? list_add(&step->why, mem) : NULL;
    if (s)
        *s = (struct view_sentence){ text, begin_ns, end_ns, event };
    return s != NULL;
}

static bool item_add(struct view_step *step, const struct step_item *m, const struct why_place *place, bool is_host,
                     struct arena *mem)
{
    char more[READABLE_MOST], before[READABLE_MOST], after[READABLE_MOST];
    const char *what = m->named == NAMED_OUTSIDE   ? "nothing was recorded of the host"
                       : m->named == NAMED_NOTHING ? "Python"
                                                   : m->name;
    const char *text = arena_printf(mem, "%c%s %s: %s (%s, usually %s)", m->more_ns < 0 ? '-' : '+',
                                    readable_duration(more, fabs(m->more_ns)), why_cause_words(m->cause, is_host), what,
                                    readable_duration(after, m->after_ns), readable_duration(before, m->before_ns));
    const bool is_placed = place->process || place->event;
    return sentence_add(step, text, is_placed ? place->begin_ns : 1, is_placed ? place->begin_ns + place->dur_ns : 0,
                        place->event, mem);
}

/* Explains a slow step: what took longer than usual. */
static bool why_add(struct view_step *step, const struct why_answer *found, int64_t median_ns, bool is_host,
                    struct arena *mem)
{
    char time[READABLE_MOST], usual[READABLE_MOST];
    bool done = sentence_add(step,
                             arena_printf(mem, "Step %s took %s, the median step %s. It had more of:", step->name,
                                          readable_duration(time, (double)step->time_ns),
                                          readable_duration(usual, (double)median_ns)),
                             step->begin_ns, step->end_ns, NULL, mem);
    for (size_t i = 0; i < found->difference.n && done; i++)
        if (found->difference.item[i].more_ns * 20 >= found->difference.more_ns)
            done = item_add(step, &found->difference.item[i], &found->place[i], is_host, mem);
    return done;
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

static bool explain(struct view_series *out, const struct step_series *s, const struct run_rank *q, struct arena *mem)
{
    uint32_t row[MOST_EXPLAINED];
    struct why_answer found[MOST_EXPLAINED];
    const size_t n = slow_rows(s, row, mem);
    struct why_rows set[MOST_EXPLAINED];
    for (size_t i = 0; n != SIZE_MAX && i < n; i++)
        set[i] = (struct why_rows){ &row[i], 1 };
    if (n == SIZE_MAX || (n > 0 && !why_steps(found, s, q, set, n, MOST_REASONS, mem)))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!why_add(&out->steps.at[row[i]], &found[i], out->median_ns, s->is_host, mem))
            return false;
    return true;
}

bool view_steps_add(struct view_input *in, const struct run_rank *q)
{
    struct step_series s;
    struct arena *mem = in->mem;
    if (!run_rank_series(&s, q, mem))
        return false;
    if (s.n == 0 && q->trace)
        return true;
    struct view_series *out = list_add(&in->series, mem);
    if (!out || !series_keep(out, &s, q->names, mem))
        return false;
    if (out->steps.n == 0 || view_slowest(out))
        return out->steps.n == 0 || explain(out, &s, q, mem);
    return view_say_usual(in);
}

bool view_trace_steps(struct view_input *in, struct error *e)
{
    struct names *names = names_new();
    const struct run_rank view = run_rank_of_trace(&in->trace, names);
    const bool done = names && trace_steps_find(&in->trace, in->context, e) && view_steps_add(in, &view);
    names_free(names);
    return done || (e->fault == FAULT_NONE && error_no_memory(e, in->path));
}
