/* SPDX-License-Identifier: Apache-2.0 */
/* fused_parts.h - parts of fused tasks, of which a task log of short records has the begins and ends. */
#ifndef ASCOPE_ANALYSE_DEVICE_TASKS_FUSED_PARTS_H
#define ASCOPE_ANALYSE_DEVICE_TASKS_FUSED_PARTS_H

#include "profile/profile.h"

/* Fills d->log.fused, as long as the log's events are there: the first begin of a task is paired with its first end,
 * the second with the second. False: no memory. */
bool fused_parts_analyse(struct profile *p, struct device *d, struct error *e);

#endif
