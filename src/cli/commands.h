/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the table of commands. */
#ifndef ASCOPE_CLI_COMMANDS_H
#define ASCOPE_CLI_COMMANDS_H

#include "cli/command.h"

extern const struct command commands[];
extern const size_t n_commands;
const struct command *command_find(const char *name); /* by its name or another one; NULL: there is none */

/* Other names of commands. */
struct command_alias {
    const char *name, *of;
};
extern const struct command_alias command_aliases[];
extern const size_t n_command_aliases;

/* What to type instead of a word that is a command in other tools; NULL: it is in none that we know. */
const char *command_hint(const char *word);

const char *command_nearest(const char *word); /* a slip or two away from it; NULL: no command is */

#endif
