/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/steps/judge_series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/columns.h"
#include "base/process/robust.h"

/* The part of the errors that each kind of comparison may use. */
static const double OF_OUTLIERS = 0.35, OF_RUNS_OF_STEPS = 0.15, OF_PERIODS = 0.1, OF_DRIFT = 0.1;
enum {
    FAR = 3 /* deviations: what is further away counts as if it were there */,
    SHORTEST = 3 /* run of steps, and what is before or after it */
};

static double series_median(const struct judge_one_series *s) /* sorted */
{
    return s->n == 0 ? 0 : (s->sorted[(s->n - 1) / 2] + s->sorted[s->n / 2]) / 2;
}

static void sort_series(struct judge_one_series *s)
{
    memcpy(s->sorted, s->y, s->n * sizeof *s->y);
    qsort(s->sorted, s->n, sizeof *s->sorted, by_falling_number);
}

/* What the numbers of a series may be explained by, and how sure that is: above 1 it is no noise. */
struct shape_fit {
    enum slow_shape shape;
    size_t first, end, period; /* positions in the series */
    double gain;               /* by how much it makes the sum of squares smaller */
    double sure;
};

/* The variance that a fit leaves, its autocorrelation, and with these how sure the fit is. */
static void fit_judge(const struct judging *j, const struct judge_one_series *s, struct shape_fit *f, double n_in,
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
static struct shape_fit best_run(const struct judging *j, const struct judge_one_series *s, double *left)
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
static void period_judge(struct judging *j, const struct judge_one_series *s, struct shape_fit *f, double p,
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
static bool is_even(const struct judging *j, const struct judge_one_series *s, size_t first, size_t period)
{
    for (size_t i = first; j->t->class_of && i + period < s->n; i += period)
        if (s->row[i + period] - s->row[i] != s->row[first + period] - s->row[first])
            return false;
    return true;
}

static struct shape_fit best_period(struct judging *j, const struct judge_one_series *s, double *left)
{
    const double most_work = 2e7 / j->n_series;
    struct shape_fit best = { .shape = SLOW_PERIOD };
    double n_in_best = 0;
    size_t n_tried = 0;
    const double median = judging_median(j, s->clipped, s->n);
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

static struct shape_fit drift_of(const struct judging *j, const struct judge_one_series *s, double *left)
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
static bool take_fit(struct judging *j, struct judge_one_series *s, const struct shape_fit *f)
{
    struct slow found = { .shape = f->shape, .first = s->row[f->first], .last = s->row[f->end - 1] };
    const double n = (double)s->n, middle = (n - 1) / 2;
    found.noise_ns = later(spread_above(s->sorted, s->n), least_noise(j));
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
        return judging_add(j, s, found);
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
    return judging_add(j, s, found);
}

static void clip(struct judging *j, struct judge_one_series *s)
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
static double outlier_limit(struct judging *j, struct judge_one_series *s)
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
    const double median = series_median(s), far = FAR * (s->sorted[1] - median),
                 gap = s->n >= FEWEST_OF_GAP ? later(j->out->usual_ns, far) : INFINITY;
    size_t most = s->n / 3;
    for (size_t k = most > 200 ? 200 : most; k > 0; k--) {
        const double limit =
            noise_limit(j, s->sorted + k, s->n - k, p, later(1, effective * (double)(s->n - k)), usual_ns);
        if (k == 1 && s->rank == JUDGE_ALL && s->part == JUDGE_ALL && s->n > j->n_single) {
            j->out->single_ns = later(fmin(limit - median, gap), LEAST_OF_STEP * j->out->usual_ns);
            j->n_single = s->n;
        }
        if (s->sorted[k - 1] > limit)
            return (limit + s->sorted[k - 1]) / 2;
    }
    /* However long their tail: a step of more than twice the usual time, with nothing between it and far shorter
     * ones. */
    if (s->sorted[0] - median > gap)
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
static bool take_outliers(struct judging *j, struct judge_one_series *s)
{
    const double limit = outlier_limit(j, s), median = series_median(s),
                 noise = later(spread_above(s->sorted, s->n), least_noise(j));
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
        return judging_add(j, s, f);
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
        done = judging_add(j, s,
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

static bool shapes_look(struct judging *j, struct judge_one_series *s)
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
    if (done && s->n >= FEWEST_TO_JUDGE) {
        clip(j, s);
        done = take_outliers(j, s);
    }
    return done;
}

/* The steps of a class that have the number, in their order. */
static bool series_take(struct judging *j, struct judge_one_series *s, const double *of_step, uint32_t class)
{
    const size_t n = j->t->n_steps;
    if (!s->row) {
        arena_columns(j->spare, n, s->row, s->y, s->clipped, s->sorted);
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

bool series_look(struct judging *j, struct judge_one_series *s, const double *of_step, uint32_t n_classes)
{
    bool done = true;
    for (uint32_t c = 0; c < n_classes && done; c++)
        done = series_take(j, s, of_step, c) && shapes_look(j, s);
    return done;
}
