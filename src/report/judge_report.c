/* SPDX-License-Identifier: Apache-2.0 */
#include "report/judge_report.h"

#include "analyse/framework/step_marks.h"
#include "base/text/json_memory.h"

enum { MOST_LINES = 8 };

static void put_line(const struct term *t, const char *text, int indent)
{
    fprintf(t->to, "%*s", indent, "");
    term_text(t, text ? text : "", 0);
    fputc('\n', t->to);
}

void judge_put_one(const struct term *t, const struct explained_run *x, const struct slow *f, int indent,
                   struct arena *mem)
{
    const char *text = run_finding_text(x->run, f, mem), *because = causes_text(x, f);
    term_text(t, text ? text : "", 0);
    fprintf(t->to, "%s\n", term_ink(t, INK_END));
    if (because)
        put_line(t, because, indent);
}

void judge_put(const struct term *t, const struct explained_run *x, int indent, struct arena *mem)
{
    const struct judged_run *r = x->run;
    const size_t n = run_findings(r);
    if (r->n < 2)
        return;
    if (n == 0)
        put_line(t, run_nothing_text(r, mem), indent);
    for (size_t i = 0; i < n && i < MOST_LINES; i++) {
        fprintf(t->to, "%*s%s", indent, "", term_ink(t, INK_WARN));
        judge_put_one(t, x, &r->of.at[i], indent + 2, mem);
    }
    if (n > MOST_LINES)
        fprintf(t->to, "%*sand %zu more; ascope why explains them\n", indent, "", n - MOST_LINES);
    if (n < r->of.n)
        put_line(t, run_finding_text(r, &r->of.at[n], mem), indent);
}

static json_t *us(double ns)
{
    return json_real(ns / 1000);
}

static json_t *name_or_null(const struct judged_run *r, uint32_t rank)
{
    return rank == JUDGE_ALL ? json_null() : text_json(r->rank[rank].name);
}

json_t *causes_json(const struct step_difference *d)
{
    json_t *causes = json_object();
    for (int c = 0; c < CAUSES; c++)
        if (d->cause_ns[c] != 0)
            json_object_set_new(causes, step_cause_key((enum step_cause)c), us(d->cause_ns[c]));
    return causes;
}

json_t *slow_json(const struct explained_run *x, const struct slow *f, struct arena *mem)
{
    static const struct step_difference none = { 0 };
    const struct judged_run *r = x->run;
    const struct explained *of = causes_of(x, f);
    const char *text = run_finding_text(r, f, mem), *class_of = run_finding_class(r, f);
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:f, s:o, s:o}", "shape",
                     slow_shape_keys[f->shape], "text", text_json(text ? text : ""), "because",
                     text_or_null(causes_text(x, f)), "class", class_of ? json_string(class_of) : json_null(), "rank",
                     name_or_null(r, f->rank), "compared_with", name_or_null(r, f->peer), "part",
                     f->part < JUDGED_PARTS ? json_string(judged_part_keys[f->part]) : json_null(), "first",
                     text_json(r->step[f->first]), "last", text_json(r->step[f->last]), "steps", (json_int_t)f->n,
                     "period", f->shape == SLOW_PERIOD ? json_integer(f->period) : json_null(), "more_us",
                     us(f->excess_ns), "lost_us", us(f->lost_ns), "share", f->share, "noise_us", us(f->noise_ns),
                     "causes", causes_json(of ? &of->answer.difference : &none));
}

json_t *judge_json(const struct explained_run *x, struct arena *mem)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < x->run->of.n; i++)
        json_array_append_new(list, slow_json(x, &x->run->of.at[i], mem));
    return list;
}

void steps_by_put(const struct term *t, const char *by)
{
    char text[sizeof STEPS_BY + 128];
    if (!by)
        return;
    snprintf(text, sizeof text, STEPS_BY, by);
    term_text(t, text, 0);
    fputc('\n', t->to);
}
