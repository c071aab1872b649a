/* SPDX-License-Identifier: Apache-2.0 */
/* statistics.h - statistics of durations, in the two forms of the reports.
 *
 * Durations of device tasks, which may have fractions of a nanosecond, and durations of calls.
 */
#ifndef ASCOPE_EXPORT_MSPROF_STATISTICS_H
#define ASCOPE_EXPORT_MSPROF_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tasks. Start with zeros. */
struct task_statistics {
    uint64_t n;
    double total_ns, min_ns, max_ns;
    bool has_fractions;
};

void task_statistics_add(struct task_statistics *s, double ns);
/* Whole nanoseconds give a whole average, the rest is dropped, as SQLite divides integers: op_statistic shows it. */
double task_statistics_average_ns(const struct task_statistics *s);

/* Calls, in two passes: first the durations are added up, then the average is settled (rounded to 3 decimals of a µs),
 * then every distance from it counts. With `rounds_each` every square is rounded too: the older form of api_statistic
 * shows it. Start with zeros. */
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
