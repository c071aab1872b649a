/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_export.h - `ascope export`, and `msprof.py import`, which reads and checks and writes nothing. */
#ifndef ASCOPE_CLI_CMD_EXPORT_H
#define ASCOPE_CLI_CMD_EXPORT_H

#include "cli/command.h"

int run_export(struct arguments *a);
int export_run(struct arguments *a,
               size_t first_dir); /* options.want is set; exports -dir and the words from first_dir on */
int run_import(struct arguments *a);

#endif
