/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - registry: runs the same work on all collections of a command line and reports the results. */
#ifndef ASCOPE_CLI_OPTIONS_WORK_H
#define ASCOPE_CLI_OPTIONS_WORK_H

#include <jansson.h>

#include "analyse/framework/steps/step_series.h"
#include "base/process/progress.h"
#include "cli/options/command.h"
#include "cli/options/option_table.h"
#include "pipeline/collection_write.h"
#include "pipeline/prof_write.h"
#include "report/term.h"

/* collections.c: finds the PROF directories of a command line. */

struct collections {
    char **path; /* of PROF directories, in the order of the command line */
    size_t n;
    size_t n_refused; /* arguments without a collection, each reported on stderr */
};

/* -dir and the words from `first` on. Anything but STATUS_DONE: there is nothing to do, and stderr says why. */
enum exit_status collections_find(struct arguments *a, size_t first, struct collections *out);
void collections_free(struct collections *c);

/* The results of several collections, and the status of the command. */
struct results_tally {
    size_t n_done, n_lossy, n_failed;
};
enum exit_status tally_status(const struct results_tally *t);

/* Prints a note on stderr, unless --quiet was given. */
void advise(const struct arguments *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

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

/* collection_summary.c: the summary of a collection of a framework: steps, operators, memory, files and losses. */

/* Prints the summary, or nothing with --json or --quiet. `choice`: the requested steps; NULL: all. False: a part is
 * missing for want of memory. */
bool collection_summary_print(const struct term *t, const struct arguments *a, const struct step_choice *choice,
                              const struct collection_result *r, bool is_of_job);
/* A new reference; NULL without memory. */
json_t *collection_summary_json(const struct arguments *a, const struct step_choice *choice,
                                const struct collection_result *r, bool is_of_job);

#endif
