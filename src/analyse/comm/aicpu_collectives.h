/* SPDX-License-Identifier: Apache-2.0 */
/* aicpu_collectives.h - collectives whose tasks are scheduled by an AI CPU of the device instead of the host.
 *
 * For the host such an operator is one AI CPU task. The tasks that run meanwhile belong to it. If the host launched a
 * collective, they are added to the tasks of this collective. An operator that computes and communicates (MC2) has its
 * own rows.
 */
#ifndef ASCOPE_ANALYSE_COMM_AICPU_COLLECTIVES_H
#define ASCOPE_ANALYSE_COMM_AICPU_COLLECTIVES_H

#include "profile/profile.h"

/* After comm_analyse(). */
bool aicpu_comm_analyse(struct profile *p, struct device *d, struct error *e);

#endif
