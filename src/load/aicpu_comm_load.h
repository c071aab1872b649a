/* SPDX-License-Identifier: Apache-2.0 */
/* aicpu_comm_load.h - what the AI CPUs of a device report of the communication that they schedule themselves. */
#ifndef ASCOPE_LOAD_AICPU_COMM_LOAD_H
#define ASCOPE_LOAD_AICPU_COMM_LOAD_H

#include "profile/profile.h"

/* Finds the group of each stream, after the groups and captured streams of the host were loaded. */
bool mc2_groups_index(struct profile *p, struct error *e);

bool aicpu_comm_load(struct device *d, struct error *e); /* false only without memory */

#endif
