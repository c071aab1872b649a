/* SPDX-License-Identifier: Apache-2.0 */
/* run_environment.h - builds the environment of a recorded program. */
#ifndef ASCOPE_RUN_RUN_ENVIRONMENT_H
#define ASCOPE_RUN_RUN_ENVIRONMENT_H

#include <stdbool.h>

#include "base/text/error.h"

/* Combines three sources; of variables with the same name the first source wins:
 * - `ours`: pairs of name and value, NULL after the last; pairs whose value is NULL are skipped;
 * - `more`: "K=V;K2=V2"; pieces without "=" are ignored; NULL: none;
 * - `callers`: an environment, such as environ.
 * Released by environment_free(). NULL: no memory. */
char **environment_make(char *const *callers, const char *more, const char *const *ours, struct error *e);
void environment_free(char **environment);

#endif
