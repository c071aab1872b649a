/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_install_msprof.h - the files by which torch_npu and MindSpore find msprof, so that their analysis runs on ascope.
 *
 * They take msprof from the PATH, resolve its links, cut the path at the first "tools" and search msprof.py and
 * get_msprof_info.py below the rest. msprof is therefore a file in DIR/tools/profiler/bin, and DIR/bin has a link to
 * it. The files run the program that created them, by its path, or else the ascope in the PATH. Owner and mode matter,
 * too: MindSpore rejects files that are not executable or belong to a user other than root and its own.
 */
#ifndef ASCOPE_CLI_CMD_INSTALL_MSPROF_H
#define ASCOPE_CLI_CMD_INSTALL_MSPROF_H

#include "cli/option_table.h"

int run_install_msprof(struct arguments *a);

#endif
