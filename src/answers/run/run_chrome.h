/* SPDX-License-Identifier: Apache-2.0 */
/* run_chrome.h - measures of a rank from a trace of torch.profiler.
 *
 * A kernel belongs to the step in which it was launched, and to the innermost operator with its external id. Steps are
 * divided as those of collections are (analyse/framework/steps/step_series.h).
 */
#ifndef ASCOPE_ANSWERS_RUN_RUN_CHROME_H
#define ASCOPE_ANSWERS_RUN_RUN_CHROME_H

#include "answers/run/run_measures.h"
#include "profile/chrome_trace.h"

/* All but the path. False: no memory, or nothing that can be compared, with the reason in e. */
bool run_of_chrome(struct measured_rank *out, const struct chrome_trace *t, struct names *names, struct arena *mem,
                   struct error *e);

/* Only its steps, n_steps of them, and whether there is a device: without is_slow, and without what only measures need.
 * 0 steps: the trace has none. False only without memory. */
bool run_steps_of_chrome(struct measured_rank *out, const struct chrome_trace *t, struct names *names,
                         struct arena *mem);

#endif
