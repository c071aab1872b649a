/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_run.h - `ascope run`: records any program, a running process or the machine from outside. */
#ifndef ASCOPE_CLI_CMD_RUN_H
#define ASCOPE_CLI_CMD_RUN_H

#include "cli/command.h"

int run_run(struct arguments *a);
size_t run_other_option(struct arguments *a,
                        char *const *given); /* options of msprof and of Python front ends, by their whole names */

#endif
