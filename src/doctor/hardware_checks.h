/* SPDX-License-Identifier: Apache-2.0 */
/* hardware_checks.h - checks of CPUs, memory, NUMA nodes and network cards, and of their limits: cgroups,
 * containers, resource limits. */
#ifndef ASCOPE_DOCTOR_HARDWARE_CHECKS_H
#define ASCOPE_DOCTOR_HARDWARE_CHECKS_H

#include "doctor/check.h"

extern const struct check hardware_checks[]; /* the last one has no name */

#endif
