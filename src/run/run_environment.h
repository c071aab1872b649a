/* SPDX-License-Identifier: Apache-2.0 */
/* run_environment.h - the environment of a program that is recorded: the caller's, what the user adds, and what we add. */
#ifndef ASCOPE_RUN_RUN_ENVIRONMENT_H
#define ASCOPE_RUN_RUN_ENVIRONMENT_H

#include <stdbool.h>

#include "base/error.h"

/* A name counts once: ours come before those of `more` ("K=V;K2=V2"; pieces without "=" are passed over; NULL: none), and these before
 * the caller's. `ours` is pairs of name and value, NULL behind the last; a value of NULL is no variable. Freed by environment_free(). */
char **environment_make(char *const *callers, const char *more, const char *const *ours, struct error *e);
void environment_free(char **environment);

#endif
