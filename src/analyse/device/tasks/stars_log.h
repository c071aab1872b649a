/* SPDX-License-Identifier: Apache-2.0 */
/* stars_log.h - the task log of STARS: pairs begin and end records into tasks. */
#ifndef ASCOPE_ANALYSE_DEVICE_TASKS_STARS_LOG_H
#define ASCOPE_ANALYSE_DEVICE_TASKS_STARS_LOG_H

#include "profile/profile.h"

/* Fills d->log; its flips are sorted. False: no memory. */
bool stars_log_pair(struct profile *p, struct device *d, struct error *e);

#endif
