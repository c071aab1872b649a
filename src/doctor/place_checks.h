/* SPDX-License-Identifier: Apache-2.0 */
/* place_checks.h - the directory of recordings: rights, file system, room. */
#ifndef ASCOPE_DOCTOR_PLACE_CHECKS_H
#define ASCOPE_DOCTOR_PLACE_CHECKS_H

#include "doctor/check.h"

extern const struct check place_checks[]; /* the last one has no name */

/* Parts of them, for tests: by the type that statfs() gives, and by the bytes that are free. */
enum finding_state file_system_finding(uint32_t type, struct finding *f);
enum finding_state room_finding(uint64_t bytes, struct finding *f);

#endif
