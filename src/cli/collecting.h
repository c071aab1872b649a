/* SPDX-License-Identifier: Apache-2.0 */
/* collecting.h - what `ascope run` and `msprof` do with a request: record, report how the program ended, export, summarise. */
#ifndef ASCOPE_CLI_COLLECTING_H
#define ASCOPE_CLI_COLLECTING_H

#include "cli/msprof_line.h"
#include "cli/option_table.h"
#include "run/run.h"

/* The options of a line that are about results, into the arguments of the commands that make them. */
void results_fill(struct arguments *a, const struct msprof_line *l);

/* The exit code. Of `ascope run` it is the program's own, 128 and the number of the signal that killed it, or 127 if it could not be
 * started; only when the program ended well it is that of the export. Of msprof it says whether there are results. chip: platform number, -1 for
 * none. */
int collecting_run(struct arguments *a, struct run_request *r, int chip, bool exports);

#endif
