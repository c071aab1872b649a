/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process/robust.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory/ascending.h"

static double median_of(double *v, size_t n)
{
    qsort(v, n, sizeof *v, compare_doubles);
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

/* The number at a position of the ascending order; 0 of none. */
static double number_at(double *v, size_t n, size_t at)
{
    if (n == 0)
        return 0;
    qsort(v, n, sizeof *v, compare_doubles);
    return v[at];
}

double lower_median(double *v, size_t n)
{
    return number_at(v, n, (n - 1) / 2);
}

double upper_median(double *v, size_t n)
{
    return number_at(v, n, n / 2);
}

double quantile_of(double *v, size_t n, double share)
{
    return number_at(v, n, n > 0 ? (size_t)(share * (double)(n - 1)) : 0);
}

int64_t upper_median_i64(int64_t *v, size_t n)
{
    if (n == 0)
        return 0;
    qsort(v, n, sizeof *v, compare_i64s);
    return v[n / 2];
}

double autocorrelation(const double *v, size_t n)
{
    double mean = 0, squares = 0, products = 0;
    if (n < 4)
        return 0;
    for (size_t i = 0; i < n; i++)
        mean += v[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        squares += (v[i] - mean) * (v[i] - mean);
        products += i > 0 ? (v[i] - mean) * (v[i - 1] - mean) : 0;
    }
    if (squares <= 0)
        return 0;
    const double seen = products / squares, rho = seen + (1 + 3 * seen) / (double)n; /* the bias of a short series */
    return rho < 0 ? 0 : rho > 0.95 ? 0.95 : rho;
}

double effective_number(const double *v, size_t n)
{
    const double effective = independent_number((double)n, autocorrelation(v, n));
    return n > 0 && effective < 1 ? 1 : effective;
}

double autocorrelation_of(double seen, double n)
{
    const double rho = n > 3 ? (seen + 1 / n) / (1 - 3 / n) : 0; /* the mean of `seen` is about rho - (1 + 3 rho) / n */
    return rho < 0 ? 0 : rho > 0.95 ? 0.95 : rho;
}

double independent_number(double n, double autocorrelation)
{
    return n * (1 - autocorrelation) / (1 + autocorrelation);
}

double normal_bound(double p)
{
    const double most = 37, root_two_pi = 2.50662827463100050242; /* beyond it erfc() has no normal number left */
    double z = p >= 0.5 ? 0 : p > 0 ? sqrt(-2 * log(2 * p)) : most;
    z = z < most ? z : most;
    /* Newton's method for the logarithm, which is concave: from this bound it approaches from above, in few steps. */
    for (int i = 0; z > 0 && z < most && i < 20; i++) {
        const double above = erfc(z / sqrt(2)) / 2, step = log(above / p) * above * root_two_pi * exp(z * z / 2);
        z += step;
        if (fabs(step) < 1e-15 * z)
            break;
    }
    return z;
}

double student_bound(double p, double freedom)
{
    const double pi = 3.14159265358979323846, f = freedom > 1 ? freedom : 1;
    if (f < 2) { /* both ends are exact */
        const double one = 1 / tan(pi * p), two = (1 - 2 * p) / sqrt(2 * p * (1 - p));
        return one * pow(two / one, f - 1);
    }
    const double z = normal_bound(p), d = f - 2.0 / 3 + 0.1 / f; /* Wallace's transformation of a normal number */
    const double power = z * z * (f - 5.0 / 6) / (d * d);
    return power < 600 ? sqrt(f * expm1(power)) : INFINITY;
}
