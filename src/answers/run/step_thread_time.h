/* SPDX-License-Identifier: Apache-2.0 */
/* step_thread_time.h - where the thread of a step was: on a processor, waiting for one, or blocked.
 *
 * Counted by the kernel while the step ran (collect/samplers/step_thread.h), whatever else was recorded of it. So
 * a step whose operators take longer because their thread had no processor differs from one that computes longer.
 */
#ifndef ASCOPE_ANSWERS_RUN_STEP_THREAD_TIME_H
#define ASCOPE_ANSWERS_RUN_STEP_THREAD_TIME_H

#include "answers/run/run_rank.h"

struct step_thread_time {
    bool is_known;
    double cpu_ns, ready_ns, blocked_ns; /* on a processor; waiting for one; neither. They add up to the step */
    double faults, disk_faults;          /* page faults without and with the disk */
};

/* The mean over rows of the series. Unknown: one of them was not recorded, or is no step of the profiler. */
struct step_thread_time step_thread_mean(const struct run_rank *q, const struct step_series *s, const uint32_t *row,
                                         size_t n);

/* How much of an excess is the wait for a processor: 0 to 1; 0: unknown. */
double step_thread_share(const struct step_thread_time *before, const struct step_thread_time *after, double more_ns);

#endif
