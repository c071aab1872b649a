/* SPDX-License-Identifier: Apache-2.0 */
/* collection_analyse.h - the relations in a collection of a framework: operators and what they started on the device,
 * and steps. */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_COLLECTION_ANALYSE_H
#define ASCOPE_ANALYSE_FRAMEWORK_COLLECTION_ANALYSE_H

#include "profile/collection.h"

/* After pt_load(): analyses the device's profile, then fills kernels, tree and steps. */
bool collection_analyse(struct collection *s, unsigned n_threads, struct error *e);

/* Whether its device is simulated: the times of the device are not measured. */
bool collection_is_simulated(const struct collection *s);

/* Adds the losses of its device and framework parts. */
void collection_losses(const struct collection *s, struct losses *out);

#endif
