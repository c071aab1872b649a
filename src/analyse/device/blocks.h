/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.h - the number of blocks of an operator, where the device decided it. */
#ifndef ASCOPE_ANALYSE_DEVICE_BLOCKS_H
#define ASCOPE_ANALYSE_DEVICE_BLOCKS_H

#include "profile/profile.h"

/* Puts the device's numbers in the place of the host's in p->host.ops. After device_log_analyse(). False: no memory. */
bool blocks_analyse(struct profile *p, struct device *d, struct error *e);

#endif
