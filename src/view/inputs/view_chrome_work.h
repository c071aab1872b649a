/* SPDX-License-Identifier: Apache-2.0 */
/* view_chrome_work.h - the work of the kernels in a trace of torch.profiler, for the roofline. */
#ifndef ASCOPE_VIEW_INPUTS_VIEW_CHROME_WORK_H
#define ASCOPE_VIEW_INPUTS_VIEW_CHROME_WORK_H

#include "view/rows/view_input.h"

/* `run` is the title of its part, which lives as long as the input, or "". False: e says why. */
bool view_chrome_work(struct view_input *in, const struct chrome_trace *t, const char *run, struct error *e);

#endif
