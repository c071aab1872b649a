/* SPDX-License-Identifier: Apache-2.0 */
/* completion.h - `ascope completion`: completions for shells, made from the tables of commands and options. */
#ifndef ASCOPE_CLI_OPTIONS_COMPLETION_H
#define ASCOPE_CLI_OPTIONS_COMPLETION_H

#include "cli/options/command.h"

int run_completion(struct arguments *a);

#endif
