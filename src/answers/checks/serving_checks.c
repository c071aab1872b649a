/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/checks/advise_checks.h"

#include <string.h>

#include "answers/checks/findings.h"
#include "answers/serving/phases.h"
#include "answers/serving/requests.h"
#include "base/process/robust.h"
#include "base/text/readable.h"

/* Iterations of an engine: without them no check of this file applies. */
static bool has_engine(const struct checked_rank *s)
{
    return s->series.iteration && s->series.n > 1;
}

static enum iteration_class class_at(const struct checked_rank *s, size_t i)
{
    return s->series.iteration[i].class_of;
}

static bool decodes_at(const struct checked_rank *s, size_t i)
{
    return class_at(s, i) == ITERATION_DECODE || class_at(s, i) == ITERATION_MIXED;
}

/* ---- what the engine does between iterations, and in decodes ----------------------------------------------------- */

/* The phases of all iterations, or of the time before each of them. Rows are those of the series. NULL: no memory. */
static struct step_profile *phases_of_rows(const struct checked_rank *s, bool between, bool device_first)
{
    const struct step_series *t = &s->series;
    struct step_profile *of, *row = arena_take(s->spare, t->n, sizeof *row);
    int64_t *begin_ns = arena_take(s->spare, t->n, sizeof *begin_ns),
            *end_ns = arena_take(s->spare, t->n, sizeof *end_ns);
    size_t n = 0;
    for (size_t i = between; begin_ns && end_ns && i < t->n; i++) {
        begin_ns[n] = between ? t->end_ns[i - 1] : t->begin_ns[i];
        end_ns[n] = between ? t->begin_ns[i] : t->end_ns[i];
        n += begin_ns[n] < end_ns[n];
    }
    if (!row || !begin_ns || !end_ns || !phases_find(&of, &s->spans, begin_ns, end_ns, n, device_first, s->spare))
        return NULL;
    n = 0;
    for (size_t i = between; i < t->n; i++)
        if ((between ? t->end_ns[i - 1] : t->begin_ns[i]) < (between ? t->begin_ns[i] : t->end_ns[i]))
            row[i] = of[n++];
    return row;
}

static bool is_of_phases(const struct spent *x, const char *const *phase)
{
    for (; x->kind == SPENT_RANGE && *phase; phase++)
        if (strcmp(x->name, *phase) == 0)
            return true;
    return false;
}

static const char *const scheduling[] = { "scheduling", "preparing inputs", NULL };
static const char *const results[] = { "detokenising", "handling results", NULL };
static const char *const sampling[] = { "sampling", "drafting", NULL };
static const char *const named[] = {
    "scheduling", "preparing inputs", "detokenising", "handling results", "sampling", "drafting", NULL
};

/* Time between iterations in some phases, or in what has no phase; NULL: that. Waiting for requests is no loss, nor is
 * what the device computes. */
static enum check_state check_between(const struct checked_rank *s, struct finding *out, const char *const *phase,
                                      const char *says)
{
    if (!has_engine(s))
        return CHECK_ELSEWHERE;
    const struct step_profile *of = phases_of_rows(s, true, false);
    const double least_share = 0.1, far = 3; /* of the time of the engine; once, of a step */
    struct spent most = { 0 };
    double sum_ns = 0;
    for (size_t i = 0; of && i < s->series.n; i++)
        for (size_t k = 0; advise_counts(s, (uint32_t)i) && k < of[i].n; k++) {
            const struct spent *x = &of[i].at[k];
            const bool is_other = x->kind != SPENT_REQUESTS && x->kind != SPENT_OPERATOR && !is_of_phases(x, named);
            if (!(phase ? is_of_phases(x, phase) : is_other))
                continue;
            finding_lose(s, out, (uint32_t)i, x->ns);
            most = x->ns > most.ns ? *x : most;
            sum_ns += x->ns;
        }
    if (!out->step_ns || (sum_ns < least_share * s->step_ns * (double)s->n_steps && most.ns < far * s->step_ns))
        return CHECK_FINE;
    char longest[READABLE_MOST];
    const char *what = phase_words(&most, s->spare);
    finding_say(s, out, "between two iterations up to %s go to %.40s", readable_duration(longest, most.ns), says);
    finding_add(s, out, most.ns, &most.place, "%.200s takes %s, the longest of them", what ? what : "", longest);
    return CHECK_FOUND;
}

enum check_state check_scheduling(const struct checked_rank *s, struct finding *out)
{
    return check_between(s, out, scheduling, "scheduling");
}

enum check_state check_post_processing(const struct checked_rank *s, struct finding *out)
{
    return check_between(s, out, results, "handling results");
}

enum check_state check_between_iterations(const struct checked_rank *s, struct finding *out)
{
    return check_between(s, out, NULL, "other work of the host");
}

enum check_state check_sampling(const struct checked_rank *s, struct finding *out)
{
    const double least_share = 0.15, normal_share = 0.05; /* of a decode */
    if (!has_engine(s))
        return CHECK_ELSEWHERE;
    const struct step_profile *of = phases_of_rows(s, false, false), *after = phases_of_rows(s, true, false);
    struct spent most = { 0 };
    for (size_t i = 0; of && after && i < s->series.n; i++) {
        double ns = 0;
        for (int is_after = 0; decodes_at(s, i) && is_after < 2; is_after++) {
            const struct step_profile *f = !is_after ? &of[i] : i + 1 < s->series.n ? &after[i + 1] : NULL;
            for (size_t k = 0; f && k < f->n; k++) {
                const bool is_sampling = is_of_phases(&f->at[k], sampling);
                ns += is_sampling ? f->at[k].ns : 0;
                most = is_sampling && f->at[k].ns > most.ns ? f->at[k] : most;
            }
        }
        if (ns >= least_share * (double)s->series.time_ns[i])
            finding_lose(s, out, (uint32_t)i, ns - normal_share * (double)s->series.time_ns[i]);
    }
    if (!out->step_ns)
        return CHECK_FINE;
    char longest[READABLE_MOST];
    finding_say(s, out, "sampling takes at least 15 %% of some decodes, up to %s", readable_duration(longest, most.ns));
    finding_add(s, out, most.ns, &most.place, "%.200s takes %s, the longest of them", most.name ? most.name : "",
                longest);
    return CHECK_FOUND;
}

/* ---- prompts ------------------------------------------------------------------------------------------------------ */

/* The median number of tokens of prompts. */
static double usual_prompt(const struct checked_rank *s, double *scratch)
{
    size_t n = 0;
    for (size_t i = 0; i < s->series.n; i++)
        if (class_at(s, i) == ITERATION_PREFILL && s->series.iteration[i].tokens > 0)
            scratch[n++] = (double)s->series.iteration[i].tokens;
    return lower_median(scratch, n);
}

enum check_state check_long_prompt(const struct checked_rank *s, struct finding *out)
{
    const double far_interval = 5, far_prompt = 8; /* times the medians */
    const struct step_series *t = &s->series;
    if (!has_engine(s))
        return CHECK_ELSEWHERE;
    double *scratch = arena_take(s->spare, t->n, sizeof *scratch);
    if (!scratch)
        return CHECK_FINE;
    size_t n = 0, n_found = 0, before = t->n;
    uint64_t most_tokens = 0;
    double longest_ns = 0;
    const double usual_tokens = usual_prompt(s, scratch);
    for (size_t i = 1; i < t->n; i++)
        if (class_at(s, i) == ITERATION_DECODE && class_at(s, i - 1) == ITERATION_DECODE)
            scratch[n++] = (double)span_ns(t->end_ns[i - 1], t->end_ns[i]);
    const double usual_ns = lower_median(scratch, n);
    for (size_t i = 0; n > 0 && i < t->n; i++) {
        uint64_t tokens = 0;
        if (!decodes_at(s, i))
            continue;
        for (size_t k = before; k < i; k++)
            tokens = class_at(s, k) == ITERATION_PREFILL && t->iteration[k].tokens > tokens ? t->iteration[k].tokens
                                                                                            : tokens;
        if (class_at(s, i) == ITERATION_MIXED)
            tokens = t->iteration[i].tokens > tokens ? t->iteration[i].tokens : tokens;
        const double ns = before < t->n ? (double)span_ns(t->end_ns[before], t->end_ns[i]) : 0;
        before = i;
        if (ns < far_interval * usual_ns || tokens == 0 || (double)tokens < far_prompt * usual_tokens)
            continue;
        finding_lose(s, out, (uint32_t)i, ns - usual_ns);
        n_found++;
        most_tokens = tokens > most_tokens ? tokens : most_tokens;
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    if (!out->step_ns)
        return CHECK_FINE;
    char longest[READABLE_MOST], usual[READABLE_MOST];
    finding_say(s, out, "%zu decode%s wait%s behind a prompt of up to %llu tokens: %s between two tokens, usually %s",
                n_found, n_found == 1 ? "" : "s", n_found == 1 ? "s" : "", (unsigned long long)most_tokens,
                readable_duration(longest, longest_ns), readable_duration(usual, usual_ns));
    return CHECK_FOUND;
}

/* The iteration that brings a token: in which it is marked, or else the last one that had ended. */
static size_t row_of_token(const struct step_series *t, int64_t ns)
{
    size_t n = 0;
    while (n < t->n && t->begin_ns[n] < ns)
        n++;
    return n > 0 ? n - 1 : t->n;
}

/* A prompt brings a token of a request that had some already: it is computed again. */
enum check_state check_preemption(const struct checked_rank *s, struct finding *out)
{
    const struct step_series *t = &s->series;
    struct requests requests;
    size_t n_found = 0, n_tokens = 0;
    if (!has_engine(s))
        return CHECK_ELSEWHERE;
    bool *is_again = arena_take(s->spare, t->n, sizeof *is_again);
    if (!is_again || !requests_find(&requests, &s->rank, s->spare))
        return CHECK_FINE;
    for (size_t r = 0; r < requests.n; r++)
        for (size_t k = 0; k < requests.at[r].n_tokens; k++) {
            const size_t row = row_of_token(t, requests.at[r].token_ns[k]);
            n_tokens++;
            if ((k > 0 || !requests.at[r].has_first) && row < t->n && class_at(s, row) == ITERATION_PREFILL &&
                advise_counts(s, (uint32_t)row) && !is_again[row]) {
                is_again[row] = true;
                finding_lose(s, out, (uint32_t)row, (double)t->time_ns[row]);
                n_found++;
            }
        }
    if (n_tokens == 0)
        return CHECK_UNRECORDED;
    if (n_found == 0)
        return CHECK_FINE;
    finding_say(s, out, "%zu prompt%s computed again for requests that had tokens already: they were preempted",
                n_found, n_found == 1 ? " is" : "s are");
    return CHECK_FOUND;
}

/* ---- launches of decodes ----------------------------------------------------------------------------------------- */

static bool call_launches_graph(const char *name)
{
    name = call_name(name);
    return strcasestr(name, "GraphLaunch") || strstr(name, "aclmdlRIExecute");
}

/* By row of the series: how often graphs and kernels are launched. False: no memory. */
static bool launches_count(const struct checked_rank *s, uint32_t *graphs, uint32_t *kernels)
{
    const struct step_series *t = &s->series;
    for (size_t i = 0; i < s->spans.n[SPAN_CALL]; i++) {
        const struct rank_span x = rank_span(&s->spans, SPAN_CALL, i);
        const uint32_t row = step_series_at(t->host_begin_ns, t->host_end_ns, t->n, x.begin_ns);
        if (row == NO_ROW)
            continue;
        const bool is_graph = call_launches_graph(x.name);
        graphs[row] += is_graph;
        kernels[row] += !is_graph && call_is_launch(x.name);
    }
    return graphs && kernels;
}

enum check_state check_decode_launches(const struct checked_rank *s, struct finding *out)
{
    const double least_share = 0.3; /* of decodes */
    const struct step_series *t = &s->series;
    if (!has_engine(s))
        return CHECK_ELSEWHERE;
    if (s->spans.n[SPAN_CALL] == 0)
        return CHECK_UNRECORDED;
    uint32_t *graphs = arena_take(s->spare, t->n, sizeof *graphs),
             *kernels = arena_take(s->spare, t->n, sizeof *kernels);
    const struct step_profile *of = graphs && kernels ? phases_of_rows(s, false, true) : NULL;
    double decode_ns = 0, lost_ns = 0;
    size_t n = 0;
    if (!of || !launches_count(s, graphs, kernels))
        return CHECK_FINE;
    for (size_t i = 0; i < t->n; i++) {
        if (class_at(s, i) != ITERATION_DECODE || graphs[i] > 0 || !advise_counts(s, (uint32_t)i))
            continue;
        for (size_t k = 0; k < of[i].n; k++)
            if (of[i].at[k].kind == SPENT_HOST) {
                finding_lose(s, out, (uint32_t)i, of[i].at[k].ns);
                lost_ns += of[i].at[k].ns;
            }
        decode_ns += (double)t->time_ns[i];
        n++;
    }
    if (!out->step_ns || lost_ns < least_share * decode_ns)
        return CHECK_FINE;
    finding_say(
        s, out,
        "the device waits for the host's operators and calls in %.0f %% of the time of %zu decodes, which launch no graph",
        100 * lost_ns / decode_ns, n);
    return CHECK_FOUND;
}

/* Without a device: decodes spend their time outside of operators, and not in sampling. With one, other checks name what
 * it waits for. */
enum check_state check_decode_host(const struct checked_rank *s, struct finding *out)
{
    const double least_share = 0.5; /* of decodes: less is normal between small operators */
    if (!has_engine(s) || s->has_device)
        return CHECK_ELSEWHERE;
    const struct step_profile *of = phases_of_rows(s, false, false);
    double decode_ns = 0, lost_ns = 0;
    struct spent most = { 0 };
    for (size_t i = 0; of && i < s->series.n; i++)
        for (size_t k = 0; class_at(s, i) == ITERATION_DECODE && advise_counts(s, (uint32_t)i) && k < of[i].n; k++) {
            const struct spent *x = &of[i].at[k];
            decode_ns += x->ns;
            if (x->kind == SPENT_HOST || x->kind == SPENT_REQUESTS || is_of_phases(x, sampling))
                continue;
            finding_lose(s, out, (uint32_t)i, x->ns);
            lost_ns += x->ns;
            most = x->ns > most.ns ? *x : most;
        }
    if (!out->step_ns || lost_ns < least_share * decode_ns)
        return CHECK_FINE;
    char longest[READABLE_MOST];
    const char *what = phase_words(&most, s->spare);
    finding_say(s, out, "the host is outside of operators in %.0f %% of the time of decodes",
                100 * lost_ns / decode_ns);
    finding_add(s, out, most.ns, &most.place, "%.200s takes %s, the longest of them", what ? what : "",
                readable_duration(longest, most.ns));
    return CHECK_FOUND;
}

/* Decodes beyond some size launch kernels one by one, smaller ones a graph. */
enum check_state check_graph_fallback(const struct checked_rank *s, struct finding *out)
{
    const struct step_series *t = &s->series;
    if (!has_engine(s))
        return CHECK_ELSEWHERE;
    if (s->spans.n[SPAN_CALL] == 0)
        return CHECK_UNRECORDED;
    uint32_t *graphs = arena_take(s->spare, t->n, sizeof *graphs),
             *kernels = arena_take(s->spare, t->n, sizeof *kernels);
    double *time_ns = arena_take(s->spare, t->n, sizeof *time_ns), most = 0;
    size_t n_graphs = 0, n_found = 0;
    if (!graphs || !kernels || !time_ns || !launches_count(s, graphs, kernels))
        return CHECK_FINE;
    for (size_t i = 0; i < t->n; i++)
        if (class_at(s, i) == ITERATION_DECODE && graphs[i] > 0) {
            most = iteration_size(&t->iteration[i]) > most ? iteration_size(&t->iteration[i]) : most;
            time_ns[n_graphs++] = (double)t->time_ns[i];
        }
    const double usual_ns = lower_median(time_ns, n_graphs);
    for (size_t i = 0; n_graphs > 0 && most > 0 && i < t->n; i++)
        if (class_at(s, i) == ITERATION_DECODE && graphs[i] == 0 && kernels[i] > 1 &&
            iteration_size(&t->iteration[i]) > most && advise_counts(s, (uint32_t)i)) {
            finding_lose(s, out, (uint32_t)i, (double)t->time_ns[i] > usual_ns ? (double)t->time_ns[i] - usual_ns : 0);
            n_found++;
        }
    if (!out->step_ns)
        return CHECK_FINE;
    finding_say(
        s, out,
        "%zu decode%s of more than %.0f requests launch%s kernels one by one; up to that size a graph is launched",
        n_found, n_found == 1 ? "" : "s", most, n_found == 1 ? "es" : "");
    return CHECK_FOUND;
}
