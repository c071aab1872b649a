/* SPDX-License-Identifier: Apache-2.0 */
/* step_times.h - the time of a device in a step: computing, communicating, waiting.
 *
 * Exact, from the intervals themselves: everything that began in [begin_ns, end_ns).
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_STEPS_STEP_TIMES_H
#define ASCOPE_ANALYSE_FRAMEWORK_STEPS_STEP_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one device did, by ascending begin. */
struct device_work {
    struct {
        size_t n;
        const int64_t *begin_ns, *end_ns;
    } compute, comm;
    const bool *is_receive; /* of comm: it waits for another stage of a pipeline */
};

struct step_time {
    int64_t computing_ns, communication_ns;
    int64_t exposed_ns; /* communication while nothing was computed */
    int64_t free_ns;    /* neither, between the first and the last interval */
    int64_t bubble_ns;  /* sum over what was received */
    int64_t stage_ns;   /* from the first begin to the last end, without the bubble */
    bool has_any;
    int64_t first_ns; /* begin of the first interval */
};

struct step_time step_time_of(const struct device_work *w, int64_t begin_ns, int64_t end_ns);

#endif
