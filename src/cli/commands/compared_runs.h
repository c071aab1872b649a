/* SPDX-License-Identifier: Apache-2.0 */
/* compared_runs.h - the runs of both sides on a command line, measured: A… -- B…, or A B. */
#ifndef ASCOPE_CLI_COMMANDS_COMPARED_RUNS_H
#define ASCOPE_CLI_COMMANDS_COMPARED_RUNS_H

#include "answers/judge/compare.h"
#include "cli/commands/given_run.h"

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

#endif
