/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_analyse.h - `ascope analyse`. */
#ifndef ASCOPE_CLI_CMD_ANALYSE_H
#define ASCOPE_CLI_CMD_ANALYSE_H

#include "cli/command.h"

int run_analyse(struct arguments *a);

#endif
