/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_export_memory_timeline.h - `ascope export-memory-timeline`. */
#ifndef ASCOPE_CLI_CMD_EXPORT_MEMORY_TIMELINE_H
#define ASCOPE_CLI_CMD_EXPORT_MEMORY_TIMELINE_H

#include "cli/command.h"

int run_export_memory_timeline(struct arguments *a);

#endif
