/* SPDX-License-Identifier: Apache-2.0 */
#include "base/robust.h"

#include <math.h>
#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *v, size_t n)
{
    qsort(v, n, sizeof *v, by_number);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

struct middle middle_of(double *v, size_t n)
{
    if (n == 0)
        return (struct middle){ 0 };
    const double median = median_of(v, n);
    for (size_t i = 0; i < n; i++)
        v[i] = fabs(v[i] - median);
    return (struct middle){ median, 1.4826 * median_of(v, n) };
}

double lower_median(double *v, size_t n)
{
    if (n == 0)
        return 0;
    qsort(v, n, sizeof *v, by_number);
    return v[(n - 1) / 2];
}

double upper_median(double *v, size_t n)
{
    if (n == 0)
        return 0;
    qsort(v, n, sizeof *v, by_number);
    return v[n / 2];
}
