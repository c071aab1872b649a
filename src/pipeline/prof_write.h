/* SPDX-License-Identifier: Apache-2.0 */
/* prof_write.h - writes the results of one PROF directory.
 *
 * Loads, analyses and writes; what was written, its contents and what was lost are returned as data, for the command
 * line to show. Nothing here prints.
 */
#ifndef ASCOPE_PIPELINE_PROF_WRITE_H
#define ASCOPE_PIPELINE_PROF_WRITE_H

#include "base/process/progress.h"
#include "export/export.h"
#include "pipeline/account.h"
#include "profile/profile.h"

struct result {
    struct profile profile; /* as analysed; valid until result_free() */
    struct account account;
};

/* Loads and analyses. Progress may be NULL. False: see e. */
bool prof_load(const char *prof_path, unsigned without, unsigned n_threads, struct progress *progress,
               struct result *out, struct error *e);
/* Also writes. False: nothing could be exported, with the reason in e. True: some outputs may have failed, see problems
 * and losses. */
bool prof_export(const char *prof_path, const struct output_options *options, struct progress *progress,
                 struct result *out, struct error *e);
/* The request for a database: everything. */
struct export prof_export_of(const struct profile *p, const struct output_options *options, struct arena *mem);
void result_clear(struct result *r); /* removes the intermediate databases that the reference has left */
void result_free(struct result *r);

#endif
