/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/step_thread_time.h"

#include <math.h>

struct step_thread_time step_thread_mean(const struct run_rank *q, const struct step_series *s, const uint32_t *row,
                                         size_t n)
{
    const struct step_threads *const t = q->collection ? &q->collection->framework.step_threads : NULL;
    struct step_thread_time sum = { .is_known = t && t->n > 0 && n > 0 && !s->by && !s->is_whole };
    for (size_t i = 0; i < n && sum.is_known; i++) {
        /* The record begins just before the range of the step, on the same thread. */
        const uint32_t k = step_series_at(t->begin_ns, t->end_ns, t->n, s->host_begin_ns[row[i]]);
        if (k == NO_ROW)
            return (struct step_thread_time){ 0 };
        const double all = (double)(t->end_ns[k] - t->begin_ns[k]), cpu = fmin((double)t->cpu_ns[k], all),
                     ready = fmin((double)t->ready_ns[k], all - cpu);
        sum.cpu_ns += cpu / (double)n;
        sum.ready_ns += ready / (double)n;
        sum.blocked_ns += (all - cpu - ready) / (double)n;
        sum.faults += t->minor[k] / (double)n;
        sum.disk_faults += t->major[k] / (double)n;
    }
    return sum;
}

double step_thread_share(const struct step_thread_time *before, const struct step_thread_time *after, double more_ns)
{
    const double ready_ns = after->ready_ns - before->ready_ns;
    return before->is_known && after->is_known && more_ns > 0 && ready_ns > 0 ? fmin(ready_ns / more_ns, 1) : 0;
}
