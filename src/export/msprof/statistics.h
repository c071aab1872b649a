/* SPDX-License-Identifier: Apache-2.0 */
/* statistics.h - count, sum, least, greatest, mean and variance of durations, as the reports round them.
 *
 * task_statistics are of device tasks, whose durations may have fractions of a nanosecond; call_statistics are of calls
 * of the host. Both start with zeros and own nothing.
 */
#ifndef ASCOPE_EXPORT_MSPROF_STATISTICS_H
#define ASCOPE_EXPORT_MSPROF_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct task_statistics {
    uint64_t n;
    double total_ns, min_ns, max_ns;
    bool has_fractions;
};

void task_statistics_add(struct task_statistics *s, double ns);
/* The mean. If all durations are whole nanoseconds it is rounded down to a whole one, as SQLite divides integers
 * (op_statistic). */
double task_statistics_average_ns(const struct task_statistics *s);

/* Two passes over the calls: add() every duration, then settle() the mean (rounded to 3 decimals of a µs), then
 * spread() every duration, which adds the square of its distance from the mean. With `rounds_each` each square is
 * rounded, too, as in the older form of api_statistic. */
struct call_statistics {
    uint64_t n;
    double total_ns, min_ns, max_ns;
    double average_us, squares;
};

void call_statistics_add(struct call_statistics *s, double ns);
void call_statistics_settle(struct call_statistics *s, bool rounds_each);
void call_statistics_spread(struct call_statistics *s, double ns, bool rounds_each);
double call_statistics_variance(const struct call_statistics *s);

#endif
