/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_cluster.h - `ascope cluster`. */
#ifndef ASCOPE_CLI_CMD_CLUSTER_H
#define ASCOPE_CLI_CMD_CLUSTER_H

#include "cli/command.h"

int run_cluster(struct arguments *a);

#endif
