/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_steps.h - the steps of a trace of torch.profiler, and what their time was spent on.
 *
 * The same answers that step_series.h and step_division.h give about collections, by the same rules. What such a trace
 * does not show: how much of a collective was waiting for other ranks (all of it counts as transfer), garbage
 * collections, and the clock of the device.
 */
#ifndef ASCOPE_ANSWERS_RUN_CHROME_STEPS_H
#define ASCOPE_ANSWERS_RUN_CHROME_STEPS_H

#include "analyse/framework/steps/step_layers.h"
#include "profile/chrome_trace.h"

/* Names of steps are added to `names`. A trace without steps has an empty series. False only without memory. */
bool step_series_of_chrome(struct step_series *s, const struct chrome_trace *t, struct names *names, struct arena *mem);

/* `wanted`: rows of the series, each once. Names are texts of the trace. False only without memory. */
bool step_division_of_chrome(struct step_division *out, const struct step_series *s, const struct chrome_trace *t,
                             const struct known_waits *waits, const uint32_t *wanted, size_t n_wanted,
                             struct arena *mem);

#endif
