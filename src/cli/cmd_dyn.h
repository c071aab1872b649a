/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_dyn.h - `ascope dyn`: starts collections in running jobs that listen to a directory. */
#ifndef ASCOPE_CLI_CMD_DYN_H
#define ASCOPE_CLI_CMD_DYN_H

#include "cli/command.h"

int run_dyn(struct arguments *a);
size_t dyn_other_option(struct arguments *a,
                        char *const *given); /* accepts keys of profiler_config.json: --KEY=VALUE */

#endif
