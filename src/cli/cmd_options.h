/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_options.h - `ascope options check`. */
#ifndef ASCOPE_CLI_CMD_OPTIONS_H
#define ASCOPE_CLI_CMD_OPTIONS_H

#include "cli/command.h"

int run_options_command(struct arguments *a);

#endif
