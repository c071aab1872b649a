/* SPDX-License-Identifier: Apache-2.0 */
/* difference.h - a value on two sides of a comparison, and how much of the difference chance can explain.
 *
 * A side has one run or several. In a run the value varies from step to step, and steps depend on each other: n of them
 * count as n (1 - r) / (1 + r) independent ones, r being the autocorrelation of lag one over all runs of both sides.
 * Where sides have several runs, the runs differ, too: what their means vary by beyond what their steps explain is
 * added, with Student's t of as many degrees of freedom as there are runs to know it from.
 */
#ifndef ASCOPE_ANSWERS_JUDGE_DIFFERENCE_H
#define ASCOPE_ANSWERS_JUDGE_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>

/* The value in one run: its mean over the usual steps, and what is needed of how it varies around it. */
struct run_value {
    double mean;
    double squares,
        products; /* sums of the squares of deviations, and of the products of those of neighbouring steps */
    size_t n;     /* steps */
};

/* off: the deviations from the mean in the order of the steps. */
struct run_value run_value_of(double mean, const double *off, size_t n);

/* What chance is made of. */
struct chance {
    double steps, steps_freedom; /* variance of the difference as far as steps explain it */
    double runs, runs_freedom;   /* what runs add to it; 0: nothing, or there are too few */
    double dependence;           /* autocorrelation of the steps */
    bool is_known;               /* false: too few steps, and too few runs */
};

/* `least`: an autocorrelation that is known from another value of the same runs; the larger one counts. */
struct chance chance_of(const struct run_value *a, size_t n_a, const struct run_value *b, size_t n_b, double least);

/* A difference that chance exceeds with this probability, in both directions together. */
double chance_bound(const struct chance *c, double probability);

/* How much of it would make chance_bound() as small as `wanted`, if steps and runs vary as they did: steps in each run,
 * of which there are `n_steps` now; or runs on each side, of n_a and n_b now. At least as many as now; 0: no number
 * below ten thousand. */
size_t chance_steps_for(const struct chance *c, size_t n_steps, double wanted, double probability);
size_t chance_runs_for(const struct chance *c, size_t n_a, size_t n_b, double wanted, double probability);

enum difference_state { DIFFERENCE_UNKNOWN, DIFFERENCE_NOISE, DIFFERENCE_REAL };

struct difference {
    double a, b;     /* per step, means over the runs */
    double noise_ns; /* the part of b - a that chance can explain; 0 with DIFFERENCE_UNKNOWN */
    enum difference_state state;
};

/* Real: larger than chance explains with that probability, and at least a hundredth of the larger value. */
struct difference difference_of(const struct run_value *a, size_t n_a, const struct run_value *b, size_t n_b,
                                const struct chance *c, double probability);

#endif
