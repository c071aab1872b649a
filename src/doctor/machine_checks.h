/* SPDX-License-Identifier: Apache-2.0 */
/* machine_checks.h - registry: the checks of this machine. */
#ifndef ASCOPE_DOCTOR_MACHINE_CHECKS_H
#define ASCOPE_DOCTOR_MACHINE_CHECKS_H

#include "doctor/check.h"

/* hardware_checks.c: checks of CPUs, memory, NUMA nodes and network cards, and of their limits: cgroups,
 * containers, resource limits. */
extern const struct machine_check hardware_checks[]; /* the last one has no name */

/* host_checks.c: checks of what this machine shows about programs: /proc, kernel events, clocks. */
extern const struct machine_check host_checks[]; /* the last one has no name */

/* place_checks.c: checks of the output directory: permissions, file system, free space. */
extern const struct machine_check place_checks[]; /* the last one has no name */

/* Parts of the checks, for tests: the finding for a file system type of statfs(), and for a number of free bytes. */
enum finding_state file_system_finding(uint32_t type, struct machine_finding *f);
enum finding_state room_finding(uint64_t bytes, struct machine_finding *f);

/* tool_checks.c: checks of the parts of ascope, and of the msprof in PATH. */
extern const struct machine_check tool_checks[]; /* the last one has no name */

#endif
