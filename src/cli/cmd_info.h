/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_info.h - `ascope info`. */
#ifndef ASCOPE_CLI_CMD_INFO_H
#define ASCOPE_CLI_CMD_INFO_H

#include "cli/command.h"

int run_info(struct arguments *a);

#endif
