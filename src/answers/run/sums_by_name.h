/* SPDX-License-Identifier: Apache-2.0 */
/* sums_by_name.h - sums by name, the largest of which are the evidence of a finding. */
#ifndef ASCOPE_ANSWERS_RUN_SUMS_BY_NAME_H
#define ASCOPE_ANSWERS_RUN_SUMS_BY_NAME_H

#include "analyse/framework/steps/step_division.h"

struct name_sum {
    name_id name;
    uint64_t n;
    double gain_ns, time_ns, longest_ns;
    struct spent_place place; /* of the longest */
};

struct sums_by_name {
    uint32_t *row; /* by name: row + 1 */
    size_t n_names;
    LIST(struct name_sum) list;
    struct arena *mem;
};

bool sums_begin(struct sums_by_name *s, const struct names *names, struct arena *mem); /* false: no memory */
void sums_add(struct sums_by_name *s, name_id name, double gain_ns, double time_ns, const struct spent_place *place);
void sums_sort(struct sums_by_name *s, const struct names *names); /* by gain, the largest first; equal ones by text */

#endif
