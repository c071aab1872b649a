/* SPDX-License-Identifier: Apache-2.0 */
/* manual.h - the man page, made from the tables of commands and options. */
#ifndef ASCOPE_CLI_OPTIONS_MANUAL_H
#define ASCOPE_CLI_OPTIONS_MANUAL_H

#include "cli/options/command.h"

void manual_print(void);

#endif
