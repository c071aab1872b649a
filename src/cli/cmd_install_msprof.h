/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_install_msprof.h - the names by which torch_npu and MindSpore find msprof, so that their analysis runs on ascope.
 *
 * They take msprof from the PATH, resolve its links, cut the path at the first "tools" and look for msprof.py and
 * get_msprof_info.py below what is left. So msprof is a file in DIR/tools/profiler/bin, and DIR/bin has a link to it. The
 * files hand over to the program that made them, by its path, or else to the ascope in the PATH. Owner and mode matter,
 * too: MindSpore refuses what is not executable or belongs to another user than root and its own.
 */
#ifndef ASCOPE_CLI_CMD_INSTALL_MSPROF_H
#define ASCOPE_CLI_CMD_INSTALL_MSPROF_H

#include "cli/option_table.h"

int run_install_msprof(struct arguments *a);

#endif
