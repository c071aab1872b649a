/* SPDX-License-Identifier: Apache-2.0 */
/* robust.h - the median of numbers and the spread around it, neither of which a few outliers change. */
#ifndef ASCOPE_BASE_ROBUST_H
#define ASCOPE_BASE_ROBUST_H

#include <stddef.h>

struct middle {
    double median;
    double deviation; /* 1.4826 times the median absolute deviation: of normal numbers the standard deviation */
};

/* All of them reorder their numbers; of no numbers they return 0. */
struct middle middle_of(double *v, size_t n);
double lower_median(double *v,
                    size_t n); /* of two numbers in the middle, the smaller one: half of all are at most that */
double upper_median(double *v, size_t n); /* the larger one: half of all are at least that */

#endif
