/* SPDX-License-Identifier: Apache-2.0 */
/* reports.h - the file of -reports: which processes the timeline shows. */
#ifndef ASCOPE_REPORT_REPORTS_H
#define ASCOPE_REPORT_REPORTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/memory/arena.h"
#include "base/text/error.h"

struct processes {
    const char **name; /* the processes that are switched on, in mem; NULL: all */
    size_t n;
    char advice[200]; /* why the file is not followed and all processes are shown; "": it is followed */
};

/* False: the file cannot be read. With a readable but invalid file all processes are shown, as in the reference. */
bool reports_read(const char *path, struct arena *mem, struct processes *out, struct error *e);

#endif
