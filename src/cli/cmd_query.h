/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_query.h - `ascope query`. */
#ifndef ASCOPE_CLI_CMD_QUERY_H
#define ASCOPE_CLI_CMD_QUERY_H

#include "cli/command.h"

int run_query(struct arguments *a);

#endif
