/* SPDX-License-Identifier: Apache-2.0 */
/* trace_steps.h - which slices of a trace are its steps: ranges of the profiler (ProfilerStep#3), or what repeats
 * (step_marks.h). */
#ifndef ASCOPE_ANSWERS_RUN_TRACE_STEPS_H
#define ASCOPE_ANSWERS_RUN_TRACE_STEPS_H

#include "profile/chrome_trace.h"

/* Fills t->steps. `by`: the ranges to take (--steps-by); NULL: those of the profiler, or else what repeats. False: see
 * e. */
bool trace_steps_find(struct chrome_trace *t, const char *by, struct error *e);

#endif
