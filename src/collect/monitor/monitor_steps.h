/* SPDX-License-Identifier: Apache-2.0 */
/* monitor_steps.h - where a step of the monitored program ends, for the functions of the recorder that count steps. */
#ifndef ASCOPE_COLLECT_MONITOR_MONITOR_STEPS_H
#define ASCOPE_COLLECT_MONITOR_MONITOR_STEPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Who says that a step ends: only the first of these that has called counts. */
enum monitor_by { BY_MONITOR, BY_DYNAMIC, BY_FLIGHT, BY_PROFILER, BY_ITERATION };

extern _Atomic bool monitor_is_off; /* nothing is monitored, and the environment does not ask for it */
bool monitor_step_taken(enum monitor_by by, int64_t number);

/* number: of the step that ends; below 0: the next one. True: a record was written. */
static inline bool monitor_step(enum monitor_by by, int64_t number)
{
    return !atomic_load_explicit(&monitor_is_off, memory_order_relaxed) && monitor_step_taken(by, number);
}

#endif
