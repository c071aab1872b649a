/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/steps/judge_ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/framework/steps/judge_series.h"
#include "base/process/robust.h"

/* The part of the errors that comparisons of ranks may use. */
static const double OF_RANKS = 0.3;
/* What uneven work is worth saying: of a step. */
static const double LEAST_UNEVEN = 0.1;

/* ---- ranks ----------------------------------------------------------------------------------------------------- */

struct rank_time {
    double ns;
    uint32_t rank, peers;
};

static int by_peers_and_time(const void *a, const void *b)
{
    const struct rank_time *x = a, *y = b;
    if (x->peers != y->peers)
        return x->peers < y->peers ? -1 : 1;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

/* The median of sorted times without the one at `own`. */
static double median_without(const struct rank_time *v, size_t n, size_t own)
{
    const size_t low = (n - 2) / 2, high = (n - 1) / 2;
    return (v[low + (low >= own)].ns + v[high + (high >= own)].ns) / 2;
}

/* By rank and step: a time of a rank minus the median of its peers in that step. NAN: it has none, or no peer. */
static bool differences_find(struct judging *j, const int64_t *of_rank, double *out)
{
    const struct judge_table *t = j->t;
    struct rank_time *v = arena_take(j->spare, t->n_ranks, sizeof *v);
    for (size_t i = 0; i < t->n_steps && v; i++) {
        size_t n = 0;
        for (uint32_t r = 0; r < t->n_ranks; r++) {
            const size_t at = r * t->n_steps + i;
            out[at] = NAN;
            if (t->time_ns[at] >= 0)
                v[n++] = (struct rank_time){ (double)of_rank[at], r, t->peers ? t->peers[r] : 0 };
        }
        qsort(v, n, sizeof *v, by_peers_and_time);
        for (size_t first = 0, end; first < n; first = end) {
            for (end = first; end < n && v[end].peers == v[first].peers; end++)
                ;
            for (size_t k = first; end - first > 1 && k < end; k++)
                out[v[k].rank * t->n_steps + i] = v[k].ns - median_without(v + first, end - first, k - first);
        }
    }
    return v != NULL;
}

/* How much longer a rank takes than its peers in each step, and how sure that is: above 1 it is no noise. */
struct rank_effect {
    double ns, noise_ns, sure;
    double least_ns;          /* in any of the steps */
    double rho;               /* autocorrelation, if it is sure */
    double squares, products; /* around the mean: of steps, and of a step and the one before */
    size_t n;
};

static struct rank_effect effect_of(struct judging *j, const double *difference)
{
    const double normal_tail = 0.00135; /* beyond three deviations; few numbers hardly know theirs */
    struct rank_effect e = { 0 };
    double *const v = j->scratch;
    for (size_t i = j->out->n_startup; i < j->t->n_steps; i++)
        if (!isnan(difference[i])) {
            j->sorted[e.n] = difference[i];
            v[e.n++] = difference[i];
        }
    if (e.n == 0)
        return e;
    /* A few wild steps are brought near: they neither make a slow rank nor hide one. */
    const struct middle middle = middle_of(j->sorted, e.n);
    const double far = later(middle.deviation * student_bound(normal_tail, later((double)e.n - 1, 1)), least_noise(j));
    for (size_t i = 0; i < e.n; i++)
        v[i] = fmin(fmax(v[i], middle.median - far), middle.median + far);
    double mean = 0;
    for (size_t i = 0; i < e.n; i++)
        mean += v[i] / (double)e.n;
    for (size_t i = 0; i < e.n; i++) {
        e.squares += (v[i] - mean) * (v[i] - mean);
        e.products += i > 0 ? (v[i] - mean) * (v[i - 1] - mean) : 0;
    }
    e.rho = sure_autocorrelation(v, e.n);
    qsort(v, e.n, sizeof *v, by_falling_number);
    e.ns = middle.median;
    e.least_ns = v[e.n - 1];
    e.noise_ns = later(spread_above(v, e.n), least_noise(j));
    return e;
}

/* What the steps of ranks that do the same have in common. */
struct shared_noise {
    double ns, rho; /* the median of their noise; their autocorrelation */
    double before;  /* steps that this counts as if it had been seen in, beside those of a rank */
};

/* Of two ranks the other one shows the same difference again. */
static struct shared_noise noise_share(struct judging *j, const struct rank_effect *e, const struct rank_time *peer,
                                       size_t n)
{
    enum { OF_A_RANK = 2, MOST = 8 };
    double squares = 0, products = 0, steps = 0;
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        const struct rank_effect *const x = &e[peer[i].rank];
        squares += x->squares;
        products += x->products;
        steps += (double)x->n;
        if (x->n > 1)
            j->scratch[k++] = x->noise_ns;
    }
    if (k < 3)
        return (struct shared_noise){ 0 };
    return (struct shared_noise){ .ns = middle_of(j->scratch, k).median,
                                  .rho = squares > 0 ? autocorrelation_of(products / squares, steps / (double)n) : 0,
                                  .before = fmin(OF_A_RANK * (double)(k - 2), MOST) };
}

/* A few steps hardly show their noise, nor how much they depend on each other; those of the other ranks do. */
static double effect_sure(const struct judging *j, const struct rank_effect *x, const struct shared_noise *shared)
{
    const double effective = later(1, independent_number((double)x->n, later(shared->rho, x->rho))),
                 freedom = later(effective, fmin((double)x->n, DEPENDENT)) - 1, all = shared->before + freedom,
                 noise = sqrt((shared->before * shared->ns * shared->ns + freedom * x->noise_ns * x->noise_ns) / all);
    /* the error of a median is a quarter more than that of a mean */
    return x->ns / (1.2533 * noise / sqrt(effective) * student_bound(FALSE_RUNS * OF_RANKS / j->n_series, all));
}

/* Ranks differ a little in each step, too: one that stands out of many has to do so by more than these do. Without a
 * second step nothing else is known: then it is by a tenth of two ranks, and by a twentieth of more. With two, both of
 * them have to stand out of the other ranks, which vary by at least what ranks usually do, seen in so many more. */
static bool effects_compare(struct judging *j, struct rank_effect *e, size_t n_ranks)
{
    enum { FEWEST_RANKS = 5, DEVIATIONS = 5, EXACT = 256 }; /* of more ranks one does not move the median */
    const struct judge_table *t = j->t;
    const double pair = 0.1, among_many = 0.05, usual_spread = 0.05, seen_before = 4;
    struct rank_time *v = arena_take(j->spare, n_ranks, sizeof *v);
    for (uint32_t r = 0; v && r < n_ranks; r++)
        v[r] = (struct rank_time){ e[r].ns, r, t->peers ? t->peers[r] : 0 };
    if (v)
        qsort(v, n_ranks, sizeof *v, by_peers_and_time);
    for (size_t first = 0, end; v && first < n_ranks; first = end) {
        struct middle others = { 0 };
        for (end = first; end < n_ranks && v[end].peers == v[first].peers; end++)
            ;
        const struct shared_noise shared = noise_share(j, e, v + first, end - first);
        for (size_t i = first; i < end; i++) {
            struct rank_effect *own = &e[v[i].rank];
            const bool is_exact = end - first <= EXACT;
            size_t n = 0;
            for (size_t k = first; (is_exact || i == first) && k < end; k++)
                if ((k != i || !is_exact) && e[v[k].rank].n > 0)
                    j->scratch[n++] = v[k].ns;
            others = is_exact || i == first ? middle_of(j->scratch, n) : others;
            n = end - first - 1;
            if (own->n > 1 && n > 0)
                own->sure = effect_sure(j, own, &shared);
            const double far = later(DEVIATIONS * others.deviation, (n < 2 ? pair : among_many) * j->out->usual_ns);
            const double seen = seen_before * pow(usual_spread * j->out->usual_ns, 2),
                         spread = sqrt((seen + (double)n * pow(others.deviation, 2)) / (seen_before + (double)n));
            if (own->n == 1)
                own->sure = n > 0 ? own->ns / far : 0;
            else if (n + 1 >= FEWEST_RANKS && own->ns < DEVIATIONS * others.deviation)
                own->sure = 0;
            else if (own->n == 2 && n > 1)
                own->sure = later(own->sure, own->least_ns / (DEVIATIONS * spread));
        }
    }
    return v != NULL;
}

/* The rank whose effect is in the middle of its peers'. */
static uint32_t middle_rank(struct judging *j, const struct rank_effect *e, uint32_t rank)
{
    const struct judge_table *t = j->t;
    size_t n = 0;
    uint32_t best = JUDGE_ALL;
    for (uint32_t k = 0; k < t->n_ranks; k++)
        if (k != rank && e[k].n > 0 && (!t->peers || t->peers[k] == t->peers[rank]))
            j->scratch[n++] = e[k].ns;
    const double middle = lower_median(j->scratch, n);
    for (uint32_t k = 0; k < t->n_ranks && best == JUDGE_ALL; k++)
        if (k != rank && e[k].n > 0 && (!t->peers || t->peers[k] == t->peers[rank]) && e[k].ns == middle)
            best = k;
    return best;
}

/* Ranks that take longer in each step: by what they take without waiting, or by one part of it. */
static bool slow_ranks_find(struct judging *j, const struct rank_effect *own, const struct rank_effect *e,
                            uint32_t part)
{
    const struct judge_table *t = j->t;
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        if (e[r].sure <= 1 || own[r].ns < e[r].ns / 2)
            continue;
        struct slow f = { .shape = SLOW_ALWAYS,
                          .rank = r,
                          .part = part,
                          .peer = middle_rank(j, own, r),
                          .first = (uint32_t)j->out->n_startup,
                          .last = (uint32_t)t->n_steps - 1,
                          .n = (uint32_t)e[r].n,
                          .excess_ns = fmin(own[r].ns, e[r].ns), /* what is sure of a part is not so of the rest */
                          .lost_ns = fmin(own[r].ns, e[r].ns) * (double)e[r].n,
                          .noise_ns = own[r].noise_ns };
        f.share = j->sum_ns > 0 ? f.lost_ns / j->sum_ns : 0;
        struct slow *same = NULL;
        for (size_t i = 0; i < j->found.n; i++)
            if (j->found.at[i].shape == SLOW_ALWAYS && j->found.at[i].rank == r)
                same = &j->found.at[i];
        if (same && (same->part == JUDGE_ALL || e[r].ns > e[r].noise_ns)) {
            same->part = same->part == JUDGE_ALL && e[r].ns >= own[r].ns / 4 ? part : same->part;
            continue;
        }
        struct slow *new = !same &&f.share >= LEAST_OF_RUN ? list_add(&j->found, j->spare) : NULL;
        if (new)
            *new = f;
        if (!new && !same && f.share >= LEAST_OF_RUN)
            return false;
    }
    return true;
}

/* Uneven work: in each step another rank takes longest. The noise of equal ranks makes one the slowest, too. */
static bool uneven_find(struct judging *j, const struct rank_effect *e)
{
    const struct judge_table *t = j->t;
    const double SURE = 2.33, stands_out = 2, wide = 0.15,
                 of_one = 2.0 / 3; /* of_one: then that rank is late, and no turns are taken */
    double gain = 0, expected = 0, *off = arena_take(j->spare, t->n_steps * t->n_ranks, sizeof *off);
    double *all = arena_take(j->spare, t->n_ranks, sizeof *all),
           *gains = arena_take(j->spare, t->n_steps, sizeof *gains),
           *of_rank = arena_take(j->spare, t->n_ranks, sizeof *of_rank);
    size_t n_steps = 0, n_off = 0;
    if (!off || !all || !gains || !of_rank)
        return false;
    for (size_t i = j->out->n_startup; i < t->n_steps; i++) {
        double most = -INFINITY, sum = 0;
        size_t n = 0, slowest = 0;
        for (size_t r = 0; r < t->n_ranks; r++) {
            const size_t at = r * t->n_steps + i;
            if (t->time_ns[at] < 0 || (t->peers && t->peers[r] != t->peers[0]))
                continue;
            all[n++] = (double)t->own_ns[at] - (e[r].sure > 1 ? e[r].ns : 0);
            sum += all[n - 1];
            slowest = all[n - 1] > most ? r : slowest;
            most = later(most, all[n - 1]);
        }
        if (n < 2)
            continue;
        const double mean = sum / (double)n;
        for (size_t r = 0; r < n; r++)
            off[n_off++] = all[r] - mean;
        gain += most - mean;
        of_rank[slowest] += most - mean;
        gains[n_steps] = most - mean;
        expected += normal_bound(0.5 / (double)n) * 0.8; /* nearly the mean of the largest of n normal numbers */
        n_steps++;
    }
    if (n_steps < FEWEST_TO_JUDGE)
        return true;
    for (size_t r = 0; r < t->n_ranks; r++)
        if (of_rank[r] > of_one * gain)
            return true;
    gain /= (double)n_steps;
    const double noise = middle_of(off, n_off).deviation;
    /* how well so few numbers show their deviation; in each step one of them follows from the others */
    const double unsure = 1 + SURE * 1.17 / sqrt(later(1, (double)(n_off - n_steps)));
    const double usual_gain = middle_of(gains, n_steps).median; /* a few bad steps do not make uneven work */
    const bool is_uneven = usual_gain >= LEAST_UNEVEN * j->out->usual_ns &&
                           (usual_gain >= stands_out * unsure * noise * expected / (double)n_steps ||
                            noise >= unsure * wide * j->out->usual_ns);
    struct slow *new = is_uneven ? list_add(&j->found, j->spare) : NULL;
    if (new)
        *new = (struct slow){ .shape = SLOW_IN_TURNS,
                              .rank = JUDGE_ALL,
                              .peer = JUDGE_ALL,
                              .part = JUDGE_ALL,
                              .first = (uint32_t)j->out->n_startup,
                              .last = (uint32_t)t->n_steps - 1,
                              .n = (uint32_t)n_steps,
                              .excess_ns = gain,
                              .lost_ns = gain * (double)n_steps,
                              .share = j->sum_ns > 0 ? gain * (double)n_steps / j->sum_ns : 0,
                              .noise_ns = noise };
    return new || !is_uneven;
}

static bool has_uneven(const struct judging *j)
{
    for (size_t i = 0; i < j->found.n; i++)
        if (j->found.at[i].shape == SLOW_IN_TURNS)
            return true;
    return false;
}

/* Which rank causes a finding about all of them: the one that grew most against its peers, if that is at least half of
 * the excess. */
static void findings_assign(struct judging *j, const double *difference)
{
    const struct judge_table *t = j->t;
    for (size_t i = 0; i < j->found.n; i++) {
        struct slow *f = &j->found.at[i];
        double most = f->excess_ns / 2;
        if (f->rank != JUDGE_ALL || f->shape >= SLOW_ALWAYS || f->shape == SLOW_DRIFT)
            continue;
        for (uint32_t s = 0; s < t->n_steps; s++)
            j->is_in[s] = slow_concerns(j, f, s);
        for (uint32_t r = 0; r < t->n_ranks; r++) {
            const double more = judging_excess(j, difference + r * t->n_steps);
            if (more > most) {
                most = more;
                f->rank = r;
            }
        }
    }
}

/* A part in which ranks wait says nothing about the rank that causes a finding: what grew on that rank does. Changes
 * `of_step`. */
static void parts_assign(struct judging *j, double *of_step)
{
    const struct judge_table *t = j->t;
    for (size_t i = 0; i < j->found.n; i++) {
        struct slow *f = &j->found.at[i];
        if (f->rank == JUDGE_ALL || f->part == JUDGE_ALL || !(t->waiting_parts >> f->part & 1))
            continue;
        double most = f->excess_ns / 4;
        f->part = JUDGE_ALL;
        for (uint32_t s = 0; s < t->n_steps; s++)
            j->is_in[s] = slow_concerns(j, f, s);
        for (uint32_t p = 0; p < t->n_parts; p++) {
            for (size_t s = 0; s < t->n_steps; s++) {
                const size_t at = f->rank * t->n_steps + s;
                of_step[s] = t->time_ns[at] < 0 ? NAN : (double)t->part_ns[p][at];
            }
            const double more = t->waiting_parts >> p & 1 ? 0 : judging_excess(j, of_step);
            if (more > most) {
                most = more;
                f->part = p;
            }
        }
    }
}

bool ranks_look(struct judging *j, struct judge_one_series *s, uint32_t n_classes)
{
    const struct judge_table *t = j->t;
    const size_t n = t->n_steps * t->n_ranks;
    double *own_difference = arena_take(j->spare, n, sizeof *own_difference);
    double *difference = arena_take(j->spare, n, sizeof *difference);
    struct rank_effect *own = arena_take(j->spare, t->n_ranks, sizeof *own),
                       *e = arena_take(j->spare, t->n_ranks, sizeof *e);
    bool done = own_difference && difference && own && e;
    for (uint32_t k = 0; done && k <= t->n_parts; k++) { /* first the whole, then its parts */
        const uint32_t part = k == 0 ? JUDGE_ALL : k - 1;
        if (k > 0 && t->waiting_parts >> part & 1)
            continue;
        double *d = k == 0 ? own_difference : difference;
        struct rank_effect *effect = k == 0 ? own : e;
        done = differences_find(j, k == 0 ? t->own_ns : t->part_ns[part], d);
        for (size_t r = 0; done && r < t->n_ranks; r++)
            effect[r] = effect_of(j, d + r * t->n_steps);
        done = done && effects_compare(j, effect, t->n_ranks) && slow_ranks_find(j, own, effect, part);
        if (k == 0)
            done = done && uneven_find(j, own);
        for (uint32_t r = 0; done && r < t->n_ranks && !has_uneven(j); r++) {
            s->rank = r;
            s->part = part;
            done = series_look(j, s, d + r * t->n_steps, n_classes);
        }
    }
    if (done) {
        findings_assign(j, own_difference);
        parts_assign(j, difference);
    }
    return done;
}
