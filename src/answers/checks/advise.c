/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/checks/advise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/checks/advise_checks.h"
#include "answers/checks/findings.h"
#include "base/text/readable.h"
#include "raw/chip.h"

#define BOTH(text)                                text, text
#define EACH(npu, gpu)                            npu, gpu
#define NPU_ONLY(text)                            text, NULL
#define GPU_ONLY(text)                            NULL, text
#define ROW(key, title, flags, needs, change)     { #key, title, { needs }, { change }, flags, check_##key, NULL },
#define ROW_JOB(key, title, flags, needs, change) { #key, title, { needs }, { change }, flags, NULL, check_##key },
const struct check advise_checks[] = { ADVISE_CHECKS(ROW, ROW_JOB) };
const size_t n_advise_checks = sizeof advise_checks / sizeof *advise_checks;

static const double LEAST_SHARE = 0.03;       /* of a step: a smaller gain is not worth a change */
static const double LEAST_SMALL_SHARE = 0.01; /* unless the change is one word in the program, or it happens once */
static const double LEAST_ONCE_SHARE = 0.1;   /* of a step, of what happens once */
static const double LEAST_REST_SHARE = 0.1;   /* of a step, of what other findings do not explain */

const char *check_state_key(enum check_state state)
{
    static const char *const key[CHECK_STATES] = { "found", "fine", "not recorded", "not applicable" };
    return key[state];
}

/* The recorder looked for devices and found none, or was not to use one: no option of the profiler would have recorded
 * it. */
static bool is_without_device(const struct checked_rank *s)
{
    const struct collection *c = s->rank.collection;
    const char *device = !s->has_device && c ? c->collector.device : NULL;
    return device && strcmp(device, "none") == 0;
}

/* "once, in step 8", "in steps 11 and 19", "in steps 12 to 16". *last: row of the last one. NULL: no memory, or none. */
static const char *steps_text(const struct checked_rank *s, const bool *is_in, size_t *n, size_t *last)
{
    enum { MOST = 4 };
    const char *text = "";
    size_t first = s->series.n, left;
    *n = 0;
    for (size_t i = s->n_startup; i < s->series.n; i++)
        if (is_in[i]) {
            first = *n == 0 ? i : first;
            *last = i;
            ++*n;
        }
    left = *n;
    if (*n == 0)
        return NULL;
    const char *const from = names_text(s->rank.names, s->series.name[first]),
                      *to = names_text(s->rank.names, s->series.name[*last]);
    if (*n > 2 && *last - first + 1 == *n)
        return arena_printf(s->mem, "in steps %.60s to %.60s", from, to);
    if (*n > MOST)
        return arena_printf(s->mem, "in %zu steps from %.60s to %.60s", *n, from, to);
    for (size_t i = first; i <= *last && text; i++) {
        if (!is_in[i])
            continue;
        const char *before = left == *n ? "" : left > 1 ? ", " : " and ";
        text = arena_printf(s->mem, "%s%s%.60s", text, before, names_text(s->rank.names, s->series.name[i]));
        left--;
    }
    return text ? arena_printf(s->mem, *n == 1 ? "once, in step %s" : "in steps %s", text) : NULL;
}

/* Marks the steps that lose nearly all of it, if they are a few of many. False: they are not. */
static bool few_steps(const struct checked_rank *s, const double *step_ns, double sum, bool *is_in)
{
    enum { MOST = 4, OF_ALL = 4 };
    const double most_of = 0.8, alike = 0.1; /* of the sum; of the mean of the steps so far */
    double in = 0;
    for (size_t n = 0; n < MOST && (n + 1) * OF_ALL <= s->n_steps; n++) {
        size_t at = s->series.n;
        for (uint32_t i = 0; i < s->series.n; i++)
            at = advise_counts(s, i) && !is_in[i] && (at == s->series.n || step_ns[i] > step_ns[at]) ? i : at;
        if (at == s->series.n || (in >= most_of * sum && step_ns[at] * (double)n < alike * in))
            break;
        is_in[at] = true;
        in += step_ns[at];
    }
    return sum > 0 && in >= most_of * sum;
}

static void finding_locate(const struct checked_rank *s, struct finding *f, const bool *is_in)
{
    size_t n = 0, last = 0;
    f->where = steps_text(s, is_in, &n, &last);
    if (f->where && n == 1) {
        const char *name = names_text(s->rank.names, s->series.name[last]);
        f->once = arena_text(s->mem, name, strlen(name));
    }
}

static double sum_of_steps(const struct checked_rank *s, const double *step_ns)
{
    double sum = 0;
    for (size_t i = s->n_startup; step_ns && i < s->series.n; i++)
        sum += step_ns[i];
    return sum;
}

/* Makes the gain of what steps lose; and if nearly all of that is in a few of many steps, says which. */
static void finding_sum(const struct checked_rank *s, struct finding *f)
{
    bool *is_in = arena_take(s->spare, s->series.n, sizeof *is_in);
    const double sum = sum_of_steps(s, f->step_ns);
    f->gain_ns = sum / (double)s->n_steps;
    if (is_in && few_steps(s, f->step_ns, sum, is_in))
        finding_locate(s, f, is_in);
}

/* Whether a finding is worth a change: in each step, or once. */
static bool is_worth(const struct checked_rank *s, const struct check *c, const struct finding *f)
{
    const double least = c->flags & CHECK_SMALL || f->once ? LEAST_SMALL_SHARE : LEAST_SHARE;
    const bool is_worth_once = !f->once || f->gain_ns * (double)s->n_steps >= LEAST_ONCE_SHARE * s->step_ns;
    return c->flags & CHECK_NO_TIME || (s->step_ns > 0 && f->gain_ns >= least * s->step_ns && is_worth_once);
}

static void run_check(const struct checked_rank *s, const struct check *c, struct finding *out)
{
    *out = (struct finding){ .state = CHECK_ELSEWHERE };
    if (!c->run || !c->change[s->is_gpu] || (!(c->flags & CHECK_OF_HOST) && is_without_device(s)))
        return;
    out->state = !(c->flags & CHECK_OF_HOST) && !s->has_device ? CHECK_UNRECORDED : c->run(s, out);
    out->of_ns = s->step_ns;
    out->n_of = s->n_steps;
    if (out->state != CHECK_FOUND)
        return;
    if (out->step_ns)
        finding_sum(s, out);
    if (!is_worth(s, c, out))
        out->state = CHECK_FINE;
    if (out->gain_ns > s->step_ns) /* an estimate cannot exceed the step itself */
        out->gain_ns = s->step_ns;
}

/* What other findings name is not reported a second time: the rest counts, if it is still a tenth of a step. */
static void advise_explain(struct finding *general, double named_ns, double step_ns, struct arena *mem)
{
    if (!general || general->state != CHECK_FOUND || !(named_ns > 0))
        return;
    general->gain_ns -= named_ns;
    if (general->gain_ns < LEAST_REST_SHARE * step_ns)
        general->state = CHECK_FINE;
    char text[600], time[READABLE_MOST];
    snprintf(text, sizeof text, "%.500s; other findings name %s of it", general->found,
             readable_duration(time, named_ns));
    general->found = arena_text(mem, text, strlen(text));
}

/* The free time that small kernels are launched in is what other causes leave. */
static void explain_free_time(struct finding *finding, double step_ns, struct arena *mem)
{
    struct finding *free_time = NULL, *launches = NULL;
    double named_ns = 0;
    for (size_t i = 0; i < n_advise_checks; i++) {
        free_time = advise_checks[i].run == check_free_time ? &finding[i] : free_time;
        launches = advise_checks[i].run == check_launch_bound ? &finding[i] : launches;
        if (finding[i].state == CHECK_FOUND && &finding[i] != launches)
            named_ns += advise_checks[i].flags & CHECK_OF_FREE ? finding[i].gain_ns : finding[i].free_ns;
    }
    const bool has_launches = launches && launches->state == CHECK_FOUND;
    const double launch_ns = has_launches ? launches->gain_ns : 0;
    advise_explain(free_time, named_ns + launch_ns, step_ns, mem);
    const double unnamed_ns = free_time ? free_time->gain_ns + launch_ns : 0; /* what the others leave of it */
    if (has_launches && unnamed_ns < launch_ns)
        advise_explain(launches, launch_ns - unnamed_ns, step_ns, mem);
}

/* ---- what is lost in each step, and what once ------------------------------------------------------------------- */

/* The steps that are neither slow once nor shorter because of that. False: nothing is slow once, or too few are left. */
static bool usual_counts(const struct checked_rank *s, bool *counts)
{
    enum { FEWEST = 2 };
    size_t n = 0, n_once = 0;
    for (size_t i = s->n_startup; i < s->series.n; i++) {
        counts[i] = !s->series.is_once[i] && !s->series.is_catch_up[i];
        n += counts[i];
        n_once += s->series.is_once[i];
    }
    return n_once > 0 && n >= FEWEST;
}

/* What the steps that are slow once lose beyond the usual ones, in all; marks those that lose enough to be worth it. */
static double once_lost(const struct checked_rank *s, const struct finding *usual, const struct finding *all,
                        bool *is_in)
{
    const double usual_ns = usual->step_ns ? sum_of_steps(s, usual->step_ns) / (double)usual->n_of : 0;
    double sum = 0;
    for (size_t i = s->n_startup; all->found && all->step_ns && i < s->series.n; i++) {
        is_in[i] = s->series.is_once[i] && all->step_ns[i] - usual_ns >= LEAST_ONCE_SHARE * usual->of_ns;
        sum += is_in[i] ? all->step_ns[i] - usual_ns : 0;
    }
    return sum >= LEAST_SMALL_SHARE * all->of_ns * (double)all->n_of ? sum : 0;
}

/* A finding about the slow steps alone speaks of them, not of a mean: "163 ms in step 8". */
static bool once_say(struct checked_rank *s, const struct check *c, struct finding *f, const bool *is_in)
{
    struct finding few;
    if (!checked_rank_count(s, is_in, true))
        return false;
    s->per = f->once ? arena_printf(s->mem, "in step %.60s", f->once) : "in each of these steps";
    if (s->per)
        run_check(s, c, &few);
    if (!s->per || !few.found)
        return true;
    f->found = few.found;
    f->n = few.n;
    memcpy(f->evidence, few.evidence, sizeof few.evidence);
    return true;
}

/* Adds to the findings of usual steps what is lost in those that are slow once. `all`: the findings of all steps. False:
 * no memory. */
static bool once_add(struct checked_rank *s, struct finding *usual, const struct finding *all)
{
    double free_ns = 0; /* that has a name in these steps */
    bool *is_in = arena_take(s->spare, n_advise_checks * s->series.n, sizeof *is_in), done = is_in != NULL;
    double *lost = arena_take(s->spare, n_advise_checks, sizeof *lost);
    for (size_t i = 0; done && lost && i < n_advise_checks; i++) {
        lost[i] = once_lost(s, &usual[i], &all[i], is_in + i * s->series.n);
        free_ns += advise_checks[i].flags & CHECK_OF_FREE && advise_checks[i].run != check_free_time ? lost[i] : 0;
    }
    for (size_t i = 0; done && lost && i < n_advise_checks; i++) {
        const struct check *const c = &advise_checks[i];
        struct finding *const f = &usual[i];
        const bool *const in = is_in + i * s->series.n;
        size_t n, last;
        if (c->run == check_free_time)
            lost[i] = lost[i] - free_ns < LEAST_REST_SHARE * f->of_ns ? 0 : lost[i] - free_ns;
        if (lost[i] <= 0)
            continue;
        if (f->state == CHECK_FOUND) {
            f->more_ns = lost[i];
            f->more = steps_text(s, in, &n, &last);
            continue;
        }
        *f = all[i];
        f->state = CHECK_FOUND;
        f->is_verdict = true;
        f->gain_ns = lost[i] / (double)f->n_of;
        finding_locate(s, f, in);
        done = once_say(s, c, f, in);
    }
    return done && lost;
}

static void run_checks(const struct checked_rank *s, struct finding *finding, struct arena *mem)
{
    for (size_t i = 0; i < n_advise_checks; i++)
        run_check(s, &advise_checks[i], &finding[i]);
    explain_free_time(finding, s->step_ns, mem);
}

static void sum_parts(struct advise_rank *out, const struct checked_rank *s)
{
    for (size_t i = 0; i < s->mean.n; i++) {
        const struct spent *x = &s->mean.at[i];
        out->requests_ns += x->kind == SPENT_REQUESTS ? x->ns : 0;
        out->part_ns[x->kind] += x->ns;
    }
}

/* Of all steps that count: garbage collections and communication, which are compared step by step. */
static bool look_at_all(struct advise_rank *out, struct checked_rank *s, struct finding *all)
{
    const double *gc_ns = NULL;
    run_checks(s, all, s->mem);
    for (size_t i = 0; i < n_advise_checks; i++)
        gc_ns = advise_checks[i].run == check_gc ? all[i].step_ns : gc_ns;
    if (gc_ns && (out->gc_ns = arena_take(s->mem, s->series.n, sizeof *out->gc_ns)))
        memcpy(out->gc_ns, gc_ns, s->series.n * sizeof *gc_ns);
    out->has_collectives = s->spans.n[SPAN_COLLECTIVE] > 0;
    out->comm_ns = exposed_collectives(s);
    out->without_collectives = is_without_device(s) ? CHECK_ELSEWHERE
                               : s->has_device      ? state_without_collectives(s)
                                                    : CHECK_UNRECORDED;
    return out->comm_ns && host_speed_find(&out->host, s);
}

bool advise_look_at(struct advise_rank *out, const struct run_rank *rank, struct arena *mem)
{
    struct checked_rank s = { .rank = *rank, .mem = mem, .spare = arena_new() };
    struct finding *all = s.spare ? arena_take(s.spare, n_advise_checks, sizeof *all) : NULL;
    bool done = all && checked_rank_begin(&s) && checked_rank_count(&s, NULL, false) && look_at_all(out, &s, all);
    bool *counts = done ? arena_take(mem, s.series.n, sizeof *counts) : NULL;
    done = done && counts;
    const bool has_once = done && usual_counts(&s, counts);
    if (has_once) {
        done = checked_rank_count(&s, counts, false);
        run_checks(&s, out->finding, mem);
        out->counts = counts;
    } else if (done) {
        memcpy(out->finding, all, n_advise_checks * sizeof *all);
    }
    if (done)
        sum_parts(out, &s);
    done = done && step_use_find(&out->use, &s);
    out->step_ns = s.step_ns;
    out->n_steps = s.n_steps;
    out->n_startup = s.n_startup;
    out->is_gpu = s.is_gpu;
    out->has_device = s.has_device;
    done = done && (!has_once || once_add(&s, out->finding, all));
    for (size_t i = 0; i < n_advise_checks; i++)
        out->finding[i].step_ns = NULL;
    done = done && !arena_failed(s.spare) && !arena_failed(mem);
    arena_free(s.spare);
    return done;
}

/* ---- the job --------------------------------------------------------------------------------------------------- */

/* Merges the findings of all ranks: the largest one, or else the state of the rank that knows most. */
static void merge(struct advice *out, size_t check, const struct advise_rank *rank, size_t n)
{
    out->finding.state = CHECK_ELSEWHERE;
    for (uint32_t i = 0; i < n; i++) {
        const struct finding *f = &rank[i].finding[check];
        out->n_ranks += f->state == CHECK_FOUND;
        const bool is_better = f->state < out->finding.state ||
                               (f->state == CHECK_FOUND && finding_lost_ns(f) > finding_lost_ns(&out->finding));
        if (!is_better)
            continue;
        out->finding = *f;
        out->rank = f->state == CHECK_FOUND ? i : NO_ROW;
    }
    if (out->check->flags & CHECK_ALL_RANKS && out->finding.state == CHECK_FOUND && out->n_ranks < n) {
        out->finding.state = CHECK_FINE;
        out->rank = NO_ROW;
    }
}

/* Communication that nothing overlaps, and the free time of a slow host, without what other findings say of them. */
static void explain_job(struct advice *advice, const struct advise_rank *rank, struct arena *mem)
{
    struct advice *exposed = NULL, *free_time = NULL, *slow_host = NULL;
    double named_ns = 0;
    for (size_t i = 0; i < n_advise_checks; i++) {
        free_time = advice[i].check->run == check_free_time ? &advice[i] : free_time;
        slow_host = advice[i].check->run_job == check_slow_host ? &advice[i] : slow_host;
        exposed = advice[i].check->run_job == check_exposed_communication ? &advice[i] : exposed;
        if (advice[i].check->flags & CHECK_OF_COMM && advice[i].finding.state == CHECK_FOUND)
            named_ns += advice[i].finding.gain_ns;
    }
    if (free_time && slow_host && free_time->rank == slow_host->rank && slow_host->finding.state == CHECK_FOUND)
        advise_explain(&free_time->finding, slow_host->finding.gain_ns, rank[free_time->rank].step_ns, mem);
    if (exposed && exposed->finding.state == CHECK_FOUND)
        advise_explain(&exposed->finding, named_ns, rank[exposed->rank].step_ns, mem);
}

static int by_gain(const void *a, const void *b)
{
    const struct advice *x = a, *y = b;
    const double x_ns = finding_lost_ns(&x->finding), y_ns = finding_lost_ns(&y->finding);
    if (x->finding.state != y->finding.state)
        return x->finding.state < y->finding.state ? -1 : 1;
    if (x->finding.state == CHECK_FOUND && x_ns != y_ns)
        return x_ns > y_ns ? -1 : 1;
    return x->check < y->check ? -1 : x->check > y->check;
}

bool advise_job(struct advice *out, const struct advise_rank *rank, size_t n, struct arena *mem)
{
    for (size_t i = 0; i < n_advise_checks; i++) {
        struct advice *a = &out[i];
        *a = (struct advice){ .check = &advise_checks[i], .rank = NO_ROW };
        if (a->check->run)
            merge(a, i, rank, n);
        else if (!a->check->run_job(a, rank, n, mem))
            return false;
        a->is_gpu = n > 0 && rank[a->rank == NO_ROW ? 0 : a->rank].is_gpu;
    }
    explain_job(out, rank, mem);
    for (size_t i = 0; i < n_advise_checks; i++) {
        struct finding *const f = &out[i].finding;
        if (out[i].rank == NO_ROW)
            continue;
        if (out[i].check->run_job) { /* about the job: means over the steps of that rank */
            f->of_ns = rank[out[i].rank].step_ns;
            f->n_of = rank[out[i].rank].n_steps;
        }
        out[i].share = f->of_ns > 0 ? f->gain_ns / f->of_ns : 0;
    }
    qsort(out, n_advise_checks, sizeof *out, by_gain);
    return true;
}
