/* SPDX-License-Identifier: Apache-2.0 */
/* python_self.h - how long each Python function ran, without the calls inside it. */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_PYTHON_SELF_H
#define ASCOPE_ANALYSE_FRAMEWORK_PYTHON_SELF_H

#include "profile/framework.h"

struct python_self {
    uint64_t n; /* calls */
    int64_t ns;
};

/* Sums by name: `by_name` has a zeroed row for each name. Threads with less than a tenth of the calls of the busiest
 * thread do not count: they wait for queues, locks and processes most of the time. False only without memory. */
bool python_self_sum(struct python_self *by_name, const struct python_calls *c);

#endif
