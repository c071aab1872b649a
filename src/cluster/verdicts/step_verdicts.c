/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/verdicts/verdicts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answers/judge/stage_judge.h"
#include "base/process/robust.h"
#include "base/text/readable.h"
#include "profile/calls.h"

enum { MOST_FINDINGS = 8, MOST_COUNTS = 6, FEWEST_STEPS = 3 };

/* The row of a step in the steps of its rank; their number: it is not there. */
static uint32_t step_verdicts_row_of(const struct rank_steps *s, name_id step, struct names *names)
{
    uint32_t row = 0;
    while (row < s->n && (s->id[row] < 0 || names_number(names, (uint64_t)s->id[row]) != step))
        row++;
    return row;
}

/* How many kernels began in a step. Without steps there is one without a name: all that was recorded. */
static uint64_t kernels_in(const struct rank_summary *s, name_id step, uint32_t row)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->kernels.n; i++)
        if (step == NAME_EMPTY || s->kernels.step[i] == row)
            n += s->kernels.first[i + 1] - s->kernels.first[i];
    return n;
}

static int64_t ns_of(double us)
{
    return (int64_t)llround(us * 1000);
}

/* The times of a row. What a host alone does besides waiting for others is not divided further. */
static struct rank_step step_at(const struct rank_summary *s, const struct rank_step_trace *t, size_t i, bool is_host)
{
    const bool is_own = t == &s->own_steps;
    const double computing = t->us[STEP_COLUMN_COMPUTING][i], exposed = t->us[STEP_COLUMN_EXPOSED][i],
                 *const free_us = t->us[STEP_COLUMN_FREE], *const leads = t->us[STEP_COLUMN_PREPARING];
    double idle = free_us[i];
    if (!is_own && s->steps.n == 0) { /* text: the time before the first kernel is free time of the step before */
        idle += i > 0 ? fmin(leads[i], free_us[i - 1]) : leads[i];
        idle -= i + 1 < t->n ? fmin(leads[i + 1], free_us[i]) : 0;
    }
    const double all = is_own ? t->us[STEP_COLUMN_STAGE][i] : computing + exposed + idle;
    return (struct rank_step){ .begin_ns = (int64_t)i,
                               .time_ns = ns_of(all),
                               .part_ns = { [JUDGED_COMPUTING] = is_host ? 0 : ns_of(computing),
                                            [JUDGED_EXPOSED] = ns_of(exposed),
                                            [JUDGED_FREE] = is_host ? 0 : ns_of(all - computing - exposed) } };
}

/* The text of a name, the same for each rank. NULL: no memory. */
static const char *step_text(struct step_verdicts *v, name_id name)
{
    const uint32_t at = keys_add(&v->steps, name, v->mem);
    if (at == KEYS_NO_MEMORY || (at == v->text.n && !list_add(&v->text, v->mem)))
        return NULL;
    if (!v->text.at[at])
        v->text.at[at] = arena_text(v->mem, names_text(v->names, name), names_len(v->names, name));
    return v->text.at[at];
}

bool step_verdicts_add(struct step_verdicts *v, const struct rank_summary *s, const struct cluster_options *o)
{
    const struct rank_step_trace *const t = summary_step_times(s);
    struct stepped_rank *const rank = list_add(&v->ranks, v->mem);
    struct rank_step *const step = arena_take(v->mem, t->n, sizeof *step);
    int64_t *const copying_ns = arena_take(v->mem, t->n, sizeof *copying_ns);
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%lld", (long long)o->step);
    if (!rank || !step || !copying_ns)
        return false;
    *rank = (struct stepped_rank){ .rank = s->identity.rank,
                                   .is_host = s->own_steps.n > 0 && s->kernels.n + s->collectives.ops.n == 0,
                                   .step = step,
                                   .copying_ns = copying_ns };
    v->has_device |= !rank->is_host;
    for (size_t i = 0; i < t->n; i++) {
        const char *const name = step_text(v, t->step[i]);
        if (!name)
            return false;
        if (o->has_step && strcmp(name, wanted) != 0)
            continue;
        struct rank_step *const row = &step[rank->n];
        *row = step_at(s, t, i, rank->is_host);
        row->name = name;
        if (t == &s->own_steps && !rank->is_host)
            copying_ns[rank->n] = row->part_ns[JUDGED_FREE] - ns_of(t->us[STEP_COLUMN_FREE][i]);
        const uint32_t at = step_verdicts_row_of(&s->steps, t->step[i], v->names);
        rank->n_kernels += kernels_in(s, t->step[i], at);
        if (at < s->steps.n && s->steps.mark && s->steps.mark[at] != NAME_EMPTY)
            row->iteration = iteration_of(names_text(v->names, s->steps.mark[at]));
        if (!v->slowest || row->time_ns > v->longest_ns) {
            v->slowest = name;
            v->longest_ns = row->time_ns;
        }
        rank->n++;
    }
    return true;
}

struct step_verdicts_judging {
    struct step_verdicts *v;
    struct job_report *out;
    struct stages stages;
    struct judged_run run; /* rows of ranks in the order of adding */
    struct rank_waits waits;
    double *kernels; /* by rank: in a step; 0: unknown */
    int64_t *number; /* by rank: in the job */
    double *scratch;
};

/* Peers are the ranks of a stage. Those that are a stage alone, or in none, are compared with each other, and hosts
 * with hosts. */
static bool judge_ranks(struct step_verdicts_judging *j, const struct groups *g)
{
    struct step_verdicts *const v = j->v;
    struct judged_rank *const rank = arena_take(v->mem, v->ranks.n, sizeof *rank);
    size_t n_compared = 0;
    j->kernels = arena_take(v->mem, v->ranks.n, sizeof *j->kernels);
    j->number = arena_take(v->mem, v->ranks.n, sizeof *j->number);
    if (!rank || !j->kernels || !j->number || !groups_stages(&j->stages, g, v->mem))
        return false;
    for (size_t i = 0; i < v->ranks.n; i++) {
        const struct stepped_rank *const r = &v->ranks.at[i];
        rank[i] = (struct judged_rank){ arena_printf(v->mem, "rank %lld", (long long)r->rank), r->n, r->step,
                                        r->is_host ? HOST_PEERS : stage_peers(&j->stages, r->rank) };
        j->kernels[i] = r->n > 0 ? (double)r->n_kernels / (double)r->n : 0;
        j->number[i] = r->rank;
        n_compared += r->n > 0;
    }
    if (arena_failed(v->mem) || !run_judge(&j->run, rank, v->ranks.n, "step", !v->has_device, v->mem))
        return false;
    j->out->has_compared |= n_compared > 1 || j->run.n >= FEWEST_STEPS;
    stages_excuse(&j->run, &j->stages, j->kernels);
    j->scratch = arena_take(v->mem, j->run.n + v->ranks.n, sizeof *j->scratch);
    return j->scratch != NULL;
}

/* ---- what only a job of summaries knows -------------------------------------------------------------------------- */

static bool is_in(const struct slow *f, size_t row)
{
    return row >= f->first && row <= f->last && (f->period == 0 || (row - f->first) % f->period == 0);
}

enum { COPYING = JUDGED_PARTS };

/* What a rank usually takes in the steps of a finding, or in the others: a part, copies beside which nothing runs, or
 * all but communication. */
static double usual_ns(const struct step_verdicts_judging *j, const struct slow *f, bool of_finding, uint32_t rank,
                       uint32_t part)
{
    const struct judged_run *const r = &j->run;
    size_t n = 0;
    for (size_t i = r->of.n_startup; i < r->n; i++) {
        const struct rank_step *const s = rank == JUDGE_ALL ? NULL : r->at[rank * r->n + i];
        const bool is_like =
            !r->iteration || f->shape == SLOW_ALWAYS || r->iteration[i].class_of == r->iteration[f->first].class_of;
        if (s && is_like && is_in(f, i) == of_finding)
            j->scratch[n++] = (double)(part == COPYING ? j->v->ranks.at[rank].copying_ns[s - j->v->ranks.at[rank].step]
                                       : part < JUDGED_PARTS ? s->part_ns[part]
                                                             : rank_step_own_ns(s));
    }
    return lower_median(j->scratch, n);
}

static bool is_of_copies(const struct step_verdicts_judging *j, const struct slow *f)
{
    const bool is_always = f->shape == SLOW_ALWAYS;
    return f->rank != JUDGE_ALL && f->part == JUDGED_FREE &&
           usual_ns(j, f, true, f->rank, COPYING) - usual_ns(j, f, is_always, is_always ? f->peer : f->rank, COPYING) >=
               f->excess_ns / 2;
}

static const char *kernels_text(double more, struct arena *mem)
{
    return isnan(more) || more < -AS_MANY_KERNELS ? ""
           : more > AS_MANY_KERNELS               ? arena_printf(mem, "; with %.0f %% more kernels", 100 * more)
                                                  : "; with as many kernels";
}

/* How long the others wait in collectives for the rank of a finding, in each of its steps. */
static double waited_us(const struct step_verdicts_judging *j, const struct slow *f)
{
    const struct step_verdicts *const v = j->v;
    const size_t n_own = v->ranks.at[f->rank].n, n_steps = v->steps.key.n; /* a text may name a step twice */
    double us = 0;
    if (f->shape == SLOW_ALWAYS)
        return rank_waits_usual_us(&j->waits, f->rank, n_own < n_steps ? n_own : n_steps, j->scratch);
    for (uint32_t i = f->first; i <= f->last; i++)
        for (uint32_t k = 0; is_in(f, i) && k < n_steps; k++)
            if (v->text.at[k] == j->run.step[i])
                us += rank_waits_step_us(&j->waits, f->rank, k) / f->n;
    return us;
}

static const char *waits_text(const struct step_verdicts_judging *j, const struct slow *f, struct arena *mem)
{
    char us[READABLE_MOST];
    const double waited = f->rank == JUDGE_ALL ? 0 : waited_us(j, f);
    if (waited <= 0)
        return "";
    readable_duration(us, waited * 1000);
    return arena_printf(mem, "; in collectives the others wait %s", us);
}

static const char *peers_text(const struct step_verdicts_judging *j, const struct slow *f, struct arena *mem)
{
    const uint32_t own =
        f->shape != SLOW_ALWAYS || j->v->ranks.at[f->rank].is_host ? NO_STAGE : j->run.rank[f->rank].peers;
    return own == NO_STAGE
               ? ""
               : arena_printf(mem, "; it is compared with the %zu ranks of its stage", j->stages.at[own - 1].n);
}

/* ---- verdicts ---------------------------------------------------------------------------------------------------- */

static enum verdict_kind step_verdicts_kind_of(const struct step_verdicts_judging *j, const struct slow *f,
                                               bool is_copies)
{
    return f->shape == SLOW_IN_TURNS                                 ? VERDICT_UNEVEN
           : f->rank == JUDGE_ALL                                    ? VERDICT_SLOW_STEP
           : f->part == JUDGED_FREE && !is_copies && !j->run.is_host ? VERDICT_LATE_HOST
                                                                     : VERDICT_SLOW_RANK;
}

static double ratio_of(const struct step_verdicts_judging *j, const struct slow *f)
{
    if (f->shape != SLOW_ALWAYS)
        return j->run.of.usual_ns > 0 ? 1 + f->excess_ns / j->run.of.usual_ns : 0;
    const double peer = usual_ns(j, f, true, f->peer, f->part);
    return peer > 0 ? usual_ns(j, f, true, f->rank, f->part) / peer : 0;
}

static bool finding_report(struct step_verdicts_judging *j, const struct slow *f)
{
    struct arena *const mem = j->v->mem;
    const struct judged_run *const r = &j->run;
    const bool is_copies = is_of_copies(j, f), is_always = f->shape == SLOW_ALWAYS;
    const double more = finding_more_kernels(f, j->kernels);
    const enum verdict_kind kind = step_verdicts_kind_of(j, f, is_copies);
    const char *const text = run_finding_text(r, f, mem), *const about = arena_printf(
                                                              mem, "%s%s%s%s",
                                                              f->part == JUDGED_COMPUTING ? kernels_text(more, mem)
                                                                                          : "",
                                                              is_copies ? "; copies beside which nothing runs"
                                                              : kind == VERDICT_LATE_HOST ? "; its host is late"
                                                                                          : "",
                                                              peers_text(j, f, mem), waits_text(j, f, mem));
    const bool is_of_all = r->n > 1 ? is_always || f->shape == SLOW_IN_TURNS : !*r->step[0];
    return text && about &&
           verdict_add(j->out, &(struct verdict){ .kind = kind,
                                                  .text = text,
                                                  .about = *about ? about + strlen("; ") : NULL,
                                                  .rank = f->rank == JUDGE_ALL ? -1 : j->v->ranks.at[f->rank].rank,
                                                  .other = -1,
                                                  .step = is_of_all ? NULL : r->step[f->first],
                                                  .shape = slow_shape_keys[f->shape],
                                                  .ratio = ratio_of(j, f),
                                                  .ms = f->excess_ns / 1e6 });
}

static bool findings_report(struct step_verdicts_judging *j)
{
    struct arena *const mem = j->v->mem;
    const size_t n = run_findings(&j->run);
    bool done = true;
    for (size_t i = 0; i < n && i < MOST_FINDINGS && done; i++)
        done = finding_report(j, &j->run.of.at[i]);
    if (n > MOST_FINDINGS && done) {
        const char *const text = arena_printf(mem, "and %zu more; ascope why explains them", n - MOST_FINDINGS);
        done =
            text &&
            verdict_add(j->out, &(struct verdict){ .kind = VERDICT_SLOW_STEP, .text = text, .rank = -1, .other = -1 });
    }
    const char *const rest = n < j->run.of.n ? run_finding_text(&j->run, &j->run.of.at[n], mem) : NULL,
                      *const nothing = n == 0 && j->out->has_compared ? run_nothing_text(&j->run, mem) : NULL;
    j->out->start_up = rest ? arena_text(j->out->mem, rest, strlen(rest)) : NULL;
    j->out->nothing = nothing ? arena_text(j->out->mem, nothing, strlen(nothing)) : NULL;
    return done && !arena_failed(mem) && !arena_failed(j->out->mem);
}

/* The same judge compares the stages of a pipeline. */
static bool judge_stages(struct step_verdicts_judging *j)
{
    struct arena *const mem = j->v->mem;
    struct judged_stages stages;
    bool done = stages_judge(&stages, &j->run, &j->stages, j->number, mem);
    for (size_t i = 0; done && stages.run.n_ranks > 0 && i < stages.run.of.n; i++) {
        const struct slow *const f = &stages.run.of.at[i];
        const char *const text = f->shape == SLOW_ALWAYS ? run_finding_text(&stages.run, f, mem) : NULL;
        done = !text || verdict_add(j->out, &(struct verdict){ .kind = VERDICT_STAGES,
                                                               .text = text,
                                                               .rank = j->number[stages.first[f->rank]],
                                                               .other = -1,
                                                               .shape = slow_shape_keys[f->shape],
                                                               .ratio = 0,
                                                               .ms = f->excess_ns / 1e6 });
    }
    return done && !arena_failed(mem);
}

/* ---- steps that do not match ------------------------------------------------------------------------------------- */

/* The number of steps that more than half of the ranks have; 0: there is none. */
static size_t usual_count(const struct step_verdicts_judging *j)
{
    const struct step_verdicts *const v = j->v;
    size_t n_same = 0;
    for (size_t i = 0; i < v->ranks.n; i++)
        j->scratch[i] = (double)v->ranks.at[i].n;
    const double middle = lower_median(j->scratch, v->ranks.n); /* a majority includes it */
    for (size_t i = 0; i < v->ranks.n; i++)
        n_same += (double)v->ranks.at[i].n == middle;
    return n_same * 2 > v->ranks.n ? (size_t)middle : 0;
}

/* Ranks with another number of steps than most, or with other ones: steps that at most half of the ranks have. */
static bool judge_counts(struct step_verdicts_judging *j)
{
    const struct judged_run *const r = &j->run;
    const size_t usual = usual_count(j);
    uint32_t *const n_ranks = arena_take(j->v->mem, r->n, sizeof *n_ranks); /* by step: that have it */
    size_t n_shown = 0;
    bool done = n_ranks != NULL;
    for (size_t i = 0; done && i < r->n_ranks * r->n; i++)
        n_ranks[i % r->n] += r->at[i] != NULL;
    for (size_t i = 0; done && i < r->n_ranks && n_shown < MOST_COUNTS; i++) {
        const struct stepped_rank *const own = &j->v->ranks.at[i];
        size_t first = r->n, last = 0, n_own = 0;
        for (size_t s = 0; s < r->n; s++)
            if (r->at[i * r->n + s]) {
                first = s < first ? s : first;
                last = s;
                n_own += n_ranks[s] * 2 <= r->n_ranks;
            }
        char text[300], most[60];
        if (own->n == usual && n_own == 0)
            continue;
        n_shown++;
        snprintf(most, sizeof most, usual > 0 ? "most ranks have %zu" : "other ranks have other numbers of them",
                 usual);
        if (own->n == usual)
            snprintf(
                text, sizeof text,
                "rank %lld: most ranks lack %zu of its %zu steps (%.60s to %.60s); only its own steps are compared",
                (long long)own->rank, n_own, own->n, r->step[first], r->step[last]);
        else
            snprintf(text, sizeof text, "rank %lld has %zu %s, %s; only its own steps are compared",
                     (long long)own->rank, own->n, own->n == 1 ? "step" : "steps", most);
        done = verdict_add(j->out,
                           &(struct verdict){ .kind = VERDICT_STEPS, .text = text, .rank = own->rank, .other = -1 });
    }
    return done;
}

bool step_verdicts_finish(struct step_verdicts *v, const struct groups *g, const struct collective_match *m,
                          struct job_report *out)
{
    struct step_verdicts_judging j = { .v = v, .out = out };
    const bool has_steps = v->steps.key.n != 1 || v->steps.key.at[0] != NAME_EMPTY;
    return judge_ranks(&j, g) && rank_waits_find(&j.waits, m, has_steps ? &v->steps : NULL, v->mem) &&
           judge_counts(&j) && findings_report(&j) && judge_stages(&j);
}

bool rank_waits_find(struct rank_waits *w, const struct collective_match *m, const struct keys *steps,
                     struct arena *mem)
{
    *w = (struct rank_waits){ .mem = mem, .has_p2p = arena_take(mem, m->rank.n + 1, sizeof *w->has_p2p) };
    if (!w->has_p2p)
        return false;
    for (size_t i = 0; i < m->list.n; i++) {
        const struct matched *const c = &m->list.at[i];
        if (c->is_p2p)
            w->has_p2p[c->first] = w->has_p2p[c->last] = true;
        if (c->n < 2 || c->is_p2p)
            continue;
        const uint32_t step =
            steps && c->step >= 0 ? keys_find(steps, names_number(m->names, (uint64_t)c->step)) : NO_ROW;
        if (steps && step == NO_ROW)
            continue;
        const uint32_t part[] = { c->group, c->last, step };
        const uint32_t at = tuple_add(&w->keys, part, 3, mem);
        if (at == KEYS_NO_MEMORY || (at == w->list.n && !list_add(&w->list, mem)))
            return false;
        struct rank_wait *const to = &w->list.at[at];
        const double others_ns = (double)(c->sum_exposed_ns - c->last_exposed_ns) / (double)(c->n - 1);
        *to = (struct rank_wait){ c->group, c->last, step, to->us + fmax(0, others_ns - (double)c->least_ns) / 1000 };
    }
    return true;
}

double rank_waits_step_us(const struct rank_waits *w, uint32_t rank, uint32_t step)
{
    double most = 0;
    for (size_t i = 0; i < w->list.n; i++)
        if (w->list.at[i].rank == rank && w->list.at[i].step == step)
            most = fmax(most, w->list.at[i].us);
    return most;
}

static double usual_of_group_us(const struct rank_waits *w, uint32_t rank, uint32_t group, size_t n_steps,
                                double *scratch)
{
    size_t n = 0;
    for (size_t i = 0; i < w->list.n && n < n_steps; i++)
        if (w->list.at[i].rank == rank && w->list.at[i].group == group)
            scratch[n++] = w->list.at[i].us;
    while (n < n_steps) /* steps in which it was never last */
        scratch[n++] = 0;
    return lower_median(scratch, n);
}

double rank_waits_usual_us(const struct rank_waits *w, uint32_t rank, size_t n_steps, double *scratch)
{
    struct keys groups = { 0 };
    double most = 0;
    for (size_t i = 0; i < w->list.n; i++) {
        const struct rank_wait *const x = &w->list.at[i];
        const size_t n_groups = groups.key.n;
        if (x->rank == rank && keys_add(&groups, x->group, w->mem) == n_groups)
            most = fmax(most, usual_of_group_us(w, rank, x->group, n_steps, scratch));
    }
    return most;
}
