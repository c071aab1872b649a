/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/steps/judging.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/process/robust.h"

/* By how much the largest numbers lie further out than normal ones if their tail is longer. */
static const double LONG_TAIL = 1.2;
/* What lies so many times further out than the largest of the others is no part of their tail. */
static const double FAR_OUT = 4;
/* Deviations from which an autocorrelation counts; a smaller one may be chance. */
static const double SURE_RHO = 2;

int by_falling_number(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

double judging_median(struct judging *j, const double *v, size_t n)
{
    if (n > 0)
        memcpy(j->scratch, v, n * sizeof *v);
    return middle_of(j->scratch, n).median;
}

/* ---- the noise ------------------------------------------------------------------------------------------------- */

double spread_above(const double *v, size_t n)
{
    const double median = n == 0 ? 0 : (v[(n - 1) / 2] + v[n / 2]) / 2;
    double above = 0, below = 0;
    for (size_t i = 0; i < n; i++)
        if (v[i] > median)
            above += v[i] - median;
        else
            below += median - v[i];
    /* The mean distance of normal numbers is 0.798 deviations. Around their own median few numbers are too near. */
    const double correct = n > 1 ? sqrt(M_PI / 2) * sqrt((double)n / ((double)n - 1)) : 0;
    return n == 0 ? 0 : correct * later((above + below) / (double)n, 2 * above / (double)n);
}

double noise_limit(const struct judging *j, const double *v, size_t n, double p, double effective, double usual_ns)
{
    const double USUAL_NOISE = 0.1, SEEN_BEFORE = 4, LEFT_OUT = 1.3;
    enum { FEWEST_OF_SPREAD = 10, FEWEST_OF_TAIL = 4, MOST_OF_TAIL = 50, OF_TAIL = 7 };
    const double median = n == 0 ? 0 : (v[(n - 1) / 2] + v[n / 2]) / 2, share = n > 0 ? effective / (double)n : 1;
    const double spread = later(spread_above(v, n), least_noise(j));
    double limit =
        median + spread * student_bound(p, later(0.6 * share * (double)n, fmin(0.6 * (double)n, DEPENDENT)) - 1);
    /* A few numbers hardly show their spread: with what steps usually vary by, seen in so many more, a large one is
     * none of them. */
    if (n > 0 && n < FEWEST_OF_SPREAD) {
        const double all = SEEN_BEFORE + (double)n, usual = USUAL_NOISE * usual_ns;
        const double mixed = sqrt((SEEN_BEFORE * usual * usual + (double)n * spread * spread) / all);
        limit = fmin(limit, median + mixed * student_bound(p, all - 1));
        if (n > 2) /* or by their own, which is too small where the largest are left out */
            limit = fmin(limit, median + LEFT_OUT * spread * student_bound(p, (double)n - 1));
    }
    /* Where the tail is longer than that of normal numbers: it falls as a power, as the largest numbers show. */
    size_t k = n / OF_TAIL < FEWEST_OF_TAIL ? FEWEST_OF_TAIL : n / OF_TAIL;
    k = k > MOST_OF_TAIL ? MOST_OF_TAIL : k;
    if (n > 2 * k) {
        double mean = 0, normal = 0;
        for (size_t i = 0; i < k; i++) {
            mean += (v[i] - v[k]) / (double)k;
            normal +=
                (normal_bound(((double)i + 0.6) / (double)n) - normal_bound(((double)k + 0.6) / (double)n)) / (double)k;
        }
        const double rarer = (double)k / (double)n / p;
        if (mean > LONG_TAIL * normal * spread)
            limit = later(limit, fmin(v[k] + mean * (double)k * expm1(log(later(rarer, 1)) / (double)k),
                                      median + FAR_OUT * (v[0] - median)));
    }
    return limit;
}

double sure_autocorrelation(const double *v, size_t n)
{
    const double rho = autocorrelation(v, n);
    return rho * sqrt((double)n) > SURE_RHO ? rho : 0;
}

/* ---- findings -------------------------------------------------------------------------------------------------- */

/* How much longer the marked steps take than the others, at the median. By step; NAN: not counted. */
double judging_excess(struct judging *j, const double *of_step)
{
    double middle[2];
    for (int in = 0; in < 2; in++) {
        size_t n = 0;
        for (size_t i = j->out->n_startup; i < j->t->n_steps; i++)
            if (j->is_in[i] == (in == 1) && !isnan(of_step[i]))
                j->scratch[n++] = of_step[i];
        middle[in] = middle_of(j->scratch, n).median;
    }
    return middle[1] - middle[0];
}

bool slow_contains(const struct slow *f, uint32_t row)
{
    if (row < f->first || row > f->last)
        return false;
    return f->shape != SLOW_PERIOD || (row - f->first) % f->period == 0;
}

bool slow_concerns(const struct judging *j, const struct slow *f, uint32_t row)
{
    return slow_contains(f, row) && (!j->t->class_of || (f->shape > SLOW_SINCE && f->shape != SLOW_PERIOD) ||
                                     j->t->class_of[row] == j->t->class_of[f->first]);
}

/* Whether all steps of one finding are among those of another one, which is about some steps. */
static bool is_within(const struct slow *few, const struct slow *many)
{
    size_t n = 0;
    for (uint32_t row = few->first; row <= few->last; row += few->shape == SLOW_PERIOD ? few->period : 1)
        n += slow_contains(many, row);
    return few->shape != SLOW_DRIFT && many->shape != SLOW_DRIFT && many->shape < SLOW_ALWAYS && n >= few->n && n > 0;
}

/* Whether two findings are about the same steps. */
static bool is_same(const struct slow *a, const struct slow *b)
{
    if ((a->shape == SLOW_DRIFT) != (b->shape == SLOW_DRIFT))
        return false;
    const struct slow *few = a->n < b->n ? a : b, *many = few == a ? b : a;
    size_t n = 0;
    for (uint32_t row = few->first; row <= few->last; row += few->shape == SLOW_PERIOD ? few->period : 1)
        n += slow_contains(many, row);
    return 2 * n >= few->n && 3 * few->n >= many->n;
}

bool judging_add(struct judging *j, const struct judge_one_series *s, struct slow f)
{
    memset(j->is_in, 0, j->t->n_steps * sizeof *j->is_in);
    for (size_t i = 0; i < s->n; i++)
        j->is_in[s->row[i]] = slow_contains(&f, s->row[i]);
    const bool is_of_whole = s->part == JUDGE_ALL && s->rank == JUDGE_ALL;
    const double of_series = f.excess_ns, of_whole = f.shape == SLOW_DRIFT ? 0 : judging_excess(j, j->off);
    f.rank = s->rank;
    f.part = s->part;
    f.peer = JUDGE_ALL;
    for (size_t i = 0; i < j->found.n; i++) {
        struct slow *x = &j->found.at[i];
        if (!is_same(x, &f))
            continue;
        if (f.rank != JUDGE_ALL && (x->rank == JUDGE_ALL || x->rank == f.rank) && of_series >= x->excess_ns / 2)
            x->rank = f.rank;
        if (x->part == JUDGE_ALL && of_series >= x->excess_ns / 4)
            x->part = f.part;
        return true;
    }
    /* Steps of a finding differ: one that takes less than twice as much more than the others do is no other finding. */
    for (size_t i = 0; i < j->found.n; i++)
        if (is_within(&f, &j->found.at[i]) && of_series < 2 * j->found.at[i].excess_ns)
            return true;
    /* More in one part may be less in another one: then nothing is lost. */
    if (!is_of_whole && f.shape != SLOW_DRIFT && of_whole < of_series / 2)
        return true;
    if (!is_of_whole && of_whole > f.excess_ns)
        f.excess_ns = of_whole;
    f.lost_ns = f.excess_ns * (double)f.n;
    f.share = j->sum_ns > 0 ? f.lost_ns / j->sum_ns : 0;
    const bool is_worth =
        f.shape == SLOW_ONCE ? f.excess_ns >= LEAST_OF_STEP * j->out->usual_ns : f.share >= LEAST_OF_RUN;
    if (!is_worth)
        return true;
    size_t kept = 0; /* single steps of it, that were found before, are no findings of their own */
    for (size_t i = 0; i < j->found.n; i++)
        if (!is_within(&j->found.at[i], &f) || j->found.at[i].excess_ns >= 2 * f.excess_ns)
            j->found.at[kept++] = j->found.at[i];
    j->found.n = kept;
    struct slow *new = list_add(&j->found, j->spare);
    if (new)
        *new = f;
    return new != NULL;
}
