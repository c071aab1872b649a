/* SPDX-License-Identifier: Apache-2.0 */
/* tool_checks.h - the parts of ascope itself, and which msprof a shell finds. */
#ifndef ASCOPE_DOCTOR_TOOL_CHECKS_H
#define ASCOPE_DOCTOR_TOOL_CHECKS_H

#include "doctor/check.h"

extern const struct check tool_checks[]; /* the last one has no name */

#endif
