/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_compare.h - `ascope compare`: compares two runs, each a collection, a job, or traces of torch.profiler. */
#ifndef ASCOPE_CLI_CMD_COMPARE_H
#define ASCOPE_CLI_CMD_COMPARE_H

#include "cli/command.h"

int run_compare(struct arguments *a);

#endif
