/* SPDX-License-Identifier: Apache-2.0 */
/* operators.h - what the host launched, from tasks and the calls around them: host tasks, compute operators,
 * collectives. */
#ifndef ASCOPE_ANALYSE_HOST_OPERATORS_H
#define ASCOPE_ANALYSE_HOST_OPERATORS_H

#include "profile/profile.h"

/* After calls_analyse(). Fills host.tasks, host.ops and host.comm. */
bool operators_analyse(struct profile *p, struct error *e);

/* True for operators that only schedule communication: they run on the stream of a scheduler or have its name. They do
 * not count as computing. */
bool op_is_schedule(const struct profile *p, uint16_t stream, uint32_t op);

#endif
