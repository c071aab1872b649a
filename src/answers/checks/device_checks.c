/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/checks/advise_checks.h"

#include <string.h>

#include "answers/checks/findings.h"
#include "answers/run/sums_by_name.h"
#include "base/text/readable.h"

static const double LONG_NS = 20e3; /* in shorter kernels the launch dominates */

enum check_state check_frequency(const struct checked_rank *s, struct finding *out)
{
    const double nominal = s->rank.device ? s->rank.device->source.aic_mhz : 0, least_drop = 0.05;
    double low_ns = 0, all_ns = 0, mhz_ns = 0;
    if (!(nominal > 0) || s->rank.device->counters.raw[SAMPLER_FREQ].n == 0)
        return CHECK_UNRECORDED;
    for (size_t i = 0; i < s->mean.n; i++) {
        const struct spent *x = &s->mean.at[i];
        const double drop = x->mhz > 0 ? 1 - x->mhz / nominal : 0;
        if (x->kind != SPENT_OPERATOR)
            continue;
        all_ns += x->ns;
        if (drop < least_drop)
            continue;
        low_ns += x->ns;
        mhz_ns += x->ns * x->mhz;
        out->gain_ns += x->ns * drop;
        char time[READABLE_MOST];
        finding_add(s, out, x->ns * drop, &x->place, "%.200s: %s %s at %.0f MHz, %.1f %% below %.0f MHz", x->name,
                    readable_duration(time, x->ns), s->per, x->mhz, 100 * drop, nominal);
    }
    if (low_ns > 0)
        finding_say(
            s, out,
            "operators of %.1f %% of the computing time ran at %.0f MHz on average; the nominal clock is %.0f MHz",
            100 * low_ns / all_ns, mhz_ns / low_ns, nominal);
    return CHECK_FOUND;
}

/* Adds the gain of all operators, and the largest of them as evidence. */
static void add_operators(const struct checked_rank *s, struct finding *out, struct sums_by_name *sums,
                          const char *what)
{
    const double n_steps = (double)s->n_steps;
    sums_sort(sums, s->spans.names);
    for (size_t i = 0; i < sums->list.n; i++) {
        const struct name_sum *x = &sums->list.at[i];
        out->gain_ns += x->gain_ns / n_steps;
        char time[READABLE_MOST], runs[READABLE_MOST], longest[READABLE_MOST];
        if (i < EVIDENCE_MOST)
            finding_add(s, out, x->gain_ns / n_steps, &x->place, "%.200s: %s %s, %s runs, the longest %s%s",
                        names_text(s->spans.names, x->name), readable_duration(time, x->time_ns / n_steps), s->per,
                        readable_runs(runs, (double)x->n / n_steps), readable_duration(longest, x->longest_ns), what);
    }
}

enum check_state check_ai_cpu(const struct checked_rank *s, struct finding *out)
{
    const struct rank_spans *v = &s->spans;
    struct sums_by_name sums;
    bool is_known = false;
    double longest_ns = 0;
    uint64_t n = 0;
    if (!sums_begin(&sums, v->names, s->spare))
        return CHECK_UNRECORDED;
    for (size_t i = 0; i < v->n[SPAN_KERNEL]; i++) {
        const char *cores = s->alone_ns[i] > 0 ? rank_span_cores(v, i) : "";
        is_known = is_known || cores[0];
        if (!strstr(cores, "CPU"))
            continue;
        const struct spent_place place = rank_span_place(v, SPAN_KERNEL, i);
        sums_add(&sums, rank_span_type(v, i), s->alone_ns[i], s->alone_ns[i], &place);
        finding_lose(s, out, rank_span(v, SPAN_KERNEL, i).step, s->alone_ns[i]);
        longest_ns = (double)place.dur_ns > longest_ns ? (double)place.dur_ns : longest_ns;
        n++;
    }
    if (!is_known)
        return CHECK_UNRECORDED;
    if (longest_ns < LONG_NS)
        return CHECK_FINE;
    add_operators(s, out, &sums, "");
    char count[READABLE_MOST], longest[READABLE_MOST];
    const bool is_one = n == s->n_steps;
    finding_say(s, out, "%s operator%s %s run%s on the AI CPU, the longest %s",
                readable_runs(count, (double)n / (double)s->n_steps), is_one ? "" : "s", s->per, is_one ? "s" : "",
                readable_duration(longest, longest_ns));
    return CHECK_FOUND;
}

/* How many cores the device has of the kind that runs kernels of a type; 0: unknown. */
static uint32_t cores_of(const struct checked_rank *s, const char *task_type)
{
    const bool is_cube = strcmp(task_type, "AI_CORE") == 0 || strcmp(task_type, "MIX_AIC") == 0,
               is_vector = strcmp(task_type, "AI_VECTOR_CORE") == 0 || strcmp(task_type, "MIX_AIV") == 0;
    return is_cube ? s->rank.device->source.ai_core_num : is_vector ? s->rank.device->source.aiv_num : 0;
}

/* The blocks of a kernel run in waves, one block per core. In the last wave some cores may have no block. */
enum check_state check_block_dim(const struct checked_rank *s, struct finding *out)
{
    const struct rank_spans *v = &s->spans;
    struct sums_by_name sums;
    double used = 0, all = 0;
    if (!s->rank.device || !sums_begin(&sums, v->names, s->spare)) /* traces have no numbers of cores */
        return CHECK_UNRECORDED;
    for (size_t i = 0; i < v->n[SPAN_KERNEL]; i++) {
        if (!(s->alone_ns[i] > 0))
            continue;
        const uint32_t cores = cores_of(s, rank_span_cores(v, i)), blocks = rank_span_blocks(v, i);
        if (cores == 0 || blocks == 0)
            continue;
        const double busy = (double)blocks / (double)(((uint64_t)blocks + cores - 1) / cores * cores);
        all += s->alone_ns[i];
        used += s->alone_ns[i] * busy;
        const struct spent_place place = rank_span_place(v, SPAN_KERNEL, i);
        if (busy < 1 && (double)place.dur_ns >= LONG_NS)
            sums_add(&sums, rank_span_type(v, i), s->alone_ns[i] * (1 - busy), s->alone_ns[i], &place);
    }
    if (!(all > 0))
        return CHECK_UNRECORDED;
    add_operators(s, out, &sums, "; its blocks leave cores idle");
    finding_say(s, out,
                "judging by their block counts, kernels use %.0f %% of the cores (%u AI cores, %u vector cores)",
                100 * used / all, s->rank.device->source.ai_core_num, s->rank.device->source.aiv_num);
    return CHECK_FOUND;
}
