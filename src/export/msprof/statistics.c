/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

#include <math.h>

#include "base/text/table.h"

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

void call_statistics_add(struct call_statistics *s, double ns)
{
    s->min_ns = s->n == 0 || ns < s->min_ns ? ns : s->min_ns;
    s->max_ns = s->n == 0 || ns > s->max_ns ? ns : s->max_ns;
    s->total_ns += ns;
    s->n++;
}

void call_statistics_settle(struct call_statistics *s, bool rounds_each)
{
    const double total_us = rounds_each ? round_exact(s->total_ns / 1000, 3) : s->total_ns / 1000;
    const double average = s->n > 0 ? total_us / (double)s->n : 0;
    s->average_us = rounds_each ? round_exact(average, 3) : round_away(average, 3);
}

void call_statistics_spread(struct call_statistics *s, double ns, bool rounds_each)
{
    const double off = ns / 1000 - s->average_us;
    s->squares += rounds_each ? round_exact(off * off, 3) : off * off;
}

double call_statistics_variance(const struct call_statistics *s)
{
    return s->n > 0 ? s->squares / (double)s->n : 0;
}
