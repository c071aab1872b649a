/* SPDX-License-Identifier: Apache-2.0 */
/* judge_ranks.h - what is slow on a rank, against its peers in the same steps. */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_STEPS_JUDGE_RANKS_H
#define ASCOPE_ANALYSE_FRAMEWORK_STEPS_JUDGE_RANKS_H

#include "analyse/framework/steps/judging.h"

/* Slow ranks, uneven work, and what ranks take longer for in some steps. */
bool ranks_look(struct judging *j, struct judge_one_series *s, uint32_t n_classes);

#endif
