/* SPDX-License-Identifier: Apache-2.0 */
#include "report/serving/engine_report.h"

#include <inttypes.h>

#include "base/text/json_memory.h"
#include "base/text/readable.h"

enum { LEAST_PERCENT = 1, NAME_OF_PHASE = 60 };

static void engine_put_class(const struct term *t, const struct engine_use *u, int class_of)
{
    const struct engine_class_use *x = &u->of[class_of];
    char number[READABLE_MOST];
    fprintf(t->to, "  %-8s %6s, %5.1f %% of the time, median ", iteration_class_keys[class_of],
            readable_count(number, x->n), 100 * x->share);
    fputs(readable_duration(number, (double)x->median_ns), t->to);
    if (x->requests > 0)
        fprintf(t->to, ", %" PRIu64 " request%s", x->requests, x->requests == 1 ? "" : "s");
    if (x->tokens_per_s > 0)
        fprintf(t->to, ", %.0f tokens/s", x->tokens_per_s);
    fprintf(t->to, u->is_host ? ", %.0f %% in operators\n" : ", the device computes for %.0f %%\n",
            100 * x->computing_share);
}

static void engine_put_phases(const struct term *t, const char *heading, const struct engine_phases *p, double whole_ns)
{
    const char *before = heading;
    for (size_t i = 0; i < p->n && whole_ns > 0; i++) {
        const double percent = 100 * p->at[i].ns / whole_ns;
        if (percent < LEAST_PERCENT)
            continue;
        fputs(before, t->to);
        term_text(t, p->at[i].name, NAME_OF_PHASE);
        fprintf(t->to, " %.0f %%", percent);
        before = ", ";
    }
    fputs(before == heading ? "" : "\n", t->to);
}

static void engine_put_interval(const struct term *t, const struct engine_use *u)
{
    char p50[READABLE_MOST], p90[READABLE_MOST], p99[READABLE_MOST], most[READABLE_MOST];
    if (u->interval.n == 0)
        return;
    fprintf(t->to, "  interval between decodes: p50 %s, p90 %s, p99 %s, longest %s\n",
            readable_duration(p50, u->interval.p50), readable_duration(p90, u->interval.p90),
            readable_duration(p99, u->interval.p99), readable_duration(most, u->interval.most));
    if (u->n_behind > 0)
        fprintf(t->to, "  %zu of %zu intervals have a prompt in them: %s longer in all, the longest one is %s\n",
                u->n_behind, u->interval.n, readable_duration(p50, u->behind_ns),
                readable_duration(most, u->longest_behind_ns));
}

void engine_put(const struct term *t, const struct engine_use *u)
{
    char number[READABLE_MOST];
    double decode_ns = 0;
    if (u->n == 0)
        return;
    for (int c = 0; c < ITERATION_CLASSES; c++)
        if (u->of[c].n > 0)
            engine_put_class(t, u, c);
    if (u->n > 1)
        fprintf(t->to, "  between        , %5.1f %% of the time, median %s\n",
                u->span_ns > 0 ? 100 * u->between_ns / u->span_ns : 0,
                readable_duration(number, (double)u->median_between_ns));
    engine_put_phases(t, "    of that: ", &u->between, u->between_ns);
    engine_put_interval(t, u);
    decode_ns = u->of[ITERATION_DECODE].time_ns + u->of[ITERATION_MIXED].time_ns;
    engine_put_phases(
        t,
        u->is_host ? "  decodes are outside of operators in: " : "  the device is idle in decodes during: ", &u->idle,
        decode_ns);
}

/* ---- for machines ------------------------------------------------------------------------------------------------ */

static json_t *us(double ns)
{
    return json_real(ns / 1000);
}

static json_t *count_or_null(uint64_t n)
{
    return n > 0 ? json_integer((json_int_t)n) : json_null();
}

static json_t *phases_json(const struct engine_phases *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->n; i++)
        json_array_append_new(list,
                              json_pack("{s:o, s:o}", "name", text_json(p->at[i].name), "time_us", us(p->at[i].ns)));
    return list;
}

static json_t *class_json(const struct engine_class_use *x, const char *key)
{
    return json_pack("{s:s, s:I, s:o, s:o, s:f, s:f, s:o, s:o, s:o}", "class", key, "iterations", (json_int_t)x->n,
                     "median_us", us((double)x->median_ns), "time_us", us(x->time_ns), "share", x->share,
                     "computing_share", x->computing_share, "requests", count_or_null(x->requests), "tokens",
                     count_or_null(x->tokens), "tokens_per_s",
                     x->tokens_per_s > 0 ? json_real(x->tokens_per_s) : json_null());
}

json_t *quantiles_json(const struct quantiles *q)
{
    return q->n == 0 ? json_null()
                     : json_pack("{s:I, s:o, s:o, s:o, s:o}", "n", (json_int_t)q->n, "p50_us", us(q->p50), "p90_us",
                                 us(q->p90), "p99_us", us(q->p99), "most_us", us(q->most));
}

json_t *engine_json(const struct engine_use *u)
{
    if (u->n == 0)
        return json_null();
    json_t *classes = json_array();
    for (int c = 0; c < ITERATION_CLASSES; c++)
        if (u->of[c].n > 0)
            json_array_append_new(classes, class_json(&u->of[c], iteration_class_keys[c]));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o}", "classes", classes, "time_us",
                     us(u->span_ns), "between_us", us(u->between_ns), "median_between_us",
                     us((double)u->median_between_ns), "between", phases_json(&u->between), "interval",
                     quantiles_json(&u->interval), "behind_prompts", (json_int_t)u->n_behind, "behind_prompts_us",
                     us(u->behind_ns), "longest_behind_us", us(u->longest_behind_ns), "idle_in_decodes",
                     phases_json(&u->idle));
}
