/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_advise.h - `ascope advise`: suggests what to change to make a job faster. */
#ifndef ASCOPE_CLI_CMD_ADVISE_H
#define ASCOPE_CLI_CMD_ADVISE_H

#include "cli/command.h"

int run_advise(struct arguments *a);

#endif
