/* SPDX-License-Identifier: Apache-2.0 */
/* counters_load.h - loads the streams of a device's samplers into tables. */
#ifndef ASCOPE_LOAD_COUNTERS_LOAD_H
#define ASCOPE_LOAD_COUNTERS_LOAD_H

#include "profile/profile.h"

/* Fills d->counters.raw. False only without memory. */
bool counters_load(struct profile *p, struct device *d, struct error *e);

#endif
