/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/serving/engine_use.h"

#include <stdlib.h>
#include <string.h>

#include "answers/run/rank_spans.h"
#include "answers/serving/phases.h"
#include "base/memory/ascending.h"
#include "base/process/robust.h"
#include "base/text/stamp.h"

enum { MOST_PHASES = 8 };

/* At least a share of n numbers is at or before this position. */
static size_t quantile_position(size_t n, unsigned percent)
{
    const size_t at = (n * percent + 99) / 100;
    return at > 0 ? at - 1 : 0;
}

struct quantiles quantiles_of(double *v, size_t n)
{
    if (n == 0)
        return (struct quantiles){ 0 };
    qsort(v, n, sizeof *v, compare_doubles);
    return (struct quantiles){ n, v[quantile_position(n, 50)], v[quantile_position(n, 90)], v[quantile_position(n, 99)],
                               v[n - 1] };
}

/* ---- classes ----------------------------------------------------------------------------------------------------- */

static void class_use_find(struct engine_class_use *u, enum iteration_class class_of, const struct step_series *s,
                           double *scratch)
{
    double known_ns = 0, computing_ns = 0;
    size_t n_known = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->iteration[i].class_of == class_of) {
            const double ns = (double)step_judged_ns(s, i);
            scratch[u->n++] = ns;
            u->time_ns += ns;
            u->tokens += s->iteration[i].tokens;
            known_ns += s->iteration[i].tokens > 0 ? ns : 0;
            computing_ns += (double)(s->part_ns[STEP_COMPUTING][i] + s->part_ns[STEP_OVERLAPPED][i]);
        }
    u->median_ns = (int64_t)middle_of(scratch, u->n).median;
    for (size_t i = 0; i < s->n; i++)
        if (s->iteration[i].class_of == class_of && s->iteration[i].requests > 0)
            scratch[n_known++] = (double)s->iteration[i].requests;
    u->requests = n_known > 0 ? (uint64_t)lower_median(scratch, n_known) : 0;
    u->tokens_per_s = known_ns > 0 ? (double)u->tokens * 1e9 / known_ns : 0;
    u->computing_share = u->time_ns > 0 ? computing_ns / u->time_ns : 0;
}

static bool iteration_decodes(const struct iteration *x)
{
    return x->class_of == ITERATION_DECODE || x->class_of == ITERATION_MIXED;
}

/* ---- intervals between decodes ----------------------------------------------------------------------------------- */

/* Whether a request of the decode before may go on in this one: more requests decode than were prefilled in between.
 * Where requests are unknown, the engine must not have waited for any. */
static bool decode_continues(const struct step_series *s, const bool *waits, size_t before, size_t i)
{
    uint64_t fresh = 0;
    bool has_waited = false;
    for (size_t k = before + 1; k <= i; k++) {
        fresh += s->iteration[k].class_of == ITERATION_PREFILL ? s->iteration[k].requests : 0;
        has_waited = has_waited || waits[k] || s->requests_ns[k] > 0;
    }
    return s->iteration[i].requests > 0 ? s->iteration[i].requests > fresh : !has_waited;
}

/* `waits`: by step, the engine waited for requests before it. */
static void intervals_find(struct engine_use *out, const struct step_series *s, const bool *waits, double *interval,
                           double *plain, bool *is_behind)
{
    size_t n = 0, n_plain = 0, before = s->n;
    for (size_t i = 0; i < s->n; i++) {
        if (!iteration_decodes(&s->iteration[i]))
            continue;
        if (before < s->n && decode_continues(s, waits, before, i)) {
            is_behind[n] = i > before + 1 || s->iteration[i].class_of == ITERATION_MIXED;
            interval[n] = (double)span_ns(s->end_ns[before], s->end_ns[i]);
            if (!is_behind[n])
                plain[n_plain++] = interval[n];
            n++;
        }
        before = i;
    }
    const double usual_ns = middle_of(plain, n_plain).median;
    for (size_t i = 0; i < n; i++)
        if (is_behind[i]) {
            out->n_behind++;
            out->behind_ns += interval[i] > usual_ns && n_plain > 0 ? interval[i] - usual_ns : 0;
            out->longest_behind_ns = interval[i] > out->longest_behind_ns ? interval[i] : out->longest_behind_ns;
        }
    out->interval = quantiles_of(interval, n);
}

/* ---- phases ------------------------------------------------------------------------------------------------------ */

static int phases_by_time(const void *a, const void *b)
{
    const struct engine_phase *x = a, *y = b;
    return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : strcmp(x->name, y->name);
}

/* Adds up what intervals were spent on, but for one kind of it. */
static bool phases_sum(struct engine_phases *out, const struct step_profile *of, size_t n, enum spent_kind without,
                       struct arena *mem)
{
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most += of[i].n;
    *out = (struct engine_phases){ .at = arena_take(mem, most, sizeof *out->at) };
    for (size_t i = 0; out->at && i < n; i++)
        for (size_t k = 0; k < of[i].n; k++) {
            const struct spent *x = &of[i].at[k];
            const char *name = x->ns > 0 && x->kind != without ? phase_words(x, mem) : NULL;
            size_t at = 0;
            if (!name)
                continue;
            while (at < out->n && strcmp(out->at[at].name, name) != 0)
                at++;
            if (at == out->n)
                out->at[out->n++].name = arena_text(mem, name, strlen(name));
            out->at[at].ns += x->ns;
            out->ns += x->ns;
        }
    if (!out->at || arena_failed(mem))
        return false;
    qsort(out->at, out->n, sizeof *out->at, phases_by_time);
    out->n = out->n < MOST_PHASES ? out->n : MOST_PHASES;
    return true;
}

static bool profile_has(const struct step_profile *f, enum spent_kind kind)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->at[i].kind == kind && f->at[i].ns > 0)
            return true;
    return false;
}

/* Divides decodes, and the time between iterations. */
static bool engine_phases_find(struct engine_use *out, bool *waits, const struct step_series *s,
                               const struct run_rank *q, struct arena *mem, struct arena *spare)
{
    struct rank_spans v;
    struct step_profile *of;
    int64_t *begin_ns = arena_take(spare, s->n, sizeof *begin_ns), *end_ns = arena_take(spare, s->n, sizeof *end_ns);
    size_t n = 0;
    if (!begin_ns || !end_ns || !rank_spans_find(&v, q, s, spare))
        return false;
    for (size_t i = 1; i < s->n; i++)
        if (s->begin_ns[i] > s->end_ns[i - 1]) {
            begin_ns[n] = s->end_ns[i - 1];
            end_ns[n++] = s->begin_ns[i];
        }
    if (!phases_find(&of, &v, begin_ns, end_ns, n, false, spare) || !phases_sum(&out->between, of, n, SPENT_KINDS, mem))
        return false;
    n = 0;
    for (size_t i = 1; i < s->n; i++)
        waits[i] = s->begin_ns[i] > s->end_ns[i - 1] && profile_has(&of[n++], SPENT_REQUESTS);
    n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (iteration_decodes(&s->iteration[i]) && s->end_ns[i] > s->begin_ns[i]) {
            begin_ns[n] = s->begin_ns[i];
            end_ns[n++] = s->end_ns[i];
        }
    return phases_find(&of, &v, begin_ns, end_ns, n, true, spare) &&
           phases_sum(&out->idle, of, n, s->is_host ? SPENT_HOST : SPENT_OPERATOR, mem);
}

/* ------------------------------------------------------------------------------------------------------------------ */

bool engine_use_find(struct engine_use *out, const struct step_series *s, const struct run_rank *q, struct arena *mem)
{
    *out = (struct engine_use){ 0 };
    if (!s->iteration || s->n == 0)
        return true;
    struct arena *spare = arena_new();
    double *scratch = spare ? arena_take(spare, s->n, sizeof *scratch) : NULL,
           *interval = scratch ? arena_take(spare, s->n, sizeof *interval) : NULL;
    bool *is_behind = interval ? arena_take(spare, s->n, sizeof *is_behind) : NULL,
         *waits = is_behind ? arena_take(spare, s->n, sizeof *waits) : NULL;
    bool done = waits != NULL;
    if (done) {
        for (size_t i = 1; i < s->n; i++) {
            scratch[i - 1] = s->begin_ns[i] > s->end_ns[i - 1] ? (double)span_ns(s->end_ns[i - 1], s->begin_ns[i]) : 0;
            out->between_ns += scratch[i - 1];
        }
        out->n = s->n;
        out->is_host = s->is_host;
        out->span_ns = (double)span_ns(s->begin_ns[0], s->end_ns[s->n - 1]);
        out->median_between_ns = s->n > 1 ? (int64_t)middle_of(scratch, s->n - 1).median : 0;
        for (int c = 0; c < ITERATION_CLASSES; c++) {
            class_use_find(&out->of[c], (enum iteration_class)c, s, scratch);
            out->of[c].share = out->span_ns > 0 ? out->of[c].time_ns / out->span_ns : 0;
        }
        done = engine_phases_find(out, waits, s, q, mem, spare);
        intervals_find(out, s, waits, interval, scratch, is_behind);
    }
    arena_free(spare);
    return done;
}
