/* SPDX-License-Identifier: Apache-2.0 */
/* compared_runs.h - registry: the runs of both sides on a command line, measured: A… -- B…, or A B. */
#ifndef ASCOPE_CLI_COMMANDS_COMPARED_RUNS_H
#define ASCOPE_CLI_COMMANDS_COMPARED_RUNS_H

#include "answers/judge/compare.h"
#include "cli/commands/given_run.h"
#include "report/compare_report.h"

struct compared_runs {
    struct given_run given;
    struct names *names;
    struct measured_run *run; /* n_a of A, then n_b of B */
    size_t n_a, n_b;
    enum exit_status status; /* STATUS_DONE or STATUS_LOSSES */
};

/* False: there is nothing to compare; the reason was reported, and is x->status. compared_runs_end() must be called in
 * any case. */
bool compared_runs_read(struct compared_runs *x, struct arguments *a);
void compared_runs_end(struct compared_runs *x);

/* compare_runs() of them. False: the reason was reported, and is x->status. */
bool compared_runs_compare(struct compared_runs *x, struct arguments *a, struct comparison *c);

/* The measures of device i of a recording, in mem. NULL: see e. */
struct measured_rank *measured_rank_take(const struct recording *l, size_t i, struct names *names, struct arena *mem,
                                         struct error *e);

/* compare_files.c: writes a comparison to files: a CSV table for each kind, a database, and a page for a browser. */

/* Writes compare_*.csv, comparison.db and comparison.html to a directory, which is created. csv_is_safe: see
 * --csv-safe. *n_written: the number of tables that were written, also after a failure. False: see e. */
bool compare_files_write(const struct compare_report *r, const char *dir, bool csv_is_safe, size_t *n_written,
                         struct error *e);

#endif
