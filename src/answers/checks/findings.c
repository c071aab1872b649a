/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/checks/findings.h"
#include "base/text/readable.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MOST = 600 };

void finding_say(const struct checked_rank *s, struct finding *out, const char *fmt, ...)
{
    char text[TEXT_MOST];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    out->found = arena_text(s->mem, text, strlen(text));
}

void finding_add(const struct checked_rank *s, struct finding *out, double ns, const struct spent_place *place,
                 const char *fmt, ...)
{
    if (out->n == EVIDENCE_MOST && ns <= out->evidence[out->n - 1].ns)
        return;
    char text[TEXT_MOST];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    size_t at = out->n < EVIDENCE_MOST ? out->n++ : out->n - 1;
    for (; at > 0 && out->evidence[at - 1].ns < ns; at--)
        out->evidence[at] = out->evidence[at - 1];
    out->evidence[at] = (struct evidence){ .text = arena_text(s->mem, text, strlen(text)), .ns = ns };
    if (place)
        out->evidence[at].place = why_place_of(place, &s->series, &s->rank, s->mem);
}

bool finding_lose(const struct checked_rank *s, struct finding *out, uint32_t step, double ns)
{
    if (!advise_counts(s, step))
        return true;
    if (!out->step_ns)
        out->step_ns = arena_take(s->spare, s->series.n, sizeof *out->step_ns);
    if (out->step_ns && step < s->series.n)
        out->step_ns[step] += ns;
    return out->step_ns != NULL;
}

typedef bool chooses(const struct checked_rank *s, const struct spent *x);

static bool is_chosen(const struct checked_rank *s, const struct spent *x, unsigned kinds, chooses *is_of)
{
    return kinds >> x->kind & 1 && x->ns > 0 && (!is_of || is_of(s, x));
}

static double sum_of(const struct checked_rank *s, const struct step_profile *f, unsigned kinds, chooses *is_of)
{
    double sum = 0;
    for (size_t i = 0; i < f->n; i++)
        sum += is_chosen(s, &f->at[i], kinds, is_of) ? f->at[i].ns : 0;
    return sum;
}

/* Usual steps have their mean in common. */
static void lose_kinds(const struct checked_rank *s, struct finding *out, unsigned kinds, chooses *is_of)
{
    const double usual = sum_of(s, &s->division.usual, kinds, is_of);
    for (size_t i = s->n_startup; i < s->series.n; i++)
        finding_lose(s, out, (uint32_t)i, usual);
    for (size_t i = 0; out->step_ns && i < s->n_slow; i++)
        if (advise_counts(s, s->slow[i]))
            out->step_ns[s->slow[i]] += sum_of(s, &s->division.of[i], kinds, is_of) - usual;
}

void finding_of_kinds(const struct checked_rank *s, struct finding *out, unsigned kinds, chooses *is_of)
{
    lose_kinds(s, out, kinds, is_of);
    for (size_t i = 0; i < s->mean.n; i++) {
        const struct spent *x = &s->mean.at[i];
        if (!is_chosen(s, x, kinds, is_of))
            continue;
        out->gain_ns += x->ns;
        const char *name = x->kind == SPENT_NOTHING ? "nothing was recorded of the host"
                           : x->kind == SPENT_GC    ? "garbage collection"
                                                    : x->name;
        char time[READABLE_MOST], runs[READABLE_MOST];
        readable_duration(time, x->ns);
        readable_runs(runs, x->runs); /* before it is compared: the order of arguments is not defined */
        if (x->runs > 0)
            finding_add(s, out, x->ns, &x->place, "%.300s: %s %s, %s time%s", name, time, s->per, runs,
                        strcmp(runs, "1") == 0 ? "" : "s");
        else
            finding_add(s, out, x->ns, &x->place, "%.300s: %s %s", name, time, s->per);
    }
}
