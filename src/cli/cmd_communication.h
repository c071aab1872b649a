/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_communication.h - `ascope communication`. */
#ifndef ASCOPE_CLI_CMD_COMMUNICATION_H
#define ASCOPE_CLI_CMD_COMMUNICATION_H

#include "cli/command.h"

int run_communication(struct arguments *a);

#endif
