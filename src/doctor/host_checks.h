/* SPDX-License-Identifier: Apache-2.0 */
/* host_checks.h - checks of what this machine shows about programs: /proc, kernel events, clocks. */
#ifndef ASCOPE_DOCTOR_HOST_CHECKS_H
#define ASCOPE_DOCTOR_HOST_CHECKS_H

#include "doctor/check.h"

extern const struct check host_checks[]; /* the last one has no name */

#endif
