/* SPDX-License-Identifier: Apache-2.0 */
/* profiles_mean.h - the mean of what several steps spent their time on. */
#ifndef ASCOPE_ANSWERS_RUN_PROFILES_MEAN_H
#define ASCOPE_ANSWERS_RUN_PROFILES_MEAN_H

#include "analyse/framework/steps/step_layers.h"

struct weighted_profile {
    const struct step_profile *of;
    double weight; /* their sum is 1 */
};

/* Each kind and name once; the place is that of the longest. False only without memory. */
bool profiles_mean(struct step_profile *out, const struct weighted_profile *part, size_t n, struct arena *mem);

#endif
