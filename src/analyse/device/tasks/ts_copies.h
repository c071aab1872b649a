/* SPDX-License-Identifier: Apache-2.0 */
/* ts_copies.h - memory copies of the task scheduler itself, from its records of request, begin and end. */
#ifndef ASCOPE_ANALYSE_DEVICE_TASKS_TS_COPIES_H
#define ASCOPE_ANALYSE_DEVICE_TASKS_TS_COPIES_H

#include "profile/profile.h"

/* Fills d->log.copies from its copy_states, and joins them to the host's tasks that tasks_analyse() has found no others
 * for. Copies of which a state is missing, and those from before the collection, are counted. False: no memory. */
bool ts_copies_analyse(struct profile *p, struct device *d, struct error *e);

#endif
