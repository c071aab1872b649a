/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_msprof_analyze.h - the command line of msprof-analyze, for scripts that call it by that name: a link to ascope is
 * enough.
 *
 * Its cluster options become those of `ascope cluster`. Exit codes are ours: the reference has 0 for every failure.
 */
#ifndef ASCOPE_CLI_CMD_MSPROF_ANALYZE_H
#define ASCOPE_CLI_CMD_MSPROF_ANALYZE_H

int msprof_analyze_main(int argc, char **argv);

#endif
