/* SPDX-License-Identifier: Apache-2.0 */
/* describe.h - count, mean, standard deviation, quartiles and sum of durations, as pandas computes them.
 *
 * Durations of a group are kept as (value, count) for all ranks: devices count in ticks, so that few values are
 * different, and the quartiles of any number of ranks are exact. What is computed does not depend on the order in which
 * values were added: sums are integers, and the deviation is added up in the order of the values.
 */
#ifndef ASCOPE_CLUSTER_RANK_DESCRIBE_H
#define ASCOPE_CLUSTER_RANK_DESCRIBE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory/keys.h"

struct durations { /* all zeros: none */
    struct keys value;
    LIST(uint64_t) count;
};

struct description {
    uint64_t count;
    double mean;
    double std;            /* of a sample (n - 1); NAN for one value */
    double population_std; /* of all (n) */
    double min, q1, median, q3, max;
    int64_t sum;
    int64_t min_ns, max_ns; /* the same as min and max, to the last digit */
};

bool durations_add(struct durations *d, int64_t ns, uint64_t times, struct arena *mem);
void durations_clear(struct durations *d);
/* False: no memory. There is at least one value. */
bool durations_describe(const struct durations *d, struct description *out);

#endif
