/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/step_verdicts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "cluster/rank_stages.h"
#include "cluster/rank_waits.h"
#include "base/robust.h"
#include "profile/calls.h"

enum { SHOWN = 6, LEAST_STEPS = 3 };

/* Limits; docs/cluster.md explains them. */
static const double RANK_SHARE = 0.05, PAIR_SHARE = 0.1; /* of what the peers take; of what the only peer takes */
static const double STEP_SHARE = 0.1, STAGE_SHARE = 0.1;
static const double LEAST_OF_STEP = 0.01; /* of the step: less is not worth a line */
static const double DEVIATIONS = 5;

/* The row of a step in the steps of its rank; their number: it is not there. */
static uint32_t row_of(const struct rank_steps *s, name_id step, struct names *names)
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

/* In text results the time before the first kernel of a step is free time of the step before. */
static void idle_by_text(const struct rank_step_trace *t, double *us)
{
    for (size_t i = 0; i < t->n; i++) {
        const double leads = t->us[STEP_COLUMN_PREPARING][i], before = i > 0 ? fmin(leads, us[i - 1]) : leads;
        us[i] += before;
        if (i > 0)
            us[i - 1] -= before;
    }
}

/* How long the device had nothing to do, by row of the times of its steps. */
static double *idle_of_steps(const struct rank_summary *s)
{
    const struct rank_step_trace *const t = summary_step_times(s);
    double *const us = arena_take(s->mem, t->n + 1, sizeof *us);
    if (us && t->n > 0)
        memcpy(us, t->us[STEP_COLUMN_FREE], t->n * sizeof *us);
    if (us && t == &s->step_trace && s->steps.n == 0)
        idle_by_text(t, us);
    return us;
}

bool step_verdicts_add(struct step_verdicts *v, const struct rank_summary *s, const struct cluster_options *o)
{
    const struct rank_step_trace *const t = summary_step_times(s);
    struct stepped_rank *const rank = list_add(&v->ranks, v->mem);
    const double *const idle_us = idle_of_steps(s);
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%lld", (long long)o->step);
    if (!rank || !idle_us)
        return false;
    v->has_device |= s->own_steps.n == 0 || s->kernels.n + s->collectives.ops.n > 0;
    *rank = (struct stepped_rank){ .rank = s->identity.rank,
                                   .n_kernels = s->kernels.n ? s->kernels.first[s->kernels.n] : 0,
                                   .n_recorded_steps = (uint32_t)t->n };
    for (size_t i = 0; i < t->n; i++) {
        if (o->has_step && strcmp(names_text(v->names, t->step[i]), wanted) != 0)
            continue;
        const uint32_t step = keys_add(&v->steps, t->step[i], v->mem);
        struct step_value *const row = list_add(&v->rows, v->mem);
        if (step == KEYS_NO_MEMORY || !row)
            return false;
        rank->n_steps++;
        *row =
            (struct step_value){ .rank = (uint32_t)v->ranks.n - 1,
                                 .step = step,
                                 .us = { t->us[STEP_COLUMN_COMPUTING][i], t->us[STEP_COLUMN_EXPOSED][i], idle_us[i] },
                                 .n_kernels = kernels_in(s, t->step[i], row_of(&s->steps, t->step[i], v->names)) };
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

/* The values of all ranks and steps as a table, and which ranks are compared with which. */
struct judging {
    struct step_verdicts *v;
    struct job_report *out;
    size_t n_ranks, n_steps;
    double *us[STEP_PARTS];       /* by rank and step; NAN: the rank does not have the step */
    double *n_kernels;            /* by rank and step */
    double *usual_us[STEP_PARTS]; /* by rank: the lower median of its steps; NAN: it has none */
    double *excess_us
        [STEP_PARTS];        /* by rank: by how much that exceeds the median of its peers; 0: by less than the limit */
    uint32_t *set;           /* by rank: the number of its set of peers */
    uint32_t *order, *first; /* ranks by set; where each set begins */
    size_t n_sets;
    bool has_stages;    /* all sets but the last one are stages; the last one has the ranks of single-rank stages */
    double *longest_us; /* by step: of its longest rank */
    bool *is_explained; /* by step: a single rank causes at least half of its excess */
    double step_us;     /* the median step */
    double *scratch;
    struct rank_waits waits;
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
    j->n_kernels = arena_take(mem, n + 1, sizeof *j->n_kernels);
    j->longest_us = arena_take(mem, j->n_steps + 1, sizeof *j->longest_us);
    j->is_explained = arena_take(mem, j->n_steps + 1, sizeof *j->is_explained);
    j->scratch = arena_take(mem, j->n_ranks + j->n_steps + 1, sizeof *j->scratch);
    if (arena_failed(mem))
        return false;
    for (size_t i = 0; i < v->rows.n; i++) {
        const struct step_value *const r = &v->rows.at[i];
        for (size_t p = 0; p < STEP_PARTS; p++)
            j->us[p][r->rank * j->n_steps + r->step] = r->us[p];
        j->n_kernels[r->rank * j->n_steps + r->step] = (double)r->n_kernels;
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

/* Sets of peers: one for each stage with more than one rank, and one for all other ranks. */
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

/* Without steps all that was recorded counts as one, whose name is empty. */
static bool has_no_steps(const struct judging *j)
{
    return j->n_steps == 1 && j->v->steps.key.at[0] == NAME_EMPTY;
}

/* How long the others wait for a rank in a step; NO_ROW: in its usual step. */
static double waited_us(const struct judging *j, uint32_t rank, uint32_t step)
{
    const uint32_t n_own = j->v->ranks.at[rank].n_steps; /* a text may name a step twice */
    return step == NO_ROW ? rank_waits_usual_us(&j->waits, rank, n_own < j->n_steps ? n_own : j->n_steps, j->scratch)
                          : rank_waits_step_us(&j->waits, rank, step);
}

/* What the ranks of a set take. */
struct peers {
    size_t n;         /* ranks with a value */
    uint32_t rank[2]; /* the first two of them */
    double sum;
    struct middle middle;
};

/* A rank that takes longer than its peers, in one step or in all. */
struct suspect {
    uint32_t rank, step; /* step: NO_ROW: in all */
    double us, excess_us;
    struct peers peers;
};

static int by_excess(const void *a, const void *b)
{
    const struct suspect *x = a, *y = b;
    if (x->excess_us != y->excess_us)
        return x->excess_us < y->excess_us ? 1 : -1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static const char *peers_text(const struct judging *j, const struct suspect *s, char out[80])
{
    const size_t n = s->peers.n, set = j->set[s->rank];
    if (n == 2)
        snprintf(out, 80, "rank %lld", (long long)j->v->ranks.at[s->peers.rank[s->peers.rank[0] == s->rank]].rank);
    else if (n == j->n_ranks)
        snprintf(out, 80, "the median of all %zu ranks", n);
    else if (j->has_stages && set + 1 < j->n_sets)
        snprintf(out, 80, "the median of the %zu ranks of its stage", n);
    else
        snprintf(out, 80, "the median of %zu ranks", n);
    return out;
}

/* The kernels of a rank in a step, or in the mean of its steps; 0: unknown. */
static double kernels_of(const struct judging *j, uint32_t rank, uint32_t step)
{
    const struct stepped_rank *const r = &j->v->ranks.at[rank];
    if (step == NO_ROW && j->n_steps == 1) /* --step N, or nothing else was recorded */
        step = 0;
    if (step != NO_ROW)
        return j->n_kernels[rank * j->n_steps + step];
    return r->n_recorded_steps > 0 ? (double)r->n_kernels / r->n_recorded_steps : 0;
}

/* Whether a rank has more to do than its peers, or takes longer for the same: its share of additional kernels; NAN: unknown. */
static double more_kernels(const struct judging *j, uint32_t rank, uint32_t step)
{
    const uint32_t set = j->set[rank];
    const double own = kernels_of(j, rank, step);
    size_t n = 0;
    for (uint32_t i = j->first[set]; i < j->first[set + 1]; i++) {
        const double other = j->order[i] == rank ? 0 : kernels_of(j, j->order[i], step);
        if (other > 0)
            j->scratch[n++] = other;
    }
    const double usual = middle_of(j->scratch, n).median;
    return usual > 0 && own > 0 ? own / usual - 1 : NAN;
}

static const char *step_name(const struct judging *j, uint32_t step)
{
    return names_text(j->v->names, (name_id)j->v->steps.key.at[step]);
}

/* What a time is of: " in step 3", " a step", or " in all" that was recorded. */
static const char *of_steps(const struct judging *j, uint32_t step, char out[80])
{
    if (step == NO_ROW && j->n_steps > 1)
        return " a step";
    if (has_no_steps(j))
        return " in all";
    snprintf(out, 80, " in step %.60s", step_name(j, step == NO_ROW ? 0 : step));
    return out;
}

static bool accuse(struct judging *j, const struct suspect *s, enum step_part part)
{
    char us[32], usual[32], waits[32], peers[80], step[80], work[100] = "", others[160] = "", text[600];
    const double wait = waited_us(j, s->rank, s->step), more = more_kernels(j, s->rank, s->step),
                 usual_us = s->peers.middle.median;
    const long long rank = (long long)j->v->ranks.at[s->rank].rank;
    const char *const in_step = of_steps(j, s->step, step), *const does = j->v->has_device ? "computes" : "works";
    if (part == PART_COMPUTING && more > RANK_SHARE)
        snprintf(work, sizeof work, ", with %.0f %% more kernels", 100 * more);
    else if (part == PART_COMPUTING && more > -RANK_SHARE)
        snprintf(work, sizeof work, ", with as many kernels");
    if (wait > 0)
        snprintf(others, sizeof others, "; %sthe others wait %s%s for it",
                 j->waits.has_p2p[s->rank] ? "in collectives " : "", us_text(waits, wait), in_step);
    peers_text(j, s, peers);
    if (part == PART_FREE)
        snprintf(text, sizeof text, "host of rank %lld is late: its device is idle %s%s, %s longer than %s%s", rank,
                 us_text(us, s->us), in_step, us_text(usual, s->us - usual_us), peers, others);
    else if (usual_us > 0)
        snprintf(text, sizeof text, "rank %lld %s %.0f %% longer than %s (%s instead of %s%s%s)%s", rank, does,
                 100 * (s->us - usual_us) / usual_us, peers, us_text(us, s->us), us_text(usual, usual_us), in_step,
                 work, others);
    else
        snprintf(text, sizeof text, "rank %lld %s %s%s, %s nothing%s", rank, does, us_text(us, s->us), in_step, peers,
                 others);
    return verdict_add(j->out,
                       &(struct verdict){ .kind = part == PART_COMPUTING ? VERDICT_SLOW_RANK : VERDICT_LATE_HOST,
                                          .text = text,
                                          .rank = rank,
                                          .other = -1,
                                          .step = s->step == NO_ROW ? NULL : step_name(j, s->step),
                                          .ratio = usual_us > 0 ? s->us / usual_us : 0,
                                          .ms = wait / 1000 });
}

/* What the ranks of a set take in a step; NO_ROW: usually. */
static struct peers peers_of(const struct judging *j, enum step_part part, size_t set, uint32_t step)
{
    struct peers p = { 0 };
    for (uint32_t i = j->first[set]; i < j->first[set + 1]; i++) {
        const uint32_t rank = j->order[i];
        const double us = step == NO_ROW ? j->usual_us[part][rank] : j->us[part][rank * j->n_steps + step];
        if (isnan(us))
            continue;
        if (p.n < sizeof p.rank / sizeof *p.rank)
            p.rank[p.n] = rank;
        j->scratch[p.n++] = us;
        p.sum += us;
    }
    p.middle = middle_of(j->scratch, p.n);
    return p;
}

/* The peers of one rank: with two ranks it is compared with the other one. */
static struct peers peers_but(const struct peers *p, double own)
{
    struct peers others = *p;
    if (p->n == 2)
        others.middle = (struct middle){ p->sum - own, 0 };
    return others;
}

/* By how much a rank has to exceed its peers to be conspicuous. */
static double limit_us(const struct judging *j, enum step_part part, const struct peers *of)
{
    const struct middle *const peers = &of->middle;
    const double share = of->n == 2 ? PAIR_SHARE : RANK_SHARE;
    const double least = part == PART_COMPUTING ? share * peers->median : share * j->step_us;
    return fmax(fmax(least, LEAST_OF_STEP * j->step_us), DEVIATIONS * peers->deviation);
}

/* What is not shown: other ranks, or other steps of ranks that are. */
static void more_text(char out[100], const struct suspect *s, size_t n, enum step_part part)
{
    const char *const one = part == PART_COMPUTING ? "computes longer than its peers" : "waits for its host",
                      *const many = part == PART_COMPUTING ? "compute longer than their peers" : "wait for their hosts";
    if (s->step != NO_ROW)
        snprintf(out, 100, "and %zu more time%s a rank %s in a step", n, n == 1 ? "" : "s", one);
    else
        snprintf(out, 100, "and %zu more %s %s", n, n == 1 ? "rank" : "ranks", n == 1 ? one : many);
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
        more_text(text, s, n - SHOWN, part);
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
            if (part == PART_COMPUTING && j->has_stages && set + 1 == j->n_sets &&
                more_kernels(j, rank, NO_ROW) > RANK_SHARE)
                continue; /* a stage of its own with more work: see judge_stages() */
            struct suspect *const new = list_add(&found, j->v->mem);
            if (!new)
                return false;
            j->excess_us[part][rank] = own - peers.middle.median;
            *new = (struct suspect){ rank, NO_ROW, own, own - peers.middle.median, peers };
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
    *out = (struct suspect){ rank, step, own, excess, peers };
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

/* What grew most in a step, and by how much at least on half of the ranks. */
static enum step_part grown_part(const struct judging *j, uint32_t step, double *grown_us)
{
    enum step_part most = PART_COMPUTING;
    *grown_us = -INFINITY;
    for (enum step_part part = 0; part < STEP_PARTS; part++) {
        size_t n = 0;
        for (uint32_t rank = 0; rank < j->n_ranks; rank++)
            if (!isnan(j->us[part][rank * j->n_steps + step]))
                j->scratch[n++] = j->us[part][rank * j->n_steps + step] - j->usual_us[part][rank];
        const double grown = upper_median(j->scratch, n);
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
    for (uint32_t s = 0; n >= LEAST_STEPS && steps.median > 0 && done && s < n; s++) {
        const double us = j->longest_us[s];
        char text[400], own[32], usual[32], grown[32];
        double grown_us;
        if (us - steps.median <= limit || j->is_explained[s])
            continue;
        const enum step_part part = grown_part(j, s, &grown_us);
        if (s == 0 && part == PART_FREE)
            continue; /* hosts start up */
        if (grown_us < (us - steps.median) / 2 || n_shown++ >= SHOWN)
            continue; /* the step is slow on few ranks, for which the others wait */
        const char *const name = step_name(j, s);
        snprintf(text, sizeof text,
                 "step %.60s takes %s, %.2f times the median step (%s); half of the ranks have at least %s more %s",
                 name, us_text(own, us), us / steps.median, us_text(usual, steps.median), us_text(grown, grown_us),
                 part == PART_COMPUTING && !j->v->has_device ? "work" : text_of[part]);
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
    uint32_t rank; /* the first rank of the stage */
};

/* Compares the computing of stages. A stage counts as the lower median of its ranks, so that a slow rank does not make an uneven stage. */
static bool judge_stages(struct judging *j)
{
    struct stage_load *const load = arena_take(j->v->mem, j->n_ranks + 1, sizeof *load);
    size_t n = 0, slowest = 0;
    double sum = 0;
    if (!load)
        return false;
    for (size_t set = 0; j->has_stages && set < j->n_sets; set++) {
        const bool is_single = set + 1 == j->n_sets; /* each rank of this set is a stage */
        for (uint32_t from = j->first[set], end; from < j->first[set + 1]; from = end) {
            size_t k = 0;
            end = is_single ? from + 1 : j->first[set + 1];
            for (uint32_t i = from; i < end; i++)
                if (!isnan(j->usual_us[PART_COMPUTING][j->order[i]]))
                    j->scratch[k++] = j->usual_us[PART_COMPUTING][j->order[i]];
            const uint32_t rank = j->order[from];
            const bool is_slow_rank = is_single && j->excess_us[PART_COMPUTING][rank] > 0;
            if (k > 0 && !is_slow_rank)
                load[n++] = (struct stage_load){ lower_median(j->scratch, k), rank };
        }
    }
    for (size_t i = 0; i < n; i++) {
        sum += load[i].us;
        slowest = load[i].us > load[slowest].us ? i : slowest;
    }
    if (n < 2 || load[slowest].us - sum / (double)n <= STAGE_SHARE * sum / (double)n)
        return true;
    const double mean = sum / (double)n, others = (sum - load[slowest].us) / (double)(n - 1);
    char text[300], us[32], usual[32], less[32], step[80];
    const long long rank = (long long)j->v->ranks.at[load[slowest].rank].rank;
    snprintf(
        text, sizeof text,
        "stages are uneven: that of rank %lld computes %.0f %% longer than the mean of all %zu (%s instead of %s%s); the "
        "others compute %s less, on average",
        rank, 100 * (load[slowest].us / mean - 1), n, us_text(us, load[slowest].us), us_text(usual, mean),
        of_steps(j, NO_ROW, step), us_text(less, load[slowest].us - others));
    return verdict_add(j->out, &(struct verdict){ .kind = VERDICT_STAGES,
                                                  .text = text,
                                                  .rank = rank,
                                                  .other = -1,
                                                  .ratio = load[slowest].us / mean,
                                                  .ms = (load[slowest].us - others) / 1000 });
}

/* The number of steps that more than half of the ranks have; 0: there is none. */
static uint32_t usual_count(const struct judging *j)
{
    size_t n_same = 0;
    for (size_t i = 0; i < j->n_ranks; i++)
        j->scratch[i] = j->v->ranks.at[i].n_steps;
    const double middle = lower_median(j->scratch, j->n_ranks); /* a majority includes it */
    for (size_t i = 0; i < j->n_ranks; i++)
        n_same += (double)j->v->ranks.at[i].n_steps == middle;
    return n_same * 2 > j->n_ranks ? (uint32_t)middle : 0;
}

static bool has_step(const struct judging *j, size_t rank, uint32_t step)
{
    return !isnan(j->us[PART_COMPUTING][rank * j->n_steps + step]);
}

/* Steps of a rank that at most half of the ranks have; its first and its last step as numbers in v->steps. */
static uint32_t count_own(const struct judging *j, size_t rank, const uint32_t *n_ranks, uint32_t *first,
                          uint32_t *last)
{
    uint32_t n = 0;
    *first = *last = NO_ROW;
    for (uint32_t s = 0; s < j->n_steps; s++)
        if (has_step(j, rank, s)) {
            *first = *first == NO_ROW ? s : *first;
            *last = s;
            n += n_ranks[s] * 2 <= j->n_ranks;
        }
    return n;
}

/* Ranks with another number of steps than most, or with other ones. */
static bool judge_counts(struct judging *j)
{
    const uint32_t usual = usual_count(j);
    uint32_t *const n_ranks = arena_take(j->v->mem, j->n_steps + 1, sizeof *n_ranks); /* by step: that have it */
    size_t n_shown = 0;
    bool done = n_ranks != NULL;
    for (size_t i = 0; done && i < j->n_ranks; i++)
        for (uint32_t s = 0; s < j->n_steps; s++)
            n_ranks[s] += has_step(j, i, s);
    for (size_t i = 0; done && i < j->n_ranks; i++) {
        const struct stepped_rank *const r = &j->v->ranks.at[i];
        uint32_t first, last;
        const uint32_t n_own = count_own(j, i, n_ranks, &first, &last);
        char text[300], most[60];
        if ((r->n_steps == usual && n_own == 0) || n_shown++ >= SHOWN)
            continue;
        snprintf(most, sizeof most, usual > 0 ? "most ranks have %u" : "other ranks have other numbers of them", usual);
        if (r->n_steps == usual)
            snprintf(text, sizeof text,
                     "rank %lld: most ranks lack %u of its %u steps (%.60s to %.60s); only its own steps are compared",
                     (long long)r->rank, n_own, r->n_steps, step_name(j, first), step_name(j, last));
        else
            snprintf(text, sizeof text, "rank %lld has %u %s, %s; only its own steps are compared", (long long)r->rank,
                     r->n_steps, r->n_steps == 1 ? "step" : "steps", most);
        done =
            verdict_add(j->out, &(struct verdict){ .kind = VERDICT_STEPS, .text = text, .rank = r->rank, .other = -1 });
    }
    return done;
}

bool step_verdicts_finish(struct step_verdicts *v, const struct groups *g, const struct collective_match *m,
                          struct job_report *out)
{
    struct judging j = { .v = v, .out = out, .n_ranks = v->ranks.n, .n_steps = v->steps.key.n };
    size_t n_ranks = 0; /* that have steps */
    for (size_t i = 0; i < v->ranks.n; i++)
        n_ranks += v->ranks.at[i].n_steps > 0;
    out->has_compared |= n_ranks > 1 || j.n_steps >= LEAST_STEPS;
    return fill(&j) && find_sets(&j, g) && rank_waits_find(&j.waits, m, has_no_steps(&j) ? NULL : &v->steps, v->mem) &&
           judge_counts(&j) && judge_ranks(&j, PART_COMPUTING) && judge_ranks_in_steps(&j, PART_COMPUTING) &&
           judge_ranks(&j, PART_FREE) && judge_ranks_in_steps(&j, PART_FREE) && judge_steps(&j) && judge_stages(&j);
}
