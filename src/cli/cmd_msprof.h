/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_msprof.h - the command line of the reference's launcher, msprof: it collects, and it parses collections. */
#ifndef ASCOPE_CLI_CMD_MSPROF_H
#define ASCOPE_CLI_CMD_MSPROF_H

int msprof_main(int argc, char **argv); /* the whole of `msprof` */

#endif
