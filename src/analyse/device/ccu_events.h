/* SPDX-License-Identifier: Apache-2.0 */
/* ccu_events.h - instructions of collective communication units with the plans of the host and the delays of their
 * channels. */
#ifndef ASCOPE_ANALYSE_DEVICE_CCU_EVENTS_H
#define ASCOPE_ANALYSE_DEVICE_CCU_EVENTS_H

#include "profile/profile.h"

/* Fills d->ccu.stream and d->ccu.events. False: no memory. */
bool ccu_analyse(struct profile *p, struct device *d, struct error *e);

#endif
