/* SPDX-License-Identifier: Apache-2.0 */
/* iterations.h - iterations, from the stamps that a device writes while a model runs.
 *
 * A model's run is stamped at its begin and end, and every iteration in it at the begin of the forward pass, at the end
 * of the backward pass and at its own end. Pipeline stages overlap, so that stamps are first assigned to the iterations
 * that wait for them; then a run is divided into iterations. Frameworks stamp their training steps, too.
 */
#ifndef ASCOPE_ANALYSE_DEVICE_ITERATIONS_H
#define ASCOPE_ANALYSE_DEVICE_ITERATIONS_H

#include "profile/profile.h"

/* Fills d->steps but its marks. Everything is taken from the device's arena; stamps that fit nowhere are counted in its
 * losses. False only without memory. */
bool steps_analyse(struct profile *p, struct device *d, struct error *e);

#endif
