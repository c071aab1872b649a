/* SPDX-License-Identifier: Apache-2.0 */
/* view_steps.h - adds the steps of a collection or trace to the viewer's overview, and explains slow ones. */
#ifndef ASCOPE_VIEW_INPUTS_VIEW_STEPS_H
#define ASCOPE_VIEW_INPUTS_VIEW_STEPS_H

#include "answers/run/run_rank.h"
#include "view/rows/view_input.h"

bool view_steps_add(struct view_input *in, const struct run_rank *q); /* false: no memory */
/* The same of in->trace, whose steps are found. in->context: --steps-by. False: see e. */
bool view_trace_steps(struct view_input *in, struct error *e);

#endif
