/* SPDX-License-Identifier: Apache-2.0 */
/* help.h - `ascope help` and --help, made from the tables of commands and options. */
#ifndef ASCOPE_CLI_OPTIONS_HELP_H
#define ASCOPE_CLI_OPTIONS_HELP_H

#include "cli/options/command.h"

int run_help(struct arguments *a);
void help_overview(void);
int help_unknown(const char *word); /* reports an unknown command with a suggestion; returns the exit code */
void help_command(enum face face, const struct command *c);
void help_row(const char *option, const char *help); /* an option in a list, on one or more lines */

#endif
