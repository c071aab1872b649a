/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_export_trace.h - `ascope export-trace`. */
#ifndef ASCOPE_CLI_CMD_EXPORT_TRACE_H
#define ASCOPE_CLI_CMD_EXPORT_TRACE_H

#include "cli/command.h"

int run_export_trace(struct arguments *a);

#endif
