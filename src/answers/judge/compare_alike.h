/* SPDX-License-Identifier: Apache-2.0 */
/* compare_alike.h - which iterations of an inference engine are compared: a prompt and a decode have nothing in common. */
#ifndef ASCOPE_ANSWERS_JUDGE_COMPARE_ALIKE_H
#define ASCOPE_ANSWERS_JUDGE_COMPARE_ALIKE_H

#include "answers/judge/compare.h"

/* Part of compare_runs(): means become those of iterations of one class and size. Without any that all runs have, as of
 * training steps, they stay those of all steps. False: no memory. */
bool compare_alike(struct comparison *c, struct measured_run *run, struct arena *mem);

#endif
