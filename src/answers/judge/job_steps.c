/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/judge/job_steps.h"

#include <math.h>
#include <string.h>

#include "base/process/robust.h"
#include "base/memory/sort.h"
#include "answers/judge/job_peers.h"

bool run_member_of(struct run_member *r, const struct run_rank *q, struct arena *mem)
{
    struct arena *spare = arena_new();
    struct step_series s;
    bool done = spare && run_rank_series(&s, q, spare) && collective_calls_find(&r->calls, q, &s, mem);
    struct rank_step *step = done ? rank_steps_of(&s, q->names, mem) : NULL;
    double *v = step ? arena_take(spare, s.n, sizeof *v) : NULL;
    done = v != NULL;
    if (done) {
        r->has_rank = run_rank_number(q, &r->rank);
        r->world = run_rank_world(q, &r->calls);
        r->has_device = q->device != NULL;
        r->device = q->device ? q->device->source.device : 0;
        r->is_host = s.is_host;
        r->groups = run_rank_groups(q, mem);
        r->n_kernels = s.n > 0 ? (double)run_rank_kernels(q) / (double)s.n : 0;
        r->has_model = s.has_model;
        r->steps_by = s.by ? arena_text(mem, s.by, strlen(s.by)) : NULL;
        r->n = s.is_whole ? 0 : s.n;
        r->step = step;
        int64_t *const median[] = { &r->median_ns, &r->own_median_ns, &r->communication_median_ns };
        for (int k = 0; k < 3; k++) {
            for (size_t i = 0; i < s.n; i++) {
                const int64_t exposed_ns = s.part_ns[STEP_COMMUNICATION][i];
                v[i] = (double)(k == 0 ? s.time_ns[i] : k == 1 ? s.time_ns[i] - exposed_ns : exposed_ns);
            }
            *median[k] = (int64_t)lower_median(v, s.n);
        }
    }
    arena_free(spare);
    return done && !arena_failed(mem);
}

const char *run_member_name(const struct run_member *r, struct arena *mem)
{
    return r->has_rank     ? arena_printf(mem, "rank %lld", (long long)r->rank)
           : r->has_device ? arena_printf(mem, "device %u", r->device)
                           : arena_text(mem, r->path, strlen(r->path));
}

static bool steps_fill(struct job_steps *out, struct arena *mem)
{
    const struct judged_run *r = &out->run;
    uint64_t *key = arena_take(mem, r->n, sizeof *key);
    double *v = arena_take(mem, r->n, sizeof *v);
    out->step = arena_take(mem, r->n, sizeof *out->step);
    out->slowest = arena_take(mem, r->n, sizeof *out->slowest);
    if (!key || !v || !out->step || !out->slowest)
        return false;
    for (size_t i = 0; i < r->n; i++) {
        struct job_step *s = &out->step[i];
        int64_t own_ns = INT64_MIN;
        *s = (struct job_step){ .name = r->step[i], .is_slow = r->of.is_slow[i] };
        for (uint32_t k = 0; k < r->n_ranks; k++) {
            const struct rank_step *x = r->at[k * r->n + i];
            if (!x)
                continue;
            s->n_ranks++;
            s->time_ns = x->time_ns > s->time_ns ? x->time_ns : s->time_ns;
            if (rank_step_own_ns(x) > own_ns) {
                own_ns = rank_step_own_ns(x);
                s->longest = k;
            }
        }
        v[i] = (double)s->time_ns;
        key[i] = UINT64_MAX - (uint64_t)s->time_ns;
    }
    out->median_ns = (int64_t)middle_of(v, r->n).median;
    order_fill(out->slowest, r->n);
    return order_by_u64(out->slowest, r->n, key);
}

bool job_judge(struct job_steps *out, const struct run_member *rank, size_t n, struct arena *mem)
{
    static const struct stages none = { 0 };
    const struct stages *stages = n > 0 && rank->stages ? rank->stages : &none;
    struct judged_rank *judged = arena_take(mem, n, sizeof *judged);
    double *kernels = arena_take(mem, n, sizeof *kernels);
    int64_t *number = arena_take(mem, n, sizeof *number);
    bool is_host = true, has_model = false;
    for (size_t i = 0; judged && kernels && number && i < n; i++) {
        judged[i] = (struct judged_rank){ run_member_name(&rank[i], mem), rank[i].n, rank[i].step,
                                          rank[i].is_host    ? HOST_PEERS
                                          : rank[i].has_rank ? stage_peers(stages, rank[i].rank)
                                                             : NO_STAGE };
        kernels[i] = rank[i].n_kernels;
        number[i] = rank[i].rank;
        is_host = is_host && rank[i].is_host;
        has_model = has_model || rank[i].has_model;
    }
    if (!judged || !kernels || !number ||
        !run_judge(&out->run, judged, n, has_model ? "iteration" : "step", is_host, mem))
        return false;
    stages_excuse(&out->run, stages, kernels);
    return stages_judge(&out->stages, &out->run, stages, number, mem) && steps_fill(out, mem);
}

uint32_t finding_slowest_step(const struct job_steps *j, const struct slow *f)
{
    uint32_t most = f->first;
    for (uint32_t i = f->first; i <= f->last; i += f->shape == SLOW_PERIOD ? f->period : 1)
        if (j->step[i].time_ns > j->step[most].time_ns)
            most = i;
    return most;
}

uint32_t finding_rank(const struct job_steps *j, const struct slow *f)
{
    return f->rank != JUDGE_ALL ? f->rank : j->step[finding_slowest_step(j, f)].longest;
}

/* The median of the values of all ranks but one of them, `without`. Reorders them. */
static double median_of_others(double *v, size_t n, size_t without)
{
    v[without] = v[n - 1];
    return middle_of(v, n - 1).median;
}

/* How the chosen step grew on each rank, and what follows from it: the rank that causes it, if the judge found none
 * (the one whose own time grew most; where that is less than a fifth of what the step grew, the one that took longest),
 * and whether the others wait for it: their steps grew, too, without more work of their own. */
static bool choose_rank_of_step(struct job_choice *out, const struct run_member *rank, size_t n, struct arena *mem)
{
    enum {
        LEAST_PART = 5,
        LEAST_WAIT = 50
    }; /* divisors: of the growth of the step; of the usual step, below which a wait is noise */
    const struct judged_run *r = &out->job.run;
    double *own = arena_take(mem, n, sizeof *own), *grown = arena_take(mem, n, sizeof *grown);
    uint32_t *of = arena_take(mem, n, sizeof *of);
    size_t k = 0, by_own = 0, by_time = 0;
    if (!own || !grown || !of)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct rank_step *s = r->at[i * r->n + out->at];
        if (!s)
            continue;
        own[k] = fmax(0, (double)(rank_step_own_ns(s) - rank[i].own_median_ns));
        grown[k] = fmax(0, (double)(s->time_ns - rank[i].median_ns));
        of[k] = i;
        by_own = own[k] > own[by_own] ? k : by_own;
        by_time = grown[k] > grown[by_time] ? k : by_time;
        k++;
    }
    size_t chosen = own[by_own] > 0 && own[by_own] >= grown[by_time] / LEAST_PART ? by_own : by_time;
    for (size_t i = 0; out->finding && out->finding->rank != JUDGE_ALL && i < k; i++)
        chosen = of[i] == out->finding->rank ? i : chosen;
    const double own_ns = own[chosen], grown_ns = grown[chosen];
    out->rank = of[chosen];
    for (size_t i = 0; i < k; i++)
        out->n_waited_for += own[i] >= own_ns / 2;
    const double others_own = median_of_others(own, k, chosen), others_grown = median_of_others(grown, k, chosen),
                 more_ns = own_ns - others_own;
    out->is_waited_for = own_ns > 0 && k > 1 && others_own < own_ns / 2 && others_grown >= more_ns / 2 &&
                         more_ns >= (double)rank[out->rank].median_ns / LEAST_WAIT;
    out->waited_ns = out->is_waited_for ? (int64_t)more_ns : 0;
    out->n_waited_for = out->is_waited_for ? out->n_waited_for : 0;
    out->is_slow_for_all =
        !out->is_waited_for && k > 1 && out->job.step[out->at].is_slow && grown_ns > 0 && others_grown >= grown_ns / 2;
    return true;
}

static bool find_rank(const struct run_member *rank, size_t n, int64_t wanted, uint32_t *row)
{
    for (uint32_t i = 0; i < n; i++)
        if ((rank[i].has_rank && rank[i].rank == wanted) ||
            (!rank[i].has_rank && rank[i].has_device && rank[i].device == wanted)) {
            *row = i;
            return true;
        }
    return false;
}

static bool refuse(const struct judged_run *r, const char *step, struct error *e)
{
    return error_set(e, FAULT_ASKED, "%s %.60s: not among the %zu that were recorded, %.40s to %.40s", r->word, step,
                     r->n, r->step[0], r->step[r->n - 1]);
}

/* What costs most; without a finding the only step by itself. */
static void choose_finding(struct job_choice *out)
{
    const struct judged_run *r = &out->job.run;
    out->mode = r->n == 1 ? WHY_STEP : WHY_NOTHING;
    for (size_t i = 0; i < run_findings(r) && !out->finding; i++)
        if (r->of.at[i].shape != SLOW_IN_TURNS)
            out->finding = &r->of.at[i];
    if (!out->finding)
        return;
    out->rank = finding_rank(&out->job, out->finding);
    out->mode = out->finding->shape == SLOW_ALWAYS ? WHY_RANK : WHY_STEP;
    out->at = out->mode == WHY_RANK ? NO_ROW : finding_slowest_step(&out->job, out->finding);
    if (out->mode == WHY_STEP)
        return;
    out->reference = out->finding->peer;
    out->is_waited_for = true;
    out->waited_ns = (int64_t)out->finding->excess_ns;
    out->n_waited_for = 1;
}

bool job_choose(struct job_choice *out, const struct run_member *rank, size_t n, const struct job_question *q,
                struct arena *mem, struct error *e)
{
    *out = (struct job_choice){ 0 };
    uint32_t only = NO_ROW;
    if (q->has_rank && !find_rank(rank, n, q->rank, &only))
        return error_set(e, FAULT_ASKED, "rank %lld: not among the %zu ranks", (long long)q->rank, n);
    const struct run_member *first = only == NO_ROW ? rank : &rank[only];
    const size_t n_first = only == NO_ROW ? n : 1;
    struct job_steps all;
    if (!job_judge(&out->job, first, n_first, mem) || (only != NO_ROW && !job_judge(&all, rank, n, mem)))
        return error_no_memory(e, "the steps of the job");
    if (only != NO_ROW) /* a stage that is slow is so for each rank */
        out->job.stages = all.stages;
    const struct judged_run *r = &out->job.run;
    if (r->n == 0) {
        out->at = NO_ROW;
        out->rank = only == NO_ROW ? 0 : only;
        return !q->step || error_set(e, FAULT_ASKED, "step %.60s: %s: no steps were recorded", q->step, rank[0].path);
    }
    if (!q->step)
        choose_finding(out);
    for (uint32_t i = 0; q->step && i <= r->n; i++) {
        if (i == r->n)
            return refuse(r, q->step, e);
        if (strcmp(r->step[i], q->step) == 0) {
            out->mode = WHY_STEP;
            out->at = i;
            break;
        }
    }
    if (out->mode == WHY_STEP && !choose_rank_of_step(out, first, n_first, mem))
        return error_no_memory(e, "the ranks of the job");
    if (only != NO_ROW) {
        out->rank = only;
        for (size_t i = 0; i < r->n; i++)
            out->job.step[i].longest = only;
    }
    return true;
}
