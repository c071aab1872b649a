/* SPDX-License-Identifier: Apache-2.0 */
#include "report/serving/request_report.h"

#include "base/text/json_memory.h"
#include "base/text/readable.h"
#include "report/serving/engine_report.h"

enum { ID_COLUMNS = 40, WHAT_COLUMNS = 80, LEAST_SHARE = 200 /* smaller parts are added up */ };

static void request_put_times(const struct term *t, const char *name, const struct quantiles *q)
{
    char p50[READABLE_MOST], p90[READABLE_MOST], p99[READABLE_MOST], most[READABLE_MOST];
    if (q->n > 0)
        fprintf(t->to, "  %-24s p50 %s, p90 %s, p99 %s, longest %s\n", name, readable_duration(p50, q->p50),
                readable_duration(p90, q->p90), readable_duration(p99, q->p99), readable_duration(most, q->most));
}

void requests_put(const struct term *t, const struct requests *v)
{
    char number[READABLE_MOST];
    size_t n_tokens = 0;
    if (v->n == 0)
        return;
    for (size_t i = 0; i < v->n; i++)
        n_tokens += v->at[i].n_tokens;
    fprintf(t->to, "%s request%s", readable_count(number, v->n), v->n == 1 ? "" : "s");
    if (n_tokens > 0)
        fprintf(t->to, ", %s tokens of them\n", readable_count(number, n_tokens));
    else
        fputs("; their tokens were not marked\n", t->to);
    request_put_times(t, "to first token (TTFT)", &v->ttft);
    request_put_times(t, "per token (TPOT)", &v->tpot);
    request_put_times(t, "between tokens (ITL)", &v->itl);
    request_put_times(t, "arrival to end", &v->total);
    fputs("  the slowest: ", t->to);
    term_text(t, request_choose(v, "slowest")->id, ID_COLUMNS);
    fputs("; --request ID explains one, --request slowest this one\n", t->to);
}

static void put_beside_median(const struct term *t, const char *name, double ns, const struct quantiles *q)
{
    char own[READABLE_MOST], median[READABLE_MOST];
    if (ns >= 0)
        fprintf(t->to, ", %s %s (median %s)", name, readable_duration(own, ns), readable_duration(median, q->p50));
}

static const char *stage_words(enum request_stage stage)
{
    static const char *const words[REQUEST_STAGES] = {
        [STAGE_QUEUE] = "in the queue",
        [STAGE_PROMPT] = "prompt, until the first token",
        [STAGE_TOKENS] = "tokens, until the end",
        [STAGE_OPEN] = "while it was open",
    };
    return words[stage];
}

static void put_part(const struct term *t, const struct request_part *p, double whole_ns)
{
    char time[READABLE_MOST], longest[READABLE_MOST];
    fprintf(t->to, "    %6.1f %% %11s  ", 100 * p->ns / whole_ns, readable_duration(time, p->ns));
    term_text(t, p->what, WHAT_COLUMNS);
    if (p->longest_ns < p->ns || p->step) {
        fprintf(t->to, ", longest %s", readable_duration(longest, p->longest_ns));
        if (p->step) {
            fputs(" in step ", t->to);
            term_text(t, p->step, ID_COLUMNS);
        }
    }
    fputc('\n', t->to);
}

static void put_stage(const struct term *t, const struct request_causes *c, enum request_stage stage)
{
    char time[READABLE_MOST];
    double others_ns = 0;
    size_t n_others = 0;
    if (c->stage_ns[stage] <= 0)
        return;
    fprintf(t->to, "  %6.1f %% %11s  %s\n", 100 * c->stage_ns[stage] / c->ns,
            readable_duration(time, c->stage_ns[stage]), stage_words(stage));
    for (size_t i = 0; i < c->n; i++) {
        const struct request_part *p = &c->at[i];
        if (p->stage == stage && p->ns * LEAST_SHARE >= c->ns)
            put_part(t, p, c->ns);
        else if (p->stage == stage)
            others_ns += p->ns, n_others++;
    }
    if (n_others > 0)
        fprintf(t->to, "    %6.1f %% %11s  %zu smaller\n", 100 * others_ns / c->ns, readable_duration(time, others_ns),
                n_others);
}

void request_put(const struct term *t, const struct requests *v, const struct request *r,
                 const struct request_causes *c, const char *path)
{
    char time[READABLE_MOST], number[READABLE_MOST];
    fprintf(t->to, "\n%srequest ", term_ink(t, INK_BOLD));
    term_text(t, r->id, ID_COLUMNS);
    fprintf(t->to, ": %s, %s token%s", readable_duration(time, c->ns), readable_count(number, r->n_tokens),
            r->n_tokens == 1 ? "" : "s");
    put_beside_median(t, "TTFT", request_ttft_ns(r), &v->ttft);
    put_beside_median(t, "TPOT", request_tpot_ns(r), &v->tpot);
    if (c->longest_wait_ns > 0)
        fprintf(t->to, ", longest interval %s", readable_duration(time, c->longest_wait_ns));
    fprintf(t->to, "%s\n  ", term_ink(t, INK_END));
    term_text(t, path, 0);
    fputc('\n', t->to);
    if (!r->has_begin)
        fputs("  it began before the recording\n", t->to);
    for (int stage = 0; stage < REQUEST_STAGES; stage++)
        put_stage(t, c, (enum request_stage)stage);
    fprintf(t->to, "  %6.1f %% %11s  in all\n", 100.0, readable_duration(time, c->ns));
}

/* ---- for machines ------------------------------------------------------------------------------------------------ */

static json_t *us_or_null(double ns)
{
    return ns >= 0 ? json_real(ns / 1000) : json_null();
}

json_t *requests_json(const struct requests *v)
{
    if (v->n == 0)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < v->n; i++) {
        const struct request *r = &v->at[i];
        json_array_append_new(list, json_pack("{s:o, s:I, s:o, s:o, s:o}", "id", text_json(r->id), "tokens",
                                              (json_int_t)r->n_tokens, "ttft_us", us_or_null(request_ttft_ns(r)),
                                              "tpot_us", us_or_null(request_tpot_ns(r)), "time_us",
                                              us_or_null((double)span_ns(r->begin_ns, r->end_ns))));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "ttft", quantiles_json(&v->ttft), "tpot",
                     quantiles_json(&v->tpot), "itl", quantiles_json(&v->itl), "total", quantiles_json(&v->total),
                     "slowest", text_json(request_choose(v, "slowest")->id), "requests", list);
}

json_t *request_json(const struct request *r, const struct request_causes *c)
{
    json_t *stages = json_array();
    for (int stage = 0; stage < REQUEST_STAGES; stage++) {
        json_t *parts = json_array();
        for (size_t i = 0; i < c->n; i++)
            if ((int)c->at[i].stage == stage)
                json_array_append_new(parts,
                                      json_pack("{s:o, s:o, s:f, s:o, s:o}", "what", text_json(c->at[i].what),
                                                "time_us", us_or_null(c->at[i].ns), "share",
                                                c->ns > 0 ? c->at[i].ns / c->ns : 0.0, "longest_us",
                                                us_or_null(c->at[i].longest_ns), "step", text_or_null(c->at[i].step)));
        if (c->stage_ns[stage] > 0)
            json_array_append_new(stages, json_pack("{s:s, s:o, s:o}", "stage", request_stage_keys[stage], "time_us",
                                                    us_or_null(c->stage_ns[stage]), "parts", parts));
        else
            json_decref(parts);
    }
    return json_pack("{s:o, s:I, s:o, s:o, s:o, s:o, s:b, s:o}", "id", text_json(r->id), "tokens",
                     (json_int_t)r->n_tokens, "time_us", us_or_null(c->ns), "ttft_us", us_or_null(request_ttft_ns(r)),
                     "tpot_us", us_or_null(request_tpot_ns(r)), "longest_interval_us", us_or_null(c->longest_wait_ns),
                     "complete", r->has_begin && r->has_end, "stages", stages);
}
