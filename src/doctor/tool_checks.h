/* SPDX-License-Identifier: Apache-2.0 */
/* tool_checks.h - checks of the parts of ascope, and of the msprof in PATH. */
#ifndef ASCOPE_DOCTOR_TOOL_CHECKS_H
#define ASCOPE_DOCTOR_TOOL_CHECKS_H

#include "doctor/check.h"

extern const struct check tool_checks[]; /* the last one has no name */

#endif
