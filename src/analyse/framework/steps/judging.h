/* SPDX-License-Identifier: Apache-2.0 */
/* judging.h - one run while it is judged: its noise, and what was found so far.
 *
 * Shared by the parts of the judge: judge.c has the run (what is usual, the start-up, the order), judge_series.c looks
 * at one number of each step, judge_ranks.c compares ranks in each step. Lives as long as a call of judge().
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_STEPS_JUDGING_H
#define ASCOPE_ANALYSE_FRAMEWORK_STEPS_JUDGING_H

#include "analyse/framework/steps/judge.h"

/* The share of healthy runs that get a finding; each kind of comparison may use a part of it. */
static const double FALSE_RUNS = 0.01;
/* What is worth saying: of the run; of a step for a single one. */
static const double LEAST_OF_RUN = 0.01, LEAST_OF_STEP = 0.1;
/* Below this share of a step, or below the resolution of clocks, times are equal. */
static const double LEAST_NOISE = 0.0005, RESOLUTION_NS = 100;
/* So many numbers show a spread even if they depend on each other. */
static const double DEPENDENT = 5;

enum { FEWEST_TO_JUDGE = 3 /* steps of which one can be slow */ };

struct judging {
    const struct judge_table *t;
    struct judgement *out;
    struct arena *spare;
    double *whole; /* by step: of its slowest rank; NAN: no rank has it */
    double *off;   /* by step: whole without what is usual for its class and size */
    double *level; /* by step: what is usual */
    double sum_ns; /* of all steps */
    double n_series;
    size_t n_single;          /* steps of the series that out->single_ns is of */
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

static inline double later(double a, double b)
{
    return a > b ? a : b;
}

static inline double least_noise(const struct judging *j)
{
    return later(RESOLUTION_NS, LEAST_NOISE * j->out->usual_ns);
}

int by_falling_number(const void *a, const void *b);
double judging_median(struct judging *j, const double *v, size_t n);
/* How much longer the steps of `is_in` take than the others, at the median. By step; NAN: not counted. */
double judging_excess(struct judging *j, const double *of_step);
/* Whether a step is one of a finding's; a period has only every N-th. */
bool slow_contains(const struct slow *f, uint32_t row);
/* The same, without steps of another class between those of a finding about some steps. */
bool slow_concerns(const struct judging *j, const struct slow *f, uint32_t row);
/* Keeps a finding of a series if it is worth saying. One of a part, or of a rank, makes the one of the whole step more
 * precise. */
bool judging_add(struct judging *j, const struct judge_one_series *s, struct slow f);

/* How far numbers lie from their median: of all, or of those above it where these lie further (times have a longer tail
 * above). `v` falls. */
double spread_above(const double *v, size_t n);
/* What the largest of many numbers may be, with probability p for each, if only noise is in them. Of `n` falling
 * numbers. */
double noise_limit(const struct judging *j, const double *v, size_t n, double p, double effective, double usual_ns);
double sure_autocorrelation(const double *v, size_t n);

#endif
