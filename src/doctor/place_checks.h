/* SPDX-License-Identifier: Apache-2.0 */
/* place_checks.h - checks of the output directory: permissions, file system, free space. */
#ifndef ASCOPE_DOCTOR_PLACE_CHECKS_H
#define ASCOPE_DOCTOR_PLACE_CHECKS_H

#include "doctor/check.h"

extern const struct check place_checks[]; /* the last one has no name */

/* Parts of the checks, for tests: the finding for a file system type of statfs(), and for a number of free bytes. */
enum finding_state file_system_finding(uint32_t type, struct finding *f);
enum finding_state room_finding(uint64_t bytes, struct finding *f);

#endif
