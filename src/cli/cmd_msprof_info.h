/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_msprof_info.h - the reference's script get_msprof_info.py: a folder of a collection described in one line of
 * JSON.
 *
 * MindSpore calls it before each analysis, for the frequency of the host counter and the version of the driver, and
 * waits at most one second: only the small files of the folder are read.
 */
#ifndef ASCOPE_CLI_CMD_MSPROF_INFO_H
#define ASCOPE_CLI_CMD_MSPROF_INFO_H

/* The whole of `get_msprof_info.py -dir PROF_XXX/host`, or of a device. */
int msprof_info_main(int argc, char **argv);

#endif
