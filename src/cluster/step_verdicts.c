/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/step_verdicts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "cluster/rank_stages.h"
#include "cluster/robust.h"
#include "profile/calls.h"

enum { SHOWN = 6 };

/* Limits: docs/cluster.md. */
static const double RANK_SHARE = 0.05, PAIR_SHARE = 0.1; /* of what peers take; if there is only one peer */
static const double STEP_SHARE = 0.1, STAGE_SHARE = 0.1;
static const double LEAST_OF_STEP = 0.01; /* of the step: less is not worth a line */
static const double DEVIATIONS = 5;

bool step_verdicts_add(struct step_verdicts *v, const struct rank_summary *s, const struct cluster_options *o)
{
    const struct rank_step_trace *const t = &s->step_trace;
    struct stepped_rank *const rank = list_add(&v->ranks, v->mem);
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%lld", (long long)o->step);
    if (!rank)
        return false;
    *rank = (struct stepped_rank){ .rank = s->identity.rank,
                                   .n_kernels = s->kernels.n ? s->kernels.first[s->kernels.n] : 0 };
    for (size_t i = 0; i < t->n; i++) {
        if (o->has_step && strcmp(names_text(v->names, t->step[i]), wanted) != 0)
            continue;
        const uint32_t step = keys_add(&v->steps, t->step[i], v->mem);
        struct step_value *const row = list_add(&v->rows, v->mem);
        if (step == KEYS_NO_MEMORY || !row)
            return false;
        rank->n_steps++;
        *row = (struct step_value){ (uint32_t)v->ranks.n - 1,
                                    step,
                                    { t->us[STEP_COLUMN_COMPUTING][i], t->us[STEP_COLUMN_EXPOSED][i],
                                      t->us[STEP_COLUMN_FREE][i] } };
    }
    return true;
}

static double total_us(const struct step_value *r)
{
    return r->us[PART_COMPUTING] + r->us[PART_COMMUNICATION] + r->us[PART_FREE];
}

uint32_t step_verdicts_slowest(const struct step_verdicts *v)
{
    double most = -1;
    uint32_t step = NO_ROW;
    for (size_t i = 0; i < v->rows.n; i++)
        if (total_us(&v->rows.at[i]) > most) {
            most = total_us(&v->rows.at[i]);
            step = v->rows.at[i].step;
        }
    return step;
}

/* How long the others waited for a rank in the collectives of a group, in a step. */
struct wait {
    uint32_t rank, step;
    double ns;
};

/* Ranks and steps as a table, and who is compared with whom. */
struct judging {
    struct step_verdicts *v;
    struct job_report *out;
    size_t n_ranks, n_steps;
    double *us[STEP_PARTS]; /* by rank and step; NAN: there is none */
    double *usual_us[STEP_PARTS],
        *excess_us[STEP_PARTS]; /* by rank: the median of its steps; more than that of its peers */
    uint32_t *set;              /* by rank: of peers */
    uint32_t *order, *first;    /* ranks by set; where each set begins */
    size_t n_sets;
    bool has_stages;    /* sets are stages */
    double *longest_us; /* by step: of its longest rank */
    bool *is_explained; /* by step: a rank is the reason */
    double step_us;     /* the median step */
    double *scratch;
    struct tuples wait_keys; /* (group, rank, step) */
    LIST(struct wait) waits;
};

static const char *us_text(char out[32], double us)
{
    snprintf(out, 32, fabs(us) < 1000 ? "%.1f us" : "%.2f ms", fabs(us) < 1000 ? us : us / 1000);
    return out;
}

static bool fill(struct judging *j)
{
    const struct step_verdicts *const v = j->v;
    struct arena *const mem = v->mem;
    const size_t n = j->n_ranks * j->n_steps;
    for (size_t p = 0; p < STEP_PARTS; p++) {
        j->us[p] = arena_take(mem, n + 1, sizeof **j->us);
        j->usual_us[p] = arena_take(mem, j->n_ranks + 1, sizeof **j->us);
        j->excess_us[p] = arena_take(mem, j->n_ranks + 1, sizeof **j->us);
        for (size_t i = 0; j->us[p] && i < n; i++)
            j->us[p][i] = NAN;
    }
    j->longest_us = arena_take(mem, j->n_steps + 1, sizeof *j->longest_us);
    j->is_explained = arena_take(mem, j->n_steps + 1, sizeof *j->is_explained);
    j->scratch = arena_take(mem, j->n_ranks + j->n_steps + 1, sizeof *j->scratch);
    if (arena_failed(mem))
        return false;
    for (size_t i = 0; i < v->rows.n; i++) {
        const struct step_value *const r = &v->rows.at[i];
        for (size_t p = 0; p < STEP_PARTS; p++)
            j->us[p][r->rank * j->n_steps + r->step] = r->us[p];
        j->longest_us[r->step] = fmax(j->longest_us[r->step], total_us(r));
    }
    memcpy(j->scratch, j->longest_us, j->n_steps * sizeof *j->scratch);
    j->step_us = middle_of(j->scratch, j->n_steps).median;
    for (size_t p = 0; p < STEP_PARTS; p++)
        for (size_t rank = 0; rank < j->n_ranks; rank++) {
            size_t n_values = 0;
            for (size_t s = 0; s < j->n_steps; s++)
                if (!isnan(j->us[p][rank * j->n_steps + s]))
                    j->scratch[n_values++] = j->us[p][rank * j->n_steps + s];
            j->usual_us[p][rank] = n_values > 0 ? lower_median(j->scratch, n_values) : NAN;
        }
    return true;
}

/* Stages with more than one rank, and all others together. */
static bool find_sets(struct judging *j, const struct groups *g)
{
    struct step_verdicts *const v = j->v;
    struct stages stages;
    j->set = arena_take(v->mem, j->n_ranks + 1, sizeof *j->set);
    j->order = arena_take(v->mem, j->n_ranks + 1, sizeof *j->order);
    if (!j->set || !j->order || !stages_find(&stages, g, v->mem))
        return false;
    j->n_sets = stages.n + 1;
    j->has_stages = stages.n > 1;
    j->first = arena_take(v->mem, j->n_sets + 1, sizeof *j->first);
    if (!j->first)
        return false;
    for (size_t i = 0; i < j->n_ranks; i++) {
        const uint32_t stage = j->has_stages ? stage_of(&stages, v->ranks.at[i].rank) : NO_ROW;
        j->set[i] = stage != NO_ROW && stages.at[stage].n > 1 ? stage : (uint32_t)stages.n;
        j->first[j->set[i] + 1]++;
    }
    for (size_t i = 0; i < j->n_sets; i++)
        j->first[i + 1] += j->first[i];
    order_fill(j->order, j->n_ranks);
    return order_by_u32(j->order, j->n_ranks, j->set);
}

static bool find_waits(struct judging *j, const struct collective_match *m)
{
    for (size_t i = 0; i < m->list.n; i++) {
        const struct matched *const c = &m->list.at[i];
        if (c->n < 2 || c->is_p2p) /* several sends wait at the same time */
            continue;
        const uint32_t step =
            c->step < 0 ? NO_ROW : keys_find(&j->v->steps, names_number(j->v->names, (uint64_t)c->step));
        const uint32_t part[] = { c->group, c->last, step };
        const uint32_t at = tuple_add(&j->wait_keys, part, 3, j->v->mem);
        if (at == KEYS_NO_MEMORY || (at == j->waits.n && !list_add(&j->waits, j->v->mem)))
            return false;
        struct wait *const w = &j->waits.at[at];
        w->rank = c->last;
        w->step = step;
        w->ns += (double)(c->sum_ns - c->least_ns) / (double)(c->n - 1) - (double)c->least_ns;
    }
    return true;
}

/* How long the members of a group wait for a rank in a step, on average; in that group in which it is longest. */
static double waited_us(const struct judging *j, uint32_t rank, uint32_t step)
{
    struct keys groups = { 0 };
    LIST(double) ns = { 0 };
    double most = 0;
    for (uint32_t i = 0; i < j->waits.n; i++) {
        uint32_t part[3];
        if (j->waits.at[i].rank != rank || (step != NO_ROW && j->waits.at[i].step != step))
            continue;
        tuple_parts(&j->wait_keys, i, part, 3);
        const uint32_t at = keys_add(&groups, part[0], j->v->mem);
        if (at == KEYS_NO_MEMORY || (at == ns.n && !list_add(&ns, j->v->mem)))
            return 0;
        ns.at[at] += j->waits.at[i].ns / 1000 / (double)(step == NO_ROW ? j->n_steps : 1);
        most = fmax(most, ns.at[at]);
    }
    return most;
}

/* A rank that is conspicuous, in one step or in all. */
struct suspect {
    uint32_t rank, step; /* step: NO_ROW: in all */
    double us, reference_us, excess_us;
};

static int by_excess(const void *a, const void *b)
{
    const struct suspect *x = a, *y = b;
    return x->excess_us != y->excess_us ? (x->excess_us < y->excess_us ? 1 : -1)
                                        : (x->rank > y->rank) - (x->rank < y->rank);
}

static const char *peers_text(const struct judging *j, uint32_t rank, char out[80])
{
    const uint32_t set = j->set[rank], n = j->first[set + 1] - j->first[set];
    if (n == 2) {
        const uint32_t *const both = j->order + j->first[set];
        snprintf(out, 80, "rank %lld", (long long)j->v->ranks.at[both[both[0] == rank]].rank);
    } else if (n == j->n_ranks) {
        snprintf(out, 80, "the median of all %u ranks", n);
    } else {
        snprintf(out, 80, "the median of the %u ranks of its stage", n);
    }
    return out;
}

/* Whether it has more to do, or takes longer for the same. */
static double more_kernels(const struct judging *j, uint32_t rank)
{
    const uint32_t set = j->set[rank];
    size_t n = 0;
    for (uint32_t i = j->first[set]; i < j->first[set + 1]; i++)
        if (j->order[i] != rank && j->v->ranks.at[j->order[i]].n_kernels > 0)
            j->scratch[n++] = (double)j->v->ranks.at[j->order[i]].n_kernels;
    const double usual = middle_of(j->scratch, n).median;
    return usual > 0 && j->v->ranks.at[rank].n_kernels > 0 ? (double)j->v->ranks.at[rank].n_kernels / usual - 1 : NAN;
}

/* What a time without a step is about: where no steps are known, all that was recorded is one. */
static const char *of_steps(const struct judging *j)
{
    return j->n_steps == 1 && !*names_text(j->v->names, (name_id)j->v->steps.key.at[0]) ? " in all" : " a step";
}

static bool accuse(struct judging *j, const struct suspect *s, enum step_part part)
{
    char us[32], reference[32], waits[32], peers[80], in_step[80], work[100] = "", others[160] = "", text[600];
    const double wait = waited_us(j, s->rank, s->step), more = more_kernels(j, s->rank);
    const char *const step = s->step == NO_ROW ? NULL : names_text(j->v->names, (name_id)j->v->steps.key.at[s->step]);
    const long long rank = (long long)j->v->ranks.at[s->rank].rank;
    snprintf(in_step, sizeof in_step, "%s%.60s", step ? " in step " : of_steps(j), step ? step : "");
    if (part == PART_COMPUTING && more > RANK_SHARE)
        snprintf(work, sizeof work, ", with %.0f %% more kernels", 100 * more);
    else if (part == PART_COMPUTING && !isnan(more) && more > -RANK_SHARE)
        snprintf(work, sizeof work, ", with as many kernels");
    if (wait > 0)
        snprintf(others, sizeof others, "; the others wait %s%s for it", us_text(waits, wait), in_step);
    peers_text(j, s->rank, peers);
    if (part == PART_COMPUTING)
        snprintf(text, sizeof text, "rank %lld computes %.0f %% longer than %s (%s instead of %s%s%s)%s", rank,
                 100 * (s->us - s->reference_us) / s->reference_us, peers, us_text(us, s->us),
                 us_text(reference, s->reference_us), in_step, work, others);
    else
        snprintf(text, sizeof text, "host of rank %lld is late: its device is idle %s%s, %s longer than %s%s", rank,
                 us_text(us, s->us), in_step, us_text(reference, s->us - s->reference_us), peers, others);
    return verdict_add(j->out,
                       &(struct verdict){ .kind = part == PART_COMPUTING ? VERDICT_SLOW_RANK : VERDICT_LATE_HOST,
                                          .text = text,
                                          .rank = rank,
                                          .other = -1,
                                          .step = step,
                                          .ratio = s->reference_us > 0 ? s->us / s->reference_us : 0,
                                          .ms = wait / 1000 });
}

/* What the ranks of a set take. */
struct peers {
    size_t n;
    double sum;
    struct middle middle;
};

/* `step`: NO_ROW: what is usual for them. */
static struct peers peers_of(const struct judging *j, enum step_part part, size_t set, uint32_t step)
{
    struct peers p = { 0 };
    for (uint32_t i = j->first[set]; i < j->first[set + 1]; i++) {
        const uint32_t rank = j->order[i];
        const double us = step == NO_ROW ? j->usual_us[part][rank] : j->us[part][rank * j->n_steps + step];
        if (!isnan(us)) {
            j->scratch[p.n++] = us;
            p.sum += us;
        }
    }
    p.middle = middle_of(j->scratch, p.n);
    return p;
}

/* One of two is compared with the other. */
static struct peers peers_but(const struct peers *p, double own)
{
    struct peers others = *p;
    if (p->n == 2)
        others.middle = (struct middle){ p->sum - own, 0 };
    return others;
}

/* How much longer is too much. */
static double limit_us(const struct judging *j, enum step_part part, const struct peers *of)
{
    const struct middle *const peers = &of->middle;
    const double share = of->n == 2 ? PAIR_SHARE : RANK_SHARE;
    const double least = part == PART_COMPUTING ? share * peers->median : share * j->step_us;
    return fmax(fmax(least, LEAST_OF_STEP * j->step_us), DEVIATIONS * peers->deviation);
}

static bool report_suspects(struct judging *j, struct suspect *s, size_t n, enum step_part part)
{
    bool done = true;
    if (n > 0)
        qsort(s, n, sizeof *s, by_excess);
    for (size_t i = 0; done && i < n && i < SHOWN; i++)
        done = accuse(j, &s[i], part);
    if (done && n > SHOWN) {
        char text[100];
        snprintf(text, sizeof text, "and %zu more ranks %s", n - SHOWN,
                 part == PART_COMPUTING ? "compute longer than their peers" : "whose hosts are late");
        done = verdict_add(j->out,
                           &(struct verdict){ .kind = part == PART_COMPUTING ? VERDICT_SLOW_RANK : VERDICT_LATE_HOST,
                                              .text = text,
                                              .rank = -1,
                                              .other = -1 });
    }
    return done;
}

/* Ranks that take longer in all steps. */
static bool judge_ranks(struct judging *j, enum step_part part)
{
    LIST(struct suspect) found = { 0 };
    for (size_t set = 0; set < j->n_sets; set++) {
        const struct peers all = peers_of(j, part, set, NO_ROW);
        for (uint32_t i = j->first[set]; all.n > 1 && i < j->first[set + 1]; i++) {
            const uint32_t rank = j->order[i];
            const double own = j->usual_us[part][rank];
            const struct peers peers = peers_but(&all, own);
            if (isnan(own) || own - peers.middle.median <= limit_us(j, part, &peers))
                continue;
            if (part == PART_COMPUTING && j->has_stages && set + 1 == j->n_sets && more_kernels(j, rank) > RANK_SHARE)
                continue; /* a stage of its own with more work: see judge_stages() */
            struct suspect *const new = list_add(&found, j->v->mem);
            if (!new)
                return false;
            j->excess_us[part][rank] = own - peers.middle.median;
            *new = (struct suspect){ rank, NO_ROW, own, peers.middle.median, own - peers.middle.median };
        }
    }
    return report_suspects(j, found.at, found.n, part);
}

/* Whether a rank takes longer in a step than its peers, beyond what it takes longer in all steps. */
static bool is_suspect(const struct judging *j, enum step_part part, const struct peers *all, uint32_t rank,
                       uint32_t step, struct suspect *out)
{
    const double own = j->us[part][rank * j->n_steps + step], least = STEP_SHARE * j->step_us;
    const struct peers peers = peers_but(all, own);
    const double usual_excess = j->excess_us[part][rank], usual = j->usual_us[part][rank] - usual_excess;
    /* A rank that computes longer does so by a factor: in a step with more to compute that is more time. */
    const double growth = part == PART_COMPUTING && usual > 0 ? fmax(1, peers.middle.median / usual) : 1;
    const double excess = own - peers.middle.median - usual_excess * growth;
    *out = (struct suspect){ rank, step, own, peers.middle.median, excess };
    return own - j->usual_us[part][rank] > least && excess > fmax(least, DEVIATIONS * peers.middle.deviation);
}

static bool judge_ranks_in_steps(struct judging *j, enum step_part part)
{
    LIST(struct suspect) found = { 0 };
    for (uint32_t step = 0; j->n_steps > 1 && step < j->n_steps; step++)
        for (size_t set = 0; set < j->n_sets; set++) {
            const struct peers all = peers_of(j, part, set, step);
            for (uint32_t i = j->first[set]; all.n > 1 && i < j->first[set + 1]; i++) {
                struct suspect suspect, *new;
                if (!is_suspect(j, part, &all, j->order[i], step, &suspect))
                    continue;
                if (!(new = list_add(&found, j->v->mem)))
                    return false;
                *new = suspect;
                j->is_explained[step] |= suspect.excess_us >= (j->longest_us[step] - j->step_us) / 2;
            }
        }
    return report_suspects(j, found.at, found.n, part);
}

/* What grew in a step, in the middle of all ranks. */
static enum step_part grown_part(const struct judging *j, uint32_t step, double *grown_us)
{
    enum step_part most = PART_COMPUTING;
    *grown_us = -INFINITY;
    for (enum step_part part = 0; part < STEP_PARTS; part++) {
        size_t n = 0;
        for (uint32_t rank = 0; rank < j->n_ranks; rank++)
            if (!isnan(j->us[part][rank * j->n_steps + step]))
                j->scratch[n++] = j->us[part][rank * j->n_steps + step] - j->usual_us[part][rank];
        const double grown = middle_of(j->scratch, n).median;
        if (grown > *grown_us) {
            *grown_us = grown;
            most = part;
        }
    }
    return most;
}

static bool judge_steps(struct judging *j)
{
    static const char *const text_of[STEP_PARTS] = { "computing", "communication", "time in which devices are idle" };
    size_t n = 0, n_shown = 0;
    for (size_t s = 0; s < j->n_steps; s++)
        j->scratch[n++] = j->longest_us[s];
    const struct middle steps = middle_of(j->scratch, n);
    const double limit = fmax(STEP_SHARE * steps.median, DEVIATIONS * steps.deviation);
    bool done = true;
    for (uint32_t s = 0; n > 2 && done && s < n; s++) {
        const double us = j->longest_us[s];
        char text[400], own[32], usual[32], grown[32];
        double grown_us;
        if (us - steps.median <= limit || j->is_explained[s])
            continue;
        const enum step_part part = grown_part(j, s, &grown_us);
        if (grown_us < (us - steps.median) / 2 || n_shown++ >= SHOWN)
            continue; /* few ranks: most of it is what others wait for anyway */
        const char *const name = names_text(j->v->names, (name_id)j->v->steps.key.at[s]);
        snprintf(text, sizeof text,
                 "step %.60s takes %s, %.2f times the median step (%s); the median rank has %s more %s", name,
                 us_text(own, us), us / steps.median, us_text(usual, steps.median), us_text(grown, grown_us),
                 text_of[part]);
        done = verdict_add(j->out, &(struct verdict){ .kind = VERDICT_SLOW_STEP,
                                                      .text = text,
                                                      .rank = -1,
                                                      .other = -1,
                                                      .step = name,
                                                      .ratio = us / steps.median,
                                                      .ms = (us - steps.median) / 1000 });
    }
    return done;
}

struct stage_load {
    double us;
    uint32_t rank, n; /* its first rank, and how many */
};

/* Computing of stages: of each the lower median of its ranks, so that a slow rank is not an uneven stage. */
static bool judge_stages(struct judging *j)
{
    struct stage_load *const load = arena_take(j->v->mem, j->n_ranks + 1, sizeof *load);
    size_t n = 0, slowest = 0;
    double sum = 0;
    if (!load)
        return false;
    for (size_t set = 0; j->has_stages && set < j->n_sets; set++) {
        const bool is_single = set + 1 == j->n_sets; /* stages of one rank */
        for (uint32_t from = j->first[set], end; from < j->first[set + 1]; from = end) {
            size_t k = 0;
            end = is_single ? from + 1 : j->first[set + 1];
            for (uint32_t i = from; i < end; i++)
                if (!isnan(j->usual_us[PART_COMPUTING][j->order[i]]))
                    j->scratch[k++] = j->usual_us[PART_COMPUTING][j->order[i]];
            const uint32_t rank = j->order[from];
            if (k > 0 && j->excess_us[PART_COMPUTING][rank] <= 0)
                load[n++] = (struct stage_load){ lower_median(j->scratch, k), rank, end - from };
        }
    }
    for (size_t i = 0; i < n; i++) {
        sum += load[i].us;
        slowest = load[i].us > load[slowest].us ? i : slowest;
    }
    if (n < 2 || load[slowest].us - sum / (double)n <= STAGE_SHARE * sum / (double)n)
        return true;
    const double mean = sum / (double)n, others = (sum - load[slowest].us) / (double)(n - 1);
    char text[300], us[32], usual[32], bubble[32];
    const long long rank = (long long)j->v->ranks.at[load[slowest].rank].rank;
    snprintf(
        text, sizeof text,
        "stages are uneven: that of rank %lld computes %.0f %% longer than the mean of all %zu (%s instead of %s%s); each of "
        "the others waits %s for it",
        rank, 100 * (load[slowest].us / mean - 1), n, us_text(us, load[slowest].us), us_text(usual, mean), of_steps(j),
        us_text(bubble, load[slowest].us - others));
    return verdict_add(j->out, &(struct verdict){ .kind = VERDICT_STAGES,
                                                  .text = text,
                                                  .rank = rank,
                                                  .other = -1,
                                                  .ratio = load[slowest].us / mean,
                                                  .ms = (load[slowest].us - others) / 1000 });
}

/* Ranks that have other steps than most. */
static bool judge_counts(struct judging *j)
{
    size_t n_shown = 0;
    for (size_t i = 0; i < j->n_ranks; i++)
        j->scratch[i] = j->v->ranks.at[i].n_steps;
    const double usual = lower_median(j->scratch, j->n_ranks);
    bool done = true;
    for (size_t i = 0; done && i < j->n_ranks; i++) {
        const struct stepped_rank *const r = &j->v->ranks.at[i];
        char text[120];
        if ((double)r->n_steps == usual || n_shown++ >= SHOWN)
            continue;
        snprintf(text, sizeof text, "rank %lld has %u steps, most ranks have %.0f; only its own steps are compared",
                 (long long)r->rank, r->n_steps, usual);
        done =
            verdict_add(j->out, &(struct verdict){ .kind = VERDICT_STEPS, .text = text, .rank = r->rank, .other = -1 });
    }
    return done;
}

bool step_verdicts_finish(struct step_verdicts *v, const struct groups *g, const struct collective_match *m,
                          struct job_report *out)
{
    struct judging j = { .v = v, .out = out, .n_ranks = v->ranks.n, .n_steps = v->steps.key.n };
    return fill(&j) && find_sets(&j, g) && find_waits(&j, m) && judge_counts(&j) && judge_ranks(&j, PART_COMPUTING) &&
           judge_ranks_in_steps(&j, PART_COMPUTING) && judge_ranks(&j, PART_FREE) &&
           judge_ranks_in_steps(&j, PART_FREE) && judge_steps(&j) && judge_stages(&j);
}
