/* SPDX-License-Identifier: Apache-2.0 */
/* exit_status.h - exit codes: one for each status and name of the command. */
#ifndef ASCOPE_CLI_OPTIONS_EXIT_STATUS_H
#define ASCOPE_CLI_OPTIONS_EXIT_STATUS_H

#include "cli/options/command.h"

int exit_code(enum face face, enum exit_status status);
enum exit_status arguments_refused(
    const struct arguments *a); /* the status of a rejected command line: invalid, or no memory */
extern const struct exit_meaning exit_meanings[];
extern const size_t n_exit_meanings;

#endif
