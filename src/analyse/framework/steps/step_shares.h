/* SPDX-License-Identifier: Apache-2.0 */
/* step_shares.h - the time of each step on one device, by kind. */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_STEPS_STEP_SHARES_H
#define ASCOPE_ANALYSE_FRAMEWORK_STEPS_STEP_SHARES_H

#include "analyse/framework/steps/profiler_steps.h"

/* The work of a device, as its timeline shows it. */
struct step_work {
    const struct overlap *overlap;
    size_t n_receives; /* collectives that wait for another rank's data */
    const int64_t *receive_begin_ns, *receive_end_ns;
};

/* The work that began in one step. `has` distinguishes an empty sum from one that is 0. */
struct step_share {
    uint32_t step; /* row of profiler_steps; NO_ROW: there are no steps, and this is all */
    int64_t sum_ns[OVERLAP_KINDS], receive_ns;
    bool has[OVERLAP_KINDS], has_receive;
    int64_t begin_ns, end_ns; /* of all of it */
    int64_t first_ns;         /* begin of the first computing or communication; has_first */
    bool has_first;
};

/* Steps in which nothing began are left out; without steps there is one, or none. In the order of the steps' numbers,
 * those without one after them. False only without memory. */
bool step_shares_build(const struct profiler_steps *s, const struct step_index *x, const struct step_work *w,
                       const struct names *names, struct arena *mem, struct step_share **out, size_t *n);

/* Steps of step_trace_time, which these shares are, that are not what the device did in the time of the step
 * (step_series.h). */
struct step_series;
struct shares_difference {
    size_t n_lacking; /* steps without a row, or of which nothing is counted */
    size_t
        n_others; /* of which computing, communication, or what of it is exposed is another, by more than a hundredth of
                     the step */
};
bool step_shares_differ(struct shares_difference *out, const struct collection *c, const struct device *d,
                        const struct step_series *s, struct arena *mem); /* false: no memory */

/* The time between the begin of the step on the host, or of the first operator, and the first work on the device. */
int64_t step_preparing_ns(const struct step_share *t, const struct profiler_steps *s, const struct framework_ops *o);

/* The collectives of a device for which it waits. */
bool step_receives(struct step_work *w, const struct device *d, const struct names *names, struct arena *mem);

#endif
