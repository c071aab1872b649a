/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/steps/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/process/robust.h"

/* The share of healthy runs that get a finding, and how much of it each kind of comparison may use. */
static const double FALSE_RUNS = 0.01;
static const double OF_OUTLIERS = 0.35, OF_RUNS_OF_STEPS = 0.15, OF_PERIODS = 0.1, OF_DRIFT = 0.1, OF_RANKS = 0.3;
/* What is worth saying: of the run; of a step for a single one; of a step for uneven work. */
static const double LEAST_OF_RUN = 0.01, LEAST_OF_STEP = 0.1, LEAST_UNEVEN = 0.1;
/* Below this share of a step, or below the resolution of clocks, times are equal. */
static const double LEAST_NOISE = 0.0005, RESOLUTION_NS = 100;
/* By how much the largest numbers lie further out than normal ones if their tail is longer. */
static const double LONG_TAIL = 1.2;
/* What lies so many times further out than the largest of the others is no part of their tail. */
static const double FAR_OUT = 5;
/* A smaller autocorrelation, in its own deviations, is taken for none; and so many numbers show a spread even if they
 * depend on each other. */
static const double SURE_RHO = 2, DEPENDENT = 5;

enum {
    FEWEST = 3 /* steps of which one can be slow */,
    FAR = 3 /* deviations: what is further away counts as if it were there */,
    SHORTEST = 3 /* run of steps, and what is before or after it */
};

struct judge_judging {
    const struct judge_table *t;
    struct judgement *out;
    struct arena *spare;
    double *whole; /* by step: of its slowest rank; NAN: no rank has it */
    double *off;   /* by step: whole without what is usual for its class and size */
    double *level; /* by step: what is usual */
    double sum_ns; /* of all steps */
    double n_series;
    double *usual_part;       /* by part: the median of what it usually takes */
    bool *is_in;              /* by step: it belongs to the finding that is looked at */
    double *scratch, *sorted; /* for medians: of steps, or of ranks */
    LIST(struct slow) found;
};

/* Steps in their order, with one number each. */
struct judge_one_series {
    size_t n;
    uint32_t *row;
    double *y;           /* what is left after removing what was found */
    double *clipped;     /* the same, with outliers brought near */
    double *sorted;      /* falling */
    double *sum;         /* of `clipped`, before each */
    uint32_t rank, part; /* what it is of */
};

static double later(double a, double b)
{
    return a > b ? a : b;
}

static int by_falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static double median_copy(struct judge_judging *j, const double *v, size_t n)
{
    if (n > 0)
        memcpy(j->scratch, v, n * sizeof *v);
    return middle_of(j->scratch, n).median;
}

static double sure_autocorrelation(const double *v, size_t n)
{
    const double rho = autocorrelation(v, n);
    return rho * sqrt((double)n) > SURE_RHO ? rho : 0;
}

static double least_noise(const struct judge_judging *j)
{
    return later(RESOLUTION_NS, LEAST_NOISE * j->out->usual_ns);
}

/* ---- the noise ------------------------------------------------------------------------------------------------- */

/* How far numbers lie from their median: of all, or of those above it where these lie further (times have a longer tail
 * above). `v` falls. */
static double spread_of(const double *v, size_t n)
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

/* What the largest of many numbers may be, with probability p for each, if only noise is in them. Of `n` falling
 * numbers. */
static double limit_of(const struct judge_judging *j, const double *v, size_t n, double p, double effective,
                       double usual_ns)
{
    const double USUAL_NOISE = 0.1, SEEN_BEFORE = 4, LEFT_OUT = 1.5;
    enum { FEWEST_OF_SPREAD = 10, FEWEST_OF_TAIL = 4, MOST_OF_TAIL = 50, OF_TAIL = 7 };
    const double median = n == 0 ? 0 : (v[(n - 1) / 2] + v[n / 2]) / 2, share = n > 0 ? effective / (double)n : 1;
    const double spread = later(spread_of(v, n), least_noise(j));
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

/* ---- findings -------------------------------------------------------------------------------------------------- */

/* How much longer the marked steps take than the others, at the median. By step; NAN: not counted. */
static double excess_of(struct judge_judging *j, const double *of_step)
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

static bool contains(const struct slow *f, uint32_t row)
{
    if (row < f->first || row > f->last)
        return false;
    return f->shape != SLOW_PERIOD || (row - f->first) % f->period == 0;
}

/* The same, without steps of another class between those of a finding about some steps. */
static bool concerns(const struct judge_judging *j, const struct slow *f, uint32_t row)
{
    return contains(f, row) && (!j->t->class_of || (f->shape > SLOW_SINCE && f->shape != SLOW_PERIOD) ||
                                j->t->class_of[row] == j->t->class_of[f->first]);
}

/* Whether all steps of one finding are among those of another one, which is about some steps. */
static bool is_within(const struct slow *few, const struct slow *many)
{
    size_t n = 0;
    for (uint32_t row = few->first; row <= few->last; row += few->shape == SLOW_PERIOD ? few->period : 1)
        n += contains(many, row);
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
        n += contains(many, row);
    return 2 * n >= few->n && 3 * few->n >= many->n;
}

/* Keeps a finding of a series if it is worth saying. One of a part, or of a rank, makes the one of the whole step more
 * precise. */
static bool finding_add(struct judge_judging *j, const struct judge_one_series *s, struct slow f)
{
    memset(j->is_in, 0, j->t->n_steps * sizeof *j->is_in);
    for (size_t i = 0; i < s->n; i++)
        j->is_in[s->row[i]] = contains(&f, s->row[i]);
    const bool is_of_whole = s->part == JUDGE_ALL && s->rank == JUDGE_ALL;
    const double of_series = f.excess_ns, of_whole = f.shape == SLOW_DRIFT ? 0 : excess_of(j, j->off);
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

/* ---- one series ------------------------------------------------------------------------------------------------ */

static double series_median(const struct judge_one_series *s) /* sorted */
{
    return s->n == 0 ? 0 : (s->sorted[(s->n - 1) / 2] + s->sorted[s->n / 2]) / 2;
}

static void sort_series(struct judge_one_series *s)
{
    memcpy(s->sorted, s->y, s->n * sizeof *s->y);
    qsort(s->sorted, s->n, sizeof *s->sorted, by_falling);
}

/* What the numbers of a series may be explained by, and how sure that is: above 1 it is no noise. */
struct shape_fit {
    enum slow_shape shape;
    size_t first, end, period; /* positions in the series */
    double gain;               /* by how much it makes the sum of squares smaller */
    double sure;
};

/* The variance that a fit leaves, its autocorrelation, and with these how sure the fit is. */
static void fit_judge(const struct judge_judging *j, const struct judge_one_series *s, struct shape_fit *f, double n_in,
                      double p, double *left)
{
    const double n = (double)s->n;
    double in = 0, all = s->sum[s->n], squares = 0;
    const double middle = (n - 1) / 2;
    double slope = 0, spread = 0;
    for (size_t i = 0; i < s->n; i++) {
        const bool is_in = i >= f->first && i < f->end && (f->period == 0 || (i - f->first) % f->period == 0);
        left[i] = is_in;
        in += is_in ? s->clipped[i] : 0;
        slope += ((double)i - middle) * s->clipped[i];
        spread += ((double)i - middle) * ((double)i - middle);
    }
    for (size_t i = 0; i < s->n; i++) {
        const double fitted = f->shape == SLOW_DRIFT ? all / n + slope / spread * ((double)i - middle)
                              : left[i] != 0         ? in / n_in
                                                     : (all - in) / (n - n_in);
        left[i] = s->clipped[i] - fitted;
        squares += left[i] * left[i];
    }
    /* What is left of a run of steps, whose ends were chosen, seems less dependent than it is. */
    const double seen = autocorrelation(left, s->n);
    const double rho = f->shape == SLOW_STEPS ? fmin(0.95, seen + (1 + 3 * seen) / n) : seen;
    const double effective = n * (1 - rho) / (1 + rho), least = least_noise(j);
    const double variance = later(squares / later(n - 2, 1), least * least);
    const double inflated = f->shape == SLOW_PERIOD ? 1 : n / later(effective, 1);
    f->sure = sqrt(f->gain / variance / inflated) / student_bound(p, later(effective, 1) - 2);
}

static double gain_of(const struct judge_one_series *s, double in, double n_in)
{
    const double n = (double)s->n, more = in - s->sum[s->n] * n_in / n;
    return more > 0 ? more * more * n / n_in / (n - n_in) : 0;
}

static double gain_between(const struct judge_one_series *s, size_t first, size_t end)
{
    return gain_of(s, s->sum[end] - s->sum[first], (double)(end - first));
}

/* Whether the steps after a run may be of it: they are not below it by more than its noise. */
static bool lasts(const struct judge_one_series *s, const struct shape_fit *f)
{
    const double n_in = (double)(f->end - f->first), n_after = (double)(s->n - f->end);
    const double in = (s->sum[f->end] - s->sum[f->first]) / n_in, after = (s->sum[s->n] - s->sum[f->end]) / n_after;
    double squares = 0;
    for (size_t i = f->first; i < f->end; i++)
        squares += (s->clipped[i] - in) * (s->clipped[i] - in);
    return n_after < n_in / 3 && in - after < 2 * sqrt(squares / (n_in - 1) * (1 / n_after + 1 / n_in));
}

/* The run of steps that is most above the others: of lengths that grow by a third, then with better ends. */
static struct shape_fit best_run(const struct judge_judging *j, const struct judge_one_series *s, double *left)
{
    struct shape_fit best = { .shape = SLOW_STEPS };
    for (size_t len = SHORTEST; len + SHORTEST <= s->n; len += len / 3 > 1 ? len / 3 : 1)
        for (size_t first = 0, by = len / 4 > 1 ? len / 4 : 1; first + len <= s->n; first += by) {
            /* the last of these would not reach the end */
            const size_t ends[2] = { first + len, s->n }, starts[2] = { first, s->n - len };
            for (int k = 0; k < 2; k++) {
                const double gain = gain_between(s, starts[k], ends[k]);
                if (gain > best.gain)
                    best = (struct shape_fit){ SLOW_STEPS, starts[k], ends[k], 0, gain, 0 };
            }
        }
    for (bool moved = best.gain > 0; moved;) {
        moved = false;
        const size_t first[4] = { best.first + 1, best.first - 1, best.first, best.first },
                     end[4] = { best.end, best.end, best.end + 1, best.end - 1 };
        for (int k = 0; k < 4; k++) {
            if (first[k] > s->n || end[k] > s->n || end[k] < first[k] + SHORTEST ||
                s->n - (end[k] - first[k]) < SHORTEST)
                continue;
            const double gain = gain_between(s, first[k], end[k]);
            if (gain > best.gain) {
                best = (struct shape_fit){ SLOW_STEPS, first[k], end[k], 0, gain, 0 };
                moved = true;
            }
        }
    }
    if (best.gain > 0 && best.end < s->n && lasts(s, &best)) {
        best.end = s->n;
        best.gain = gain_between(s, best.first, best.end);
    }
    /* More than half of the steps at the begin: the others are the fast ones. */
    if (best.gain > 0 && (best.end == s->n || 2 * (best.end - best.first) <= s->n))
        fit_judge(j, s, &best, (double)(best.end - best.first),
                  FALSE_RUNS * OF_RUNS_OF_STEPS / j->n_series / (2 * (double)s->n), left);
    return best;
}

/* Each of the steps, but one of five, has to take longer by at least half of what they do on average. */
static bool is_steady(const struct judge_one_series *s, const struct shape_fit *f, double median)
{
    double sum = 0, n = 0, high = 0;
    for (size_t i = f->first; i < s->n; i += f->period) {
        sum += s->clipped[i] - median;
        n++;
    }
    for (size_t i = f->first; i < s->n; i += f->period)
        high += s->clipped[i] - median > sum / n / 2;
    return high >= 0.8 * n;
}

/* How sure a period is. Its steps may lie so far out that they are brought near in `clipped`: here each is compared
 * with the median of its own group, the steps of the period or the others, and the medians with each other. */
static void period_judge(struct judge_judging *j, const struct judge_one_series *s, struct shape_fit *f, double p,
                         double *left)
{
    double median[2], n_of[2], squares = 0;
    for (int in = 0; in < 2; in++) {
        size_t k = 0;
        for (size_t i = 0; i < s->n; i++)
            if ((i % f->period == f->first) == (in == 1))
                j->scratch[k++] = s->y[i];
        median[in] = middle_of(j->scratch, k).median;
        n_of[in] = (double)k;
    }
    for (size_t i = 0; i < s->n; i++)
        left[i] = s->y[i] - median[i % f->period == f->first];
    memcpy(j->scratch, left, s->n * sizeof *left);
    const double most = FAR * later(middle_of(j->scratch, s->n).deviation, least_noise(j));
    for (size_t i = 0; i < s->n; i++) {
        left[i] = fmax(-most, fmin(most, left[i]));
        squares += left[i] * left[i];
    }
    const double n = (double)s->n, rho = sure_autocorrelation(left, s->n), least = least_noise(j);
    const double variance = later(squares / later(n - 2, 1), least * least) * M_PI / 2; /* of medians */
    const double sure = (median[1] - median[0]) / sqrt(variance * (1 / n_of[0] + 1 / n_of[1])) /
                        student_bound(p, later(n * (1 - rho) / (1 + rho), 1) - 2);
    f->sure = later(f->sure, sure);
}

/* Among steps of other classes, those at equal distances in their own class may be at any distance in the run: then
 * they have no period. */
static bool is_even(const struct judge_judging *j, const struct judge_one_series *s, size_t first, size_t period)
{
    for (size_t i = first; j->t->class_of && i + period < s->n; i += period)
        if (s->row[i + period] - s->row[i] != s->row[first + period] - s->row[first])
            return false;
    return true;
}

static struct shape_fit best_period(struct judge_judging *j, const struct judge_one_series *s, double *left)
{
    const double most_work = 2e7 / j->n_series;
    struct shape_fit best = { .shape = SLOW_PERIOD };
    double n_in_best = 0;
    size_t n_tried = 0;
    const double median = median_copy(j, s->clipped, s->n);
    for (size_t period = 2; 3 * period <= s->n && (double)period * (double)s->n < most_work; period++)
        for (size_t first = 0; first < period; first++) {
            double in = 0, n_in = 0;
            for (size_t i = first; i < s->n; i += period) {
                in += s->clipped[i];
                n_in++;
            }
            const struct shape_fit fit = { SLOW_PERIOD, first, s->n, period, n_in >= 3 ? gain_of(s, in, n_in) : 0, 0 };
            n_tried++;
            if (fit.gain > best.gain && is_steady(s, &fit, median) && is_even(j, s, first, period)) {
                best = fit;
                n_in_best = n_in;
            }
        }
    if (best.gain > 0) {
        const double p = FALSE_RUNS * OF_PERIODS / j->n_series / (double)n_tried;
        fit_judge(j, s, &best, n_in_best, p, left);
        if (best.period > 2) /* else half of the steps are of each kind, and none of them is usual */
            period_judge(j, s, &best, p, left);
    }
    return best;
}

static struct shape_fit drift_of(const struct judge_judging *j, const struct judge_one_series *s, double *left)
{
    enum { FEWEST_OF_DRIFT = 12 }; /* fewer steps often rise by chance */
    struct shape_fit fit = { .shape = SLOW_DRIFT, .end = s->n };
    const double n = (double)s->n, middle = (n - 1) / 2;
    double slope = 0, spread = 0;
    for (size_t i = 0; i < s->n; i++) {
        slope += ((double)i - middle) * s->clipped[i];
        spread += ((double)i - middle) * ((double)i - middle);
    }
    if (s->n < FEWEST_OF_DRIFT || slope <= 0)
        return fit;
    fit.gain = slope * slope / spread;
    fit_judge(j, s, &fit, n, FALSE_RUNS * OF_DRIFT / j->n_series, left);
    return fit;
}

static bool is_of(const struct shape_fit *f, size_t i)
{
    return i >= f->first && i < f->end && (f->period == 0 || (i - f->first) % f->period == 0);
}

/* Takes a fit out of the series, and keeps it as a finding. */
static bool take_fit(struct judge_judging *j, struct judge_one_series *s, const struct shape_fit *f)
{
    struct slow found = { .shape = f->shape, .first = s->row[f->first], .last = s->row[f->end - 1] };
    const double n = (double)s->n, middle = (n - 1) / 2;
    found.noise_ns = later(spread_of(s->sorted, s->n), least_noise(j));
    if (f->shape == SLOW_DRIFT) {
        double slope = 0, spread = 0;
        for (size_t i = 0; i < s->n; i++) {
            slope += ((double)i - middle) * s->clipped[i];
            spread += ((double)i - middle) * ((double)i - middle);
        }
        slope /= spread;
        for (size_t i = 0; i < s->n; i++)
            s->y[i] -= slope * ((double)i - middle);
        found.n = (uint32_t)s->n;
        found.excess_ns = slope * middle;
        return finding_add(j, s, found);
    }
    double median[2];
    for (int in = 0; in < 2; in++) {
        size_t k = 0;
        for (size_t i = 0; i < s->n; i++)
            if (is_of(f, i) == (in == 1)) {
                j->scratch[k++] = s->y[i];
                found.last = in ? s->row[i] : found.last;
            }
        found.n = (uint32_t)k;
        median[in] = middle_of(j->scratch, k).median;
    }
    found.excess_ns = median[1] - median[0];
    for (size_t i = 0; i < s->n; i++)
        s->y[i] -= is_of(f, i) ? found.excess_ns : 0;
    if (f->shape == SLOW_STEPS && f->end == s->n)
        found.shape = SLOW_SINCE;
    if (f->shape == SLOW_PERIOD)
        found.period = s->row[f->first + f->period] - s->row[f->first];
    return finding_add(j, s, found);
}

static void clip(struct judge_judging *j, struct judge_one_series *s)
{
    sort_series(s);
    const double median = series_median(s);
    memcpy(j->scratch, s->y, s->n * sizeof *s->y);
    const double spread = later(FAR * middle_of(j->scratch, s->n).deviation, FAR * least_noise(j));
    s->sum[0] = 0;
    for (size_t i = 0; i < s->n; i++) {
        const double off = s->y[i] - median;
        s->clipped[i] = off > spread ? spread : off < -spread ? -spread : off;
        s->sum[i + 1] = s->sum[i] + s->clipped[i];
    }
}

/* The largest numbers that stand out of the others: as many as leave a rest out of which the smallest of them stands
 * out. */
static double outlier_limit(struct judge_judging *j, struct judge_one_series *s)
{
    enum { FEWEST_OF_GAP = 8 };
    const double rho = sure_autocorrelation(s->clipped, s->n);
    const double effective = independent_number(1, rho * rho); /* of a spread; that of a mean would be less */
    /* However many ranks there are, half of it is for what all of them show. */
    const double n_of_run = 2 * (1 + (double)j->t->n_parts),
                 n_series = s->rank == JUDGE_ALL ? fmin(n_of_run, j->n_series) : j->n_series,
                 p = FALSE_RUNS * OF_OUTLIERS / n_series / (double)s->n;
    sort_series(s);
    const bool is_steady = s->part != JUDGE_ALL && j->t->steady_parts >> s->part & 1;
    const double usual_ns = is_steady ? j->usual_part[s->part] : j->out->usual_ns;
    size_t most = s->n / 3;
    for (size_t k = most > 200 ? 200 : most; k > 0; k--) {
        const double limit =
            limit_of(j, s->sorted + k, s->n - k, p, later(1, effective * (double)(s->n - k)), usual_ns);
        if (s->sorted[k - 1] > limit)
            return (limit + s->sorted[k - 1]) / 2;
    }
    /* However long their tail: a step of more than twice the usual time, with nothing between it and far shorter ones. */
    const double median = series_median(s);
    if (s->n >= FEWEST_OF_GAP && s->sorted[0] - median > j->out->usual_ns &&
        s->sorted[0] - median > FAR * (s->sorted[1] - median))
        return (s->sorted[0] + s->sorted[1]) / 2;
    return INFINITY;
}

/* The end of the outliers that stand together, from one on: each takes about as much longer as the one before. */
static size_t outliers_end(const struct judge_one_series *s, size_t from, double limit, double median)
{
    const double alike = 4;
    size_t end = from + 1;
    while (end < s->n && s->y[end] > limit && s->y[end] - median <= alike * (s->y[end - 1] - median) &&
           alike * (s->y[end] - median) >= s->y[end - 1] - median)
        end++;
    return end;
}

/* If all outliers are alone and come at equal distances, through all of the series: that distance; else 0. */
static size_t outliers_period(const struct judge_one_series *s, double limit, size_t *first, size_t *n)
{
    enum { FEWEST_OF_PERIOD = 3 };
    size_t period = 0, last = 0;
    *n = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (!(s->y[i] > limit))
            continue;
        if (*n == 0)
            *first = i;
        else if (*n == 1)
            period = i - last;
        else if (i - last != period)
            return 0;
        last = i;
        ++*n;
    }
    return *n >= FEWEST_OF_PERIOD && period > 1 && *first < period && last + period >= s->n ? period : 0;
}

/* Outliers that come at equal distances, that stand together, or alone. */
static bool take_outliers(struct judge_judging *j, struct judge_one_series *s)
{
    const double limit = outlier_limit(j, s), median = series_median(s),
                 noise = later(spread_of(s->sorted, s->n), least_noise(j));
    size_t first = 0, n_period = 0;
    const size_t period = outliers_period(s, limit, &first, &n_period);
    if (period > 0 && is_even(j, s, first, period)) {
        struct slow f = { .shape = SLOW_PERIOD,
                          .first = s->row[first],
                          .n = (uint32_t)n_period,
                          .period = s->row[first + period] - s->row[first],
                          .noise_ns = noise };
        for (size_t i = first; i < s->n; i += period) {
            f.last = s->row[i];
            f.excess_ns += (s->y[i] - median) / (double)n_period;
        }
        return finding_add(j, s, f);
    }
    bool done = true;
    for (size_t i = 0, end; i < s->n && done; i = end) {
        end = i + 1;
        if (!(s->y[i] > limit))
            continue;
        end = outliers_end(s, i, limit, median);
        double sum = 0;
        for (size_t k = i; k < end; k++)
            sum += s->y[k] - median;
        const size_t n = end - i;
        done = finding_add(j, s,
                           (struct slow){ .shape = n == 1                         ? SLOW_ONCE
                                                   : end == s->n && n >= SHORTEST ? SLOW_SINCE
                                                                                  : SLOW_STEPS,
                                          .first = s->row[i],
                                          .last = s->row[end - 1],
                                          .n = (uint32_t)n,
                                          .excess_ns = sum / (double)n,
                                          .noise_ns = noise });
    }
    return done;
}

static bool series_look(struct judge_judging *j, struct judge_one_series *s)
{
    enum { MOST_SHAPES = 3 };
    double *left = arena_take(j->spare, s->n, sizeof *left);
    bool done = left != NULL;
    for (int i = 0; i < MOST_SHAPES && done && s->n >= 2 * SHORTEST; i++) {
        clip(j, s);
        const struct shape_fit fit[] = { best_run(j, s, left), best_period(j, s, left), drift_of(j, s, left) };
        const struct shape_fit *best = fit;
        for (size_t k = 1; k < sizeof fit / sizeof *fit; k++)
            best = fit[k].sure > best->sure ? &fit[k] : best;
        if (best->sure <= 1)
            break;
        done = take_fit(j, s, best);
        if (best->shape == SLOW_DRIFT)
            break;
    }
    if (done && s->n >= FEWEST) {
        clip(j, s);
        done = take_outliers(j, s);
    }
    return done;
}

/* The steps of a class that have the number, in their order. */
static bool series_take(struct judge_judging *j, struct judge_one_series *s, const double *of_step, uint32_t class)
{
    const size_t n = j->t->n_steps;
    if (!s->row) {
        s->row = arena_take(j->spare, n, sizeof *s->row);
        s->y = arena_take(j->spare, n, sizeof *s->y);
        s->clipped = arena_take(j->spare, n, sizeof *s->clipped);
        s->sorted = arena_take(j->spare, n, sizeof *s->sorted);
        s->sum = arena_take(j->spare, n + 1, sizeof *s->sum);
    }
    if (arena_failed(j->spare))
        return false;
    s->n = 0;
    for (size_t i = j->out->n_startup; i < n; i++)
        if (!isnan(of_step[i]) && (!j->t->class_of || j->t->class_of[i] == class)) {
            s->row[s->n] = (uint32_t)i;
            s->y[s->n++] = of_step[i];
        }
    return true;
}

/* Looks at a number of each step, class by class. */
static bool number_look(struct judge_judging *j, struct judge_one_series *s, const double *of_step, uint32_t n_classes)
{
    bool done = true;
    for (uint32_t c = 0; c < n_classes && done; c++)
        done = series_take(j, s, of_step, c) && series_look(j, s);
    return done;
}

/* ---- what is usual --------------------------------------------------------------------------------------------- */

struct sized_time {
    double size, ns;
    uint32_t row;
};

static int by_size(const void *a, const void *b)
{
    const struct sized_time *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* What a step of this size usually takes: a line through the medians of slopes between steps that half of all are
 * between. Sizes of which there are some steps have a median of their own. */
static void usual_by_size(struct judge_judging *j, struct sized_time *v, size_t n, double *level)
{
    enum { FEWEST_OF_SIZE = 5 };
    size_t n_slopes = 0;
    qsort(v, n, sizeof *v, by_size);
    for (size_t i = 0; i + n / 2 < n && n > 1; i++)
        if (v[i + n / 2].size > v[i].size)
            j->scratch[n_slopes++] = (v[i + n / 2].ns - v[i].ns) / (v[i + n / 2].size - v[i].size);
    const double slope = middle_of(j->scratch, n_slopes).median;
    for (size_t i = 0; i < n; i++)
        j->scratch[i] = v[i].ns - slope * v[i].size;
    const double base = middle_of(j->scratch, n).median;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && v[end].size == v[i].size; end++)
            j->scratch[end - i] = v[end].ns;
        const bool has_own = end - i >= FEWEST_OF_SIZE;
        const double usual = has_own ? middle_of(j->scratch, end - i).median : base + slope * v[i].size;
        for (size_t k = i; k < end; k++)
            level[v[k].row] = usual;
    }
}

/* Takes off what is usual for the class and the size of a step. NAN stays. */
static bool usual_find(struct judge_judging *j, const double *of_step, uint32_t n_classes, double *level)
{
    struct sized_time *v = arena_take(j->spare, j->t->n_steps, sizeof *v);
    for (uint32_t c = 0; v && c < n_classes; c++) {
        size_t n = 0;
        for (uint32_t i = 0; i < j->t->n_steps; i++)
            if (!isnan(of_step[i]) && (!j->t->class_of || j->t->class_of[i] == c))
                v[n++] = (struct sized_time){ j->t->size ? j->t->size[i] : 0, of_step[i], i };
        usual_by_size(j, v, n, level);
    }
    return v != NULL;
}

/* How many steps the start-up may have. */
static size_t startup_most(const struct judge_judging *j)
{
    enum { OF_ALL = 4, MOST = 20 };
    const size_t quarter = j->t->n_steps / OF_ALL > 1 ? j->t->n_steps / OF_ALL : 1;
    return quarter < MOST ? quarter : MOST;
}

/* The leading steps that take longer than the others can by noise. */
static size_t startup_find(struct judge_judging *j)
{
    enum { OF_LARGE = 6, ABOVE = 3 };
    const double p = 0.01;
    const size_t n = j->t->n_steps, most = startup_most(j);
    size_t n_rest = 0, k = 0;
    for (size_t i = most; i < n; i++)
        if (!isnan(j->off[i]))
            j->scratch[n_rest++] = j->off[i];
    if (n < FEWEST || n_rest < 2)
        return 0;
    qsort(j->scratch, n_rest, sizeof *j->scratch, by_falling);
    /* Without the largest ones: a slow step later on does not make the start-up usual. */
    const size_t n_left = n_rest > FEWEST ? n_rest / OF_LARGE + 1 : 0;
    const double limit =
        limit_of(j, j->scratch + n_left, n_rest - n_left, p, (double)(n_rest - n_left), j->out->usual_ns);
    /* It dies down: a step that takes far longer than all before it is none of the start-up. */
    double longest = 0;
    while (k < most && j->off[k] > limit && (k == 0 || j->off[k] <= ABOVE * longest)) {
        longest = later(longest, j->off[k]);
        k++;
    }
    return k;
}

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
static bool differences_find(struct judge_judging *j, const int64_t *of_rank, double *out)
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
    double least_ns; /* in any of the steps */
    size_t n;
};

static struct rank_effect effect_of(struct judge_judging *j, const double *difference)
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
    const double effective = later(1, independent_number((double)e.n, sure_autocorrelation(v, e.n)));
    qsort(v, e.n, sizeof *v, by_falling);
    e.ns = middle.median;
    e.least_ns = v[e.n - 1];
    e.noise_ns = later(spread_of(v, e.n), least_noise(j));
    if (e.n > 1) /* the error of a median is a quarter more than that of a mean */
        e.sure = e.ns / (1.2533 * e.noise_ns / sqrt(effective) *
                         student_bound(FALSE_RUNS * OF_RANKS / j->n_series,
                                       later(effective, fmin((double)e.n, DEPENDENT)) - 1));
    return e;
}

/* Ranks differ a little in each step, too: one that stands out of many has to do so by more than these do. Without a
 * second step nothing else is known: then it is by a tenth of two ranks, and by a twentieth of more. With two, both of
 * them have to stand out of the other ranks, which vary by at least what ranks usually do, seen in so many more. */
static bool effects_compare(struct judge_judging *j, struct rank_effect *e, size_t n_ranks)
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
        for (size_t i = first; i < end; i++) {
            struct rank_effect *own = &e[v[i].rank];
            const bool is_exact = end - first <= EXACT;
            size_t n = 0;
            for (size_t k = first; (is_exact || i == first) && k < end; k++)
                if ((k != i || !is_exact) && e[v[k].rank].n > 0)
                    j->scratch[n++] = v[k].ns;
            others = is_exact || i == first ? middle_of(j->scratch, n) : others;
            n = end - first - 1;
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
static uint32_t middle_rank(struct judge_judging *j, const struct rank_effect *e, uint32_t rank)
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
static bool slow_ranks_find(struct judge_judging *j, const struct rank_effect *own, const struct rank_effect *e,
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
static bool uneven_find(struct judge_judging *j, const struct rank_effect *e)
{
    const struct judge_table *t = j->t;
    const double stands_out = 2, wide = 0.15,
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
            all[n++] = (double)t->own_ns[at] - (e[r].ns > 0 ? e[r].ns : 0);
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
    if (n_steps < FEWEST)
        return true;
    for (size_t r = 0; r < t->n_ranks; r++)
        if (of_rank[r] > of_one * gain)
            return true;
    gain /= (double)n_steps;
    const double noise = middle_of(off, n_off).deviation;
    const double usual_gain = middle_of(gains, n_steps).median; /* a few bad steps do not make uneven work */
    const bool is_uneven =
        usual_gain >= LEAST_UNEVEN * j->out->usual_ns &&
        (usual_gain >= stands_out * noise * expected / (double)n_steps || noise >= wide * j->out->usual_ns);
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

static bool has_uneven(const struct judge_judging *j)
{
    for (size_t i = 0; i < j->found.n; i++)
        if (j->found.at[i].shape == SLOW_IN_TURNS)
            return true;
    return false;
}

/* Which rank causes a finding about all of them: the one that grew most against its peers, if that is at least half of
 * the excess. */
static void findings_assign(struct judge_judging *j, const double *difference)
{
    const struct judge_table *t = j->t;
    for (size_t i = 0; i < j->found.n; i++) {
        struct slow *f = &j->found.at[i];
        double most = f->excess_ns / 2;
        if (f->rank != JUDGE_ALL || f->shape >= SLOW_ALWAYS || f->shape == SLOW_DRIFT)
            continue;
        for (uint32_t s = 0; s < t->n_steps; s++)
            j->is_in[s] = concerns(j, f, s);
        for (uint32_t r = 0; r < t->n_ranks; r++) {
            const double more = excess_of(j, difference + r * t->n_steps);
            if (more > most) {
                most = more;
                f->rank = r;
            }
        }
    }
}

/* A part in which ranks wait says nothing about the rank that causes a finding: what grew on that rank does. Changes
 * `of_step`. */
static void parts_assign(struct judge_judging *j, double *of_step)
{
    const struct judge_table *t = j->t;
    for (size_t i = 0; i < j->found.n; i++) {
        struct slow *f = &j->found.at[i];
        if (f->rank == JUDGE_ALL || f->part == JUDGE_ALL || !(t->waiting_parts >> f->part & 1))
            continue;
        double most = f->excess_ns / 4;
        f->part = JUDGE_ALL;
        for (uint32_t s = 0; s < t->n_steps; s++)
            j->is_in[s] = concerns(j, f, s);
        for (uint32_t p = 0; p < t->n_parts; p++) {
            for (size_t s = 0; s < t->n_steps; s++) {
                const size_t at = f->rank * t->n_steps + s;
                of_step[s] = t->time_ns[at] < 0 ? NAN : (double)t->part_ns[p][at];
            }
            const double more = t->waiting_parts >> p & 1 ? 0 : excess_of(j, of_step);
            if (more > most) {
                most = more;
                f->part = p;
            }
        }
    }
}

static bool ranks_judge(struct judge_judging *j, struct judge_one_series *s, uint32_t n_classes)
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
            done = number_look(j, s, d + r * t->n_steps, n_classes);
        }
    }
    if (done) {
        findings_assign(j, own_difference);
        parts_assign(j, difference);
    }
    return done;
}

/* ---- the run --------------------------------------------------------------------------------------------------- */

static int by_loss(const void *a, const void *b)
{
    const struct slow *x = a, *y = b;
    const int x_class = x->shape == SLOW_START_UP ? 2 : x->shape == SLOW_ONCE || x->shape == SLOW_STEPS,
              y_class = y->shape == SLOW_START_UP ? 2 : y->shape == SLOW_ONCE || y->shape == SLOW_STEPS;
    if (x_class != y_class)
        return x_class - y_class;
    if (x->lost_ns != y->lost_ns)
        return x->lost_ns < y->lost_ns ? 1 : -1;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Of each step: what its slowest rank takes; of a part: the median of the ranks. NAN: it is not looked at. */
static void number_of_steps(struct judge_judging *j, uint32_t part, double *out)
{
    const struct judge_table *t = j->t;
    for (size_t i = 0; i < t->n_steps; i++) {
        size_t n = 0, n_own = 0;
        double most = -INFINITY;
        for (size_t r = 0; r < t->n_ranks; r++) {
            const size_t at = r * t->n_steps + i;
            if (t->time_ns[at] < 0)
                continue;
            n_own += !t->is_catch_up || !t->is_catch_up[at];
            j->scratch[n++] = (double)(part == JUDGE_ALL ? t->time_ns[at] : t->part_ns[part][at]);
            most = later(most, j->scratch[n - 1]);
        }
        out[i] = n_own == 0 ? NAN : part == JUDGE_ALL ? most : middle_of(j->scratch, n).median;
    }
}

static bool run_prepare(struct judge_judging *j, uint32_t n_classes)
{
    const size_t n = j->t->n_steps;
    size_t k = 0;
    number_of_steps(j, JUDGE_ALL, j->whole);
    for (size_t i = 0; i < n; i++)
        if (!isnan(j->whole[i]))
            j->scratch[k++] = j->whole[i];
    for (size_t i = 0; i < n; i++) {
        int64_t most_ns = 0;
        for (size_t r = 0; r < j->t->n_ranks; r++)
            most_ns = j->t->time_ns[r * n + i] > most_ns ? j->t->time_ns[r * n + i] : most_ns;
        j->sum_ns += (double)most_ns;
    }
    j->out->usual_ns = middle_of(j->scratch, k).median;
    if (!usual_find(j, j->whole, n_classes, j->level))
        return false;
    for (size_t i = 0; i < n; i++)
        j->off[i] = j->whole[i] - j->level[i];
    j->out->n_startup = startup_find(j);
    if (j->out->n_startup > 0) { /* without it the others may be less */
        k = 0;
        for (size_t i = j->out->n_startup; i < n; i++)
            if (!isnan(j->whole[i]))
                j->scratch[k++] = j->whole[i];
        j->out->usual_ns = middle_of(j->scratch, k).median;
    }
    k = 0;
    for (size_t i = j->out->n_startup; i < n; i++)
        if (!isnan(j->off[i]))
            j->scratch[k++] = j->off[i];
    qsort(j->scratch, k, sizeof *j->scratch, by_falling);
    j->out->noise_ns = later(spread_of(j->scratch, k), least_noise(j));
    return true;
}

/* The whole steps first, then the parts. */
static bool steps_judge(struct judge_judging *j, struct judge_one_series *s, uint32_t n_classes)
{
    const struct judge_table *t = j->t;
    double *part = arena_take(j->spare, t->n_steps, sizeof *part),
           *level = arena_take(j->spare, t->n_steps, sizeof *level);
    s->rank = s->part = JUDGE_ALL;
    bool done = part && level && number_look(j, s, j->off, n_classes);
    for (uint32_t p = 0; done && p < t->n_parts; p++) {
        s->part = p;
        number_of_steps(j, p, part);
        done = usual_find(j, part, n_classes, level);
        j->usual_part[p] = done ? median_copy(j, level, t->n_steps) : 0;
        for (size_t i = 0; i < t->n_steps; i++)
            part[i] -= level[i];
        done = done && number_look(j, s, part, n_classes);
    }
    return done;
}

static int by_first(const void *a, const void *b)
{
    const struct slow *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Single steps at equal distances, none of which is missing from the first to the end of the run, are a period. */
static void singles_join(struct judge_judging *j)
{
    enum { FEWEST_OF_PERIOD = 3 };
    struct slow *v = j->found.at;
    size_t n = 0, first = 0;
    if (j->found.n > 0)
        qsort(v, j->found.n, sizeof *v, by_first);
    double lost_ns = 0;
    uint32_t period = 0, last = 0;
    bool is_period = true;
    for (size_t i = 0; i < j->found.n; i++) {
        if (v[i].shape != SLOW_ONCE)
            continue;
        is_period = is_period && (n < 2 || v[i].first - last == period);
        period = n == 1 ? v[i].first - last : period;
        first = n == 0 ? i : first;
        last = v[i].first;
        lost_ns += v[i].lost_ns;
        n++;
    }
    if (n < FEWEST_OF_PERIOD || !is_period || period < 2 || last + period < j->t->n_steps ||
        v[first].first >= j->out->n_startup + period)
        return;
    struct slow joined = v[first];
    joined.shape = SLOW_PERIOD;
    joined.period = period;
    joined.last = last;
    joined.n = (uint32_t)n;
    joined.lost_ns = lost_ns;
    joined.excess_ns = lost_ns / (double)n;
    joined.share = j->sum_ns > 0 ? lost_ns / j->sum_ns : 0;
    size_t kept = 0;
    for (size_t i = 0; i < j->found.n; i++)
        if (v[i].shape != SLOW_ONCE)
            v[kept++] = v[i];
    v[kept++] = joined;
    j->found.n = kept;
}

/* What only the first steps have more of is start-up, too, where it shows in a part of them alone. */
static void startup_join(struct judge_judging *j)
{
    size_t kept = 0;
    for (size_t i = 0; i < j->found.n; i++) {
        const struct slow *f = &j->found.at[i];
        if ((f->shape == SLOW_ONCE || f->shape == SLOW_STEPS) && f->first == 0 && f->last < startup_most(j)) {
            j->out->n_startup = f->last + 1 > j->out->n_startup ? f->last + 1 : j->out->n_startup;
        } else {
            j->found.at[kept++] = *f;
        }
    }
    j->found.n = kept;
}

static void startup_add(struct judge_judging *j)
{
    const size_t n = j->out->n_startup;
    struct slow *f = n > 0 ? list_add(&j->found, j->spare) : NULL;
    if (!f)
        return;
    *f = (struct slow){ .shape = SLOW_START_UP,
                        .rank = JUDGE_ALL,
                        .peer = JUDGE_ALL,
                        .part = JUDGE_ALL,
                        .last = (uint32_t)n - 1,
                        .n = (uint32_t)n,
                        .noise_ns = j->out->noise_ns };
    for (size_t i = 0; i < n; i++)
        f->lost_ns += later(0, j->off[i]);
    f->excess_ns = f->lost_ns / (double)n;
    f->share = j->sum_ns > 0 ? f->lost_ns / j->sum_ns : 0;
}

/* What is usual, now that it is known which steps are not; and how much longer than that the others take. */
static void findings_settle(struct judge_judging *j)
{
    const struct judgement *out = j->out;
    size_t k = 0;
    for (size_t i = out->n_startup; i < j->t->n_steps; i++)
        if (!out->is_slow[i] && !isnan(j->whole[i]))
            j->scratch[k++] = j->whole[i];
    if (k == 0)
        return;
    j->out->usual_ns = middle_of(j->scratch, k).median;
    for (size_t f = 0; f < out->n; f++) {
        struct slow *x = &out->at[f];
        if ((x->rank != JUDGE_ALL && j->t->n_ranks > 1) || j->t->class_of || j->t->size ||
            (x->shape > SLOW_SINCE && x->shape != SLOW_PERIOD))
            continue;
        k = 0;
        for (uint32_t i = x->first; i <= x->last; i++)
            if (contains(x, i) && !isnan(j->whole[i]))
                j->scratch[k++] = j->whole[i];
        const double more_ns = middle_of(j->scratch, k).median - j->out->usual_ns;
        if (more_ns < x->excess_ns / 2)
            continue;
        x->excess_ns = more_ns;
        x->lost_ns = more_ns * (double)x->n;
        x->share = j->sum_ns > 0 ? x->lost_ns / j->sum_ns : 0;
    }
}

static bool run_hand_over(struct judge_judging *j, struct arena *mem)
{
    struct judgement *out = j->out;
    out->n = j->found.n;
    out->at = arena_take(mem, out->n, sizeof *out->at);
    out->is_slow = arena_take(mem, j->t->n_steps, sizeof *out->is_slow);
    if (!out->at || !out->is_slow)
        return false;
    if (out->n > 0)
        memcpy(out->at, j->found.at, out->n * sizeof *out->at);
    for (size_t i = 0; i < out->n; i++)
        for (uint32_t s = out->at[i].first; s <= out->at[i].last; s++)
            out->is_slow[s] |=
                concerns(j, &out->at[i], s) && (out->at[i].shape <= SLOW_SINCE || out->at[i].shape == SLOW_PERIOD);
    for (size_t i = 0; i < j->t->n_steps; i++)
        out->n_slow += out->is_slow[i];
    findings_settle(j);
    if (out->n > 0)
        qsort(out->at, out->n, sizeof *out->at, by_loss);
    return true;
}

bool judge(struct judgement *out, const struct judge_table *t, struct arena *mem)
{
    const size_t n = t->n_steps, n_scratch = n > t->n_ranks ? n : t->n_ranks;
    struct judge_judging j = { .t = t, .out = out, .spare = arena_new() };
    struct judge_one_series s = { 0 };
    uint32_t n_classes = 1;
    bool done = j.spare != NULL;
    *out = (struct judgement){ 0 };
    if (done) {
        j.whole = arena_take(j.spare, n, sizeof *j.whole);
        j.off = arena_take(j.spare, n, sizeof *j.off);
        j.level = arena_take(j.spare, n, sizeof *j.level);
        j.is_in = arena_take(j.spare, n, sizeof *j.is_in);
        j.usual_part = arena_take(j.spare, t->n_parts, sizeof *j.usual_part);
        j.scratch = arena_take(j.spare, n_scratch + 1, sizeof *j.scratch);
        j.sorted = arena_take(j.spare, n + 1, sizeof *j.sorted);
        done = !arena_failed(j.spare);
    }
    for (size_t i = 0; t->class_of && i < n; i++)
        n_classes = t->class_of[i] >= n_classes ? t->class_of[i] + 1 : n_classes;
    const bool has_ranks = t->n_ranks > 1 && t->own_ns;
    uint32_t own_parts = 0;
    for (uint32_t p = 0; p < t->n_parts; p++)
        own_parts += !(t->waiting_parts >> p & 1);
    j.n_series = (double)n_classes * (1 + (double)t->n_parts + (has_ranks ? (double)t->n_ranks * (1 + own_parts) : 0));
    if (done && n > 0 && t->n_ranks > 0)
        done = run_prepare(&j, n_classes) && steps_judge(&j, &s, n_classes) &&
               (!has_ranks || ranks_judge(&j, &s, n_classes));
    if (done) {
        singles_join(&j);
        startup_join(&j);
        startup_add(&j);
    }
    done = done && !arena_failed(j.spare) && run_hand_over(&j, mem);
    arena_free(j.spare);
    return done;
}

bool judge_series(struct judgement *out, const int64_t *time_ns, size_t n, struct arena *mem)
{
    return judge(out, &(struct judge_table){ .n_steps = n, .n_ranks = 1, .time_ns = time_ns }, mem);
}
