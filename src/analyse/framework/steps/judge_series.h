/* SPDX-License-Identifier: Apache-2.0 */
/* judge_series.h - what is slow in one number of each step: runs of steps, periods, a drift, single steps. */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_STEPS_JUDGE_SERIES_H
#define ASCOPE_ANALYSE_FRAMEWORK_STEPS_JUDGE_SERIES_H

#include "analyse/framework/steps/judging.h"

/* Looks at a number of each step, class by class. */
bool series_look(struct judging *j, struct judge_one_series *s, const double *of_step, uint32_t n_classes);

#endif
