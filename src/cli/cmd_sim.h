/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_sim.h - `ascope sim`. */
#ifndef ASCOPE_CLI_CMD_SIM_H
#define ASCOPE_CLI_CMD_SIM_H

#include "cli/command.h"

int run_sim(struct arguments *a);

#endif
