/* statistics.h - how long things of one kind took, in the two ways in which the reports count: durations of device tasks,
 * which may have fractions of a nanosecond, and durations of calls. */
#ifndef ASCOPE_EXPORT_STATISTICS_H
#define ASCOPE_EXPORT_STATISTICS_H

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

/* Calls, in µs. The average is rounded to 3 decimals before the variance is computed from it. */
struct call_statistics {
    size_t n;
    double total_us, min_us, max_us, average_us, variance;
};

/* With `rounds_each` every square is rounded to 3 decimals too: the step and graph form of api_statistic shows it. */
struct call_statistics call_statistics_of(const double *duration_ns, size_t n, bool rounds_each);

#endif
