/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_export_stacks.h - `ascope export-stacks`. */
#ifndef ASCOPE_CLI_CMD_EXPORT_STACKS_H
#define ASCOPE_CLI_CMD_EXPORT_STACKS_H

#include "cli/command.h"

int run_export_stacks(struct arguments *a);

#endif
