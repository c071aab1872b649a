/* SPDX-License-Identifier: Apache-2.0 */
/* reports.h - the file of -reports: which processes the timeline shows. */
#ifndef ASCOPE_CLI_REPORTS_H
#define ASCOPE_CLI_REPORTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

struct processes {
    const char **name; /* those that are switched on, in mem; NULL: all of them */
    size_t n;
    char advice[200]; /* why everything is shown after all; "" when the file was followed */
};

/* False: the file cannot be read. A file that can be read but not followed shows everything, as the reference does. */
bool reports_read(const char *path, struct arena *mem, struct processes *out, struct error *e);

#endif
