/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/findings.h"
#include "base/readable.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MOST = 600 };

void finding_say(const struct advise_subject *s, struct finding *out, const char *fmt, ...)
{
    char text[TEXT_MOST];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    out->found = arena_text(s->mem, text, strlen(text));
}

void finding_add(const struct advise_subject *s, struct finding *out, double ns, const struct spent_place *place,
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
    if (place) {
        const struct run_rank q = run_rank_of(s->p, s->d, s->collection);
        out->evidence[at].place = why_place_of(place, &q, s->mem);
    }
}

void finding_of_kinds(const struct advise_subject *s, struct finding *out, unsigned kinds)
{
    for (size_t i = 0; i < s->mean.n; i++) {
        const struct spent *x = &s->mean.at[i];
        if (!(kinds >> x->kind & 1) || !(x->ns > 0))
            continue;
        out->gain_ns += x->ns;
        const char *name = x->kind == SPENT_NOTHING ? "nothing was recorded of the host"
                           : x->kind == SPENT_GC    ? "garbage collection"
                                                    : x->name;
        char time[READABLE_MOST], runs[READABLE_MOST];
        readable_duration(time, x->ns);
        if (x->runs > 0)
            finding_add(s, out, x->ns, &x->place, "%.300s: %s %s, %s time%s", name, time, s->per,
                        readable_runs(runs, x->runs), x->runs == 1 ? "" : "s");
        else
            finding_add(s, out, x->ns, &x->place, "%.300s: %s %s", name, time, s->per);
    }
}
