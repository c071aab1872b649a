/* SPDX-License-Identifier: Apache-2.0 */
/* aicpu_collectives.h - collectives that are scheduled by the AI CPU of the device, and not task by task by the host.
 *
 * An AI CPU task stands for such an operator; the small tasks that ran while it did belong to it. When the host asked for a
 * collective, they are added to that collective's. When the operator computes and communicates by itself (MC2), it has rows
 * of its own.
 */
#ifndef ASCOPE_ANALYSE_COMM_AICPU_COLLECTIVES_H
#define ASCOPE_ANALYSE_COMM_AICPU_COLLECTIVES_H

#include "profile/profile.h"

/* After comm_analyse(). */
bool aicpu_comm_analyse(struct profile *p, struct device *d, struct error *e);

#endif
