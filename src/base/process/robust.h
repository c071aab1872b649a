/* SPDX-License-Identifier: Apache-2.0 */
/* robust.h - the median of numbers and the spread around it, neither of which a few outliers change. */
#ifndef ASCOPE_BASE_PROCESS_ROBUST_H
#define ASCOPE_BASE_PROCESS_ROBUST_H

#include <stddef.h>
#include <stdint.h>

struct middle {
    double median;
    double deviation; /* 1.4826 times the median absolute deviation: of normal numbers the standard deviation */
};

/* All of them reorder their numbers; of no numbers they return 0. */
struct middle middle_of(double *v, size_t n);
double lower_median(double *v, size_t n); /* of two in the middle, the smaller one: half of all are at most that */
double upper_median(double *v, size_t n); /* the larger one: half of all are at least that */
int64_t upper_median_i64(int64_t *v, size_t n);
double quantile_of(double *v, size_t n, double share); /* the number at this share of the way to the largest */

/* Of numbers in the order of time that depend on each other: the autocorrelation of lag one (0 … 0.95; what so few
 * numbers underestimate is added), and how many independent numbers have as much to say about their mean: n (1 - rho) /
 * (1 + rho). They reorder nothing. */
double autocorrelation(const double *v, size_t n);
double effective_number(const double *v, size_t n);

/* The same from sums, over several short series: `seen` is the sum of products of neighbours over the sum of squares, n
 * the mean length. */
double autocorrelation_of(double seen, double n);
double independent_number(double n, double autocorrelation);

/* The bound that a normal number exceeds with probability p (below 0.5), and the same where its deviation is itself
 * estimated from about `freedom` numbers (Student's t; an approximation within some per cent). */
double normal_bound(double p);
double student_bound(double p, double freedom);

#endif
