/* SPDX-License-Identifier: Apache-2.0 */
/* aicpu_collectives.h - collectives that the AI CPU of a device schedules, not the host task by task.
 *
 * Such an operator is one AI CPU task; the tasks that ran while it did belong to it. If the host launched a collective, they
 * are added to its tasks. If the operator computes and communicates by itself (MC2), it has rows of its own.
 */
#ifndef ASCOPE_ANALYSE_COMM_AICPU_COLLECTIVES_H
#define ASCOPE_ANALYSE_COMM_AICPU_COLLECTIVES_H

#include "profile/profile.h"

/* After comm_analyse(). */
bool aicpu_comm_analyse(struct profile *p, struct device *d, struct error *e);

#endif
