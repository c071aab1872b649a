/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_msprof_py.h - the command line of the reference's parser, the script msprof.py. */
#ifndef ASCOPE_CLI_CMD_MSPROF_PY_H
#define ASCOPE_CLI_CMD_MSPROF_PY_H

int msprof_py_main(int argc, char **argv); /* the whole of `msprof.py` */

#endif
