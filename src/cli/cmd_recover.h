/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_recover.h - `ascope recover`: writes the remaining records of a killed program into its files. */
#ifndef ASCOPE_CLI_CMD_RECOVER_H
#define ASCOPE_CLI_CMD_RECOVER_H

#include <stdio.h>

#include "cli/option_table.h"
#include "cli/command.h"

/* Recovers a collection before it is read. Prints one line, or nothing if there was nothing to recover. */
void recover_first(const struct arguments *a, const char *path, FILE *err);

int run_recover(struct arguments *a);

#endif
