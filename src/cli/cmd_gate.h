/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_gate.h - `ascope gate`: whether new runs are slower than allowed, for continuous integration. */
#ifndef ASCOPE_CLI_CMD_GATE_H
#define ASCOPE_CLI_CMD_GATE_H

#include "cli/command.h"

int run_gate(struct arguments *a);

#endif
