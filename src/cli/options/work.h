/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - runs the same work on all collections of a command line and reports the results. */
#ifndef ASCOPE_CLI_OPTIONS_WORK_H
#define ASCOPE_CLI_OPTIONS_WORK_H

#include "base/process/progress.h"
#include "cli/options/collections.h"
#include "cli/options/option_table.h"
#include "pipeline/prof_write.h"

struct work {
    /* Fills r, which the caller frees in any case. False: nothing could be done, with the reason in e. */
    bool (*run)(const void *context, const char *path, struct progress *progress, struct result *r, struct error *e);
    const void *context;
};

/* Works on -dir and the words from `first_dir` on. Returns the exit code. */
int work_run(struct arguments *a, size_t first_dir, const struct work *w);

/* Keeps memory within --memory-limit until memory_unwatch(). Data beyond the limit is written to --out, or to the
 * first collection (NULL: there is none), where there is space for results: /tmp may be in memory. */
void work_memory(const struct arguments *a, const char *first);

/* Loads and analyses a PROF directory without some parts (enum profile_part), and measures both times. */
bool work_load(const char *path, unsigned without, unsigned n_threads, struct progress *progress, struct result *r,
               struct error *e);

#endif
