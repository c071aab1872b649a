/* SPDX-License-Identifier: Apache-2.0 */
/* comm_operators.h - collectives as they ran: their tasks on the device, gathered into operators. */
#ifndef ASCOPE_ANALYSE_COMM_COMM_OPERATORS_H
#define ASCOPE_ANALYSE_COMM_COMM_OPERATORS_H

#include "profile/profile.h"

/* After tasks_analyse(). */
bool comm_analyse(struct profile *p, struct device *d, struct error *e);

/* "hcom_allReduce__483_1_1": the name, the last digits of the group's hash (NULL: no group), and two counts. */
name_id comm_op_name(const struct profile *p, name_id base, const uint64_t *group, int64_t count, uint32_t iteration);

#endif
