/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/judge/difference.h"

#include <math.h>

#include "base/process/robust.h"

enum { LEAST_STEPS = 3, ENOUGH_FREEDOM = 10, MOST_WANTED = 10000 };

struct run_value run_value_of(double mean, const double *off, size_t n)
{
    struct run_value v = { .mean = mean, .n = n };
    for (size_t i = 0; i < n; i++) {
        v.squares += off[i] * off[i];
        v.products += i > 0 ? off[i] * off[i - 1] : 0;
    }
    return v;
}

static double mean_of(const struct run_value *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i].mean;
    return n > 0 ? sum / (double)n : 0;
}

/* Sums over the runs of both sides. */
struct both_sides {
    double squares, products, steps, runs;
    double off; /* squares of the deviations of runs from the mean of their side */
    bool has_steps;
};

static void side_sum(struct both_sides *s, const struct run_value *v, size_t n)
{
    const double mean = mean_of(v, n);
    for (size_t i = 0; i < n; i++) {
        s->squares += v[i].squares;
        s->products += v[i].products;
        s->steps += (double)v[i].n;
        s->runs++;
        s->off += (v[i].mean - mean) * (v[i].mean - mean);
        s->has_steps = s->has_steps && v[i].n >= LEAST_STEPS;
    }
}

/* Adds the variance of the mean of a side, and what Welch's degrees of freedom need. */
static void side_vary(struct chance *c, double *divisor, const struct run_value *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double steps = (double)v[i].n, independent = fmax(independent_number(steps, c->dependence), 1.5);
        const double variance = v[i].squares / steps / (independent - 1) / (double)(n * n);
        /* Squares depend on each other less than values. With fewer degrees the bound would become useless rather than
         * right. */
        const double freedom = independent_number(steps, c->dependence * c->dependence) - 1;
        c->steps += variance;
        *divisor += variance * variance / fmax(freedom, fmin(steps - 1, ENOUGH_FREEDOM));
    }
}

struct chance chance_of(const struct run_value *a, size_t n_a, const struct run_value *b, size_t n_b, double least)
{
    enum { LEAST_RUNS = 2 }; /* degrees of freedom: two runs on each side, or three on one */
    struct both_sides s = { .has_steps = true };
    struct chance c = { 0 };
    double divisor = 0;
    side_sum(&s, a, n_a);
    side_sum(&s, b, n_b);
    if (s.squares > 0)
        c.dependence = autocorrelation_of(s.products / s.squares, s.steps / s.runs);
    c.dependence = fmax(c.dependence, least);
    if (s.has_steps) {
        side_vary(&c, &divisor, a, n_a);
        side_vary(&c, &divisor, b, n_b);
    }
    c.steps_freedom = divisor > 0 ? c.steps * c.steps / divisor : 1e9;
    c.runs_freedom = s.runs - 2;
    c.is_known = s.has_steps || c.runs_freedom >= LEAST_RUNS;
    if (c.runs_freedom >= 1) {
        const double seen = s.off / c.runs_freedom * (1 / (double)n_a + 1 / (double)n_b);
        c.runs = fmax(seen - c.steps, 0);
    }
    if (c.runs_freedom < LEAST_RUNS) { /* nothing is known about runs; but they vary at least as much as is seen */
        c.steps += c.runs;
        c.runs = 0;
    }
    return c;
}

double chance_bound(const struct chance *c, double probability)
{
    const double steps = c->steps > 0 ? student_bound(probability / 2, c->steps_freedom) : 0;
    const double runs = c->runs > 0 ? student_bound(probability / 2, c->runs_freedom) : 0;
    return sqrt(steps * steps * c->steps + runs * runs * c->runs);
}

size_t chance_steps_for(const struct chance *c, size_t n_steps, double wanted, double probability)
{
    const double now = fmax(independent_number((double)n_steps, c->dependence), 1.5) - 1;
    for (size_t n = n_steps > 0 ? n_steps : 1; n < MOST_WANTED; n += n / 20 + 1) {
        struct chance then = *c;
        const double independent = fmax(independent_number((double)n, c->dependence), 1.5) - 1;
        then.steps *= now / independent;
        then.steps_freedom *= (double)n / (double)n_steps;
        if (chance_bound(&then, probability) <= wanted)
            return n;
    }
    return 0;
}

size_t chance_runs_for(const struct chance *c, size_t n_a, size_t n_b, double wanted, double probability)
{
    const double now = 1 / (double)n_a + 1 / (double)n_b;
    for (size_t n = n_a > n_b ? n_a : n_b; n < MOST_WANTED; n += n / 20 + 1) {
        struct chance then = *c;
        const double part = 2 / (double)n / now;
        then.steps *= part;
        then.steps_freedom /= part;
        then.runs *= part;
        then.runs_freedom = 2 * (double)n - 2;
        if (chance_bound(&then, probability) <= wanted)
            return n;
    }
    return 0;
}

struct difference difference_of(const struct run_value *a, size_t n_a, const struct run_value *b, size_t n_b,
                                const struct chance *c, double probability)
{
    static const double least_part = 0.01;
    struct difference d = { .a = mean_of(a, n_a), .b = mean_of(b, n_b) };
    if (!c->is_known)
        return d;
    const double larger = fmax(fabs(d.a), fabs(d.b)), off = fabs(d.b - d.a);
    d.noise_ns = chance_bound(c, probability);
    d.state = off > d.noise_ns && off >= larger * least_part && off > 0 ? DIFFERENCE_REAL : DIFFERENCE_NOISE;
    return d;
}
