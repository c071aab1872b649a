/* SPDX-License-Identifier: Apache-2.0 */
/* host_pauses.h - moments in which the device waits for a host of which nothing new is recorded for long: no operator,
 * call or Python function of the threads that work begins or ends.
 *
 * Pauses in the same thing (an operator, or nothing) are a group. A group that is as long in nearly each step is part
 * of the program, such as Python that was not recorded. One whose length varies widely was done to the program: it had
 * no processor, or not Python's lock.
 */
#ifndef ASCOPE_ANSWERS_CHECKS_HOST_PAUSES_H
#define ASCOPE_ANSWERS_CHECKS_HOST_PAUSES_H

#include "answers/checks/host_gaps.h"

struct host_pause {
    int64_t begin_ns, end_ns;
    uint32_t step;
    bool is_recorded; /* something is open meanwhile: kind and row */
    enum span_kind kind;
    size_t row;
    name_id name; /* of it; NAME_EMPTY: nothing */
    bool is_steady;
};

struct host_pauses {
    size_t n; /* by name, then by begin */
    struct host_pause *at;
};

/* step_ns: of a usual step, n_steps of which count. False: no memory. */
bool host_pauses_find(struct host_pauses *out, const struct rank_spans *v, const struct host_gaps *g, double step_ns,
                      size_t n_steps, struct arena *mem);

#endif
