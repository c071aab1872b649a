/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_doctor.h - `ascope doctor`. */
#ifndef ASCOPE_CLI_CMD_DOCTOR_H
#define ASCOPE_CLI_CMD_DOCTOR_H

#include "cli/command.h"

int run_doctor(struct arguments *a);

#endif
