/* SPDX-License-Identifier: Apache-2.0 */
/* given_run.h - the run on a command line, or several, read; what cannot be used is reported. */
#ifndef ASCOPE_CLI_COMMANDS_GIVEN_RUN_H
#define ASCOPE_CLI_COMMANDS_GIVEN_RUN_H

#include "cli/options/command.h"
#include "open/run_read.h"

struct given_run {
    struct inputs inputs;
    struct run run;
    uint32_t *group; /* of given_runs() */
    bool is_begun;   /* private */
};

/* Reads it with `needs_steps` and `look` of a struct run_request. STATUS_DONE or STATUS_LOSSES: there are ranks.
 * Anything else: there are none, and the reason was reported. */
enum exit_status given_run(struct given_run *g, struct arguments *a, unsigned also, bool needs_steps,
                           recording_look *look);

/* Each word of the command line is a run of its own: group[i] is the word of input i. Keeps only what `look` returns. */
enum exit_status given_runs(struct given_run *g, struct arguments *a, recording_look *look, const void *look_of);

/* Limits the memory, before anything is read. Temporary files are beside a collection, never beside a trace. */
void given_run_memory(struct given_run *g, const struct arguments *a);
/* Reads g->inputs, which the caller has found; n_refused of the words could not be used. */
enum exit_status given_run_read(struct given_run *g, struct arguments *a, struct run_request how, size_t n_refused);
void given_run_end(struct given_run *g);

#endif
