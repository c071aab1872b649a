#include "export/statistics.h"

#include <math.h>

#include "base/table.h"

void task_statistics_add(struct task_statistics *s, double ns)
{
    s->min_ns = s->n == 0 || ns < s->min_ns ? ns : s->min_ns;
    s->max_ns = s->n == 0 || ns > s->max_ns ? ns : s->max_ns;
    s->total_ns += ns;
    s->has_fractions = s->has_fractions || ns != floor(ns);
    s->n++;
}

double task_statistics_average_ns(const struct task_statistics *s)
{
    if (s->n == 0)
        return 0;
    const double average = s->total_ns / (double)s->n;
    return s->has_fractions ? average : floor(average);
}

struct call_statistics call_statistics_of(const double *duration_ns, size_t n, bool rounds_each)
{
    struct call_statistics s = { .n = n };
    double total_ns = 0; /* exact, unless a tick is a fraction of a nanosecond */
    for (size_t i = 0; i < n; i++) {
        const double us = duration_ns[i] / 1000;
        total_ns += duration_ns[i];
        s.min_us = i == 0 || us < s.min_us ? us : s.min_us;
        s.max_us = i == 0 || us > s.max_us ? us : s.max_us;
    }
    if (n == 0)
        return s;
    s.total_us = rounds_each ? round_exact(total_ns / 1000, 3) : total_ns / 1000;
    const double average = s.total_us / (double)n;
    s.average_us = rounds_each ? round_exact(average, 3) : round_away(average, 3);
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        const double off = duration_ns[i] / 1000 - s.average_us;
        squares += rounds_each ? round_exact(off * off, 3) : off * off;
    }
    s.variance = squares / (double)n;
    return s;
}
