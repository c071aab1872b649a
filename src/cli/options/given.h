/* SPDX-License-Identifier: Apache-2.0 */
/* given.h - the inputs on a command line; what cannot be used is reported. */
#ifndef ASCOPE_CLI_OPTIONS_GIVEN_H
#define ASCOPE_CLI_OPTIONS_GIVEN_H

#include "cli/options/command.h"
#include "open/inputs.h"

/* Finds the inputs of -dir and all words; *n_refused: those without one. `also`: see inputs_add(). Anything but
 * STATUS_DONE: there are none. */
enum exit_status given_inputs(struct inputs *t, size_t *n_refused, struct arguments *a, unsigned also);

/* Appends the inputs of one path. */
enum exit_status given_add(struct inputs *t, const char *path, unsigned also);

#endif
