/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - the events on a device at which the flow events from the host end. */
#ifndef ASCOPE_ANALYSE_FLOW_KERNELS_H
#define ASCOPE_ANALYSE_FLOW_KERNELS_H

#include "profile/collection.h"

/* After profile_analyse(). False only without memory. */
bool kernels_collect(struct kernels *k, const struct profile *p, struct arena *mem);

/* Sorts the rows as struct kernels says. */
bool kernels_sort(struct kernels *k, struct arena *mem);
bool kernels_take(struct kernels *k, size_t n, struct arena *mem); /* room for n rows, of which there are none yet */

#endif
