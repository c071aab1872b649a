/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_msprof.h - the reference's two command lines: the script msprof.py, and the launcher msprof as far as it parses collections. */
#ifndef ASCOPE_CLI_CMD_MSPROF_H
#define ASCOPE_CLI_CMD_MSPROF_H

#include "cli/command.h"

/* The whole of `msprof` and `msprof.py`. */
int msprof_main(int argc, char **argv);
int msprof_py_main(int argc, char **argv);

#endif
