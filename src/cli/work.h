/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - one kind of work on all collections of a command line, with the same messages for the results. */
#ifndef ASCOPE_CLI_WORK_H
#define ASCOPE_CLI_WORK_H

#include "base/progress.h"
#include "cli/collections.h"
#include "cli/option_table.h"
#include "pipeline/prof_write.h"

struct work {
    /* Fills r, which the caller frees in any case. False: nothing could be done, with the reason in e. */
    bool (*run)(const void *context, const char *path, struct progress *progress, struct result *r, struct error *e);
    const void *context;
};

/* -dir and the words from `first_dir` on. The exit code. */
int work_run(struct arguments *a, size_t first_dir, const struct work *w);

/* Keeps memory within --memory-limit until memory_unwatch(). What does not fit goes where the results go: there is room for
 * them, and it is no memory, as /tmp may be: to --out, or to the first collection (NULL: there is none). */
void work_memory(const struct arguments *a, const char *first);

/* Reads and analyses, and takes the time of both. */
bool work_load(const char *path, unsigned n_threads, struct progress *progress, struct result *r, struct error *e);

#endif
