/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_recover.h - what a killed program had no time to write goes into its files before they are read. */
#ifndef ASCOPE_CLI_CMD_RECOVER_H
#define ASCOPE_CLI_CMD_RECOVER_H

#include <stdio.h>

#include "cli/option_table.h"
#include "cli/command.h"

/* Says in one line what it did; nothing when there is nothing to do. Whatever it says, what is in the files can be read. */
void recover_first(const struct arguments *a, const char *path, FILE *err);

int run_recover(struct arguments *a);

#endif
