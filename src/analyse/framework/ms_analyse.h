/* SPDX-License-Identifier: Apache-2.0 */
/* ms_analyse.h - the relations in a collection of MindSpore: ranges and what they started on the device, and steps. */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_MS_ANALYSE_H
#define ASCOPE_ANALYSE_FRAMEWORK_MS_ANALYSE_H

#include "profile/collection.h"

/* After ms_load(): analyses the device's profile, then fills kernels, launches, tree, steps and lives. */
bool ms_analyse(struct collection *s, unsigned n_threads, struct error *e);

/* Whether tables assign what they show to steps. */
bool ms_has_steps(const struct collection *s);

#endif
