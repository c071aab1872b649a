/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the table of commands. */
#ifndef ASCOPE_CLI_COMMANDS_H
#define ASCOPE_CLI_COMMANDS_H

#include "cli/command.h"

extern const struct command commands[];
extern const size_t n_commands;
const struct command *command_find(const char *name); /* by name or alias; NULL: unknown */

/* Other names of commands. */
struct command_alias {
    const char *name, *of;
};
extern const struct command_alias command_aliases[];
extern const size_t n_command_aliases;

/* A suggestion for a word that is a command of other tools; NULL: none. */
const char *command_hint(const char *word);

const char *command_nearest(const char *word); /* the command with the most similar name; NULL: none is similar */

#endif
