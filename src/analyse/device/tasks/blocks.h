/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.h - the number of blocks of operators for which the device, not the host, determined it. */
#ifndef ASCOPE_ANALYSE_DEVICE_TASKS_BLOCKS_H
#define ASCOPE_ANALYSE_DEVICE_TASKS_BLOCKS_H

#include "profile/profile.h"

/* Replaces the host's numbers in p->host.ops by those of the device. After device_log_analyse(). False: no memory. */
bool blocks_analyse(struct profile *p, struct device *d, struct error *e);

#endif
