/* SPDX-License-Identifier: Apache-2.0 */
/* task_log_load.h - loads the task log of a device's scheduler: begin and end records. */
#ifndef ASCOPE_LOAD_TASK_LOG_LOAD_H
#define ASCOPE_LOAD_TASK_LOG_LOAD_H

#include "profile/profile.h"

/* Fills d->log.events or d->log.edges, in the form that the chip writes; analysis pairs them and releases them. Called after
 * all other readers of the device: the log shares its streams with them, and counts unknown records. False: out of memory. */
bool task_log_load(struct device *d, struct error *e);

#endif
