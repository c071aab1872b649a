/* SPDX-License-Identifier: Apache-2.0 */
/* step_division.h - what the time of a step of a collection was spent on (step_layers.h).
 *
 * Each moment of a step belongs to the first of these that was there: an operator of the device; a collective that
 * waited for other ranks; one that transferred data; a copy; a garbage collection; the host waiting for data, or
 * allocating memory; an operator of the host, a Python function, a range of the user; nothing that was recorded. Of
 * several of one kind it belongs to the one that began first on a device, and to the innermost one on the host. Work
 * that spans two steps is split.
 *
 * Without a device the operators of the host are in the place of those of a device.
 *
 * Built on demand from columns, after the analysis. Names are texts of the profile's set, or of `mem`.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_STEPS_STEP_DIVISION_H
#define ASCOPE_ANALYSE_FRAMEWORK_STEPS_STEP_DIVISION_H

#include "analyse/framework/steps/step_layers.h"

/* `waits`: of the collectives whose members were read; of others on an NPU the tasks that wait count. NULL: of none.
 * `wanted`: rows of the series, each once. `collection` is NULL of a PROF directory. False only without memory. */
bool step_division_find(struct step_division *out, const struct step_series *s, const struct profile *p,
                        const struct device *d, const struct collection *collection, const struct known_waits *waits,
                        const uint32_t *wanted, size_t n_wanted, struct arena *mem);

#endif
