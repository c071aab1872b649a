/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASCOPE_CLI_CMD_VIEW_H
#define ASCOPE_CLI_CMD_VIEW_H

#include "cli/command.h"

int run_view(struct arguments *a);

#endif
