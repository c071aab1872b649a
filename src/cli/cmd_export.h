/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_export.h - `ascope export` and `ascope import`. */
#ifndef ASCOPE_CLI_CMD_EXPORT_H
#define ASCOPE_CLI_CMD_EXPORT_H

#include "cli/command.h"

int run_export(struct arguments *a);
int export_run(struct arguments *a, size_t first_dir); /* options.want is set: of -dir and the words from there on */
int run_import(struct arguments *a);

#endif
