/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_why.h - `ascope why`: explains why a step or a rank is slow. */
#ifndef ASCOPE_CLI_CMD_WHY_H
#define ASCOPE_CLI_CMD_WHY_H

#include "cli/command.h"

int run_why(struct arguments *a);

#endif
