/* SPDX-License-Identifier: Apache-2.0 */
/* metric_groups.h - the groups of counters that a collection can have, as tables: see metrics.h. */
#ifndef ASCOPE_PROFILE_METRIC_GROUPS_H
#define ASCOPE_PROFILE_METRIC_GROUPS_H

#include "profile/metrics.h"

struct metric_group {
    const char *name; /* as sample.json spells it */
    const struct metric *metric;
    size_t n;
};

/* Chips with cube and vector unit in one core, and those that count ten events, have groups of their own. NULL: no such
 * group. */
const struct metric_group *metric_group_find(const char *name, const struct chip *chip);

#endif
