/* SPDX-License-Identifier: Apache-2.0 */
/* robust.h - the middle of numbers, and how far they are from it, whatever a few of them are. */
#ifndef ASCOPE_CLUSTER_ROBUST_H
#define ASCOPE_CLUSTER_ROBUST_H

#include <stddef.h>

struct middle {
    double median;
    double deviation; /* 1.4826 times the median distance from it: the standard deviation, if they are normal */
};

/* Both reorder their numbers; of none it is 0. */
struct middle middle_of(double *v, size_t n);
double lower_median(double *v, size_t n); /* of two, the smaller one */

#endif
