/* SPDX-License-Identifier: Apache-2.0 */
/* aicpu_comm_load.h - what the AI CPUs of a device report of the communication that they schedule themselves. */
#ifndef ASCOPE_LOAD_AICPU_COMM_LOAD_H
#define ASCOPE_LOAD_AICPU_COMM_LOAD_H

#include "profile/profile.h"

/* Which group each stream schedules for, once the host's groups and captured streams are loaded. */
bool mc2_groups_index(struct profile *p, struct error *e);

bool aicpu_comm_load(struct device *d, struct error *e); /* false only without memory */

#endif
