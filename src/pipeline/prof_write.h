/* SPDX-License-Identifier: Apache-2.0 */
/* prof_write.h - one collection from its directory to its results.
 *
 * Loads, analyses and writes; what was written, what it holds and what was lost comes back as data, for the command line
 * to show. Nothing here prints.
 */
#ifndef ASCOPE_PIPELINE_PROF_WRITE_H
#define ASCOPE_PIPELINE_PROF_WRITE_H

#include "base/progress.h"
#include "export/output_options.h"
#include "pipeline/account.h"
#include "profile/profile.h"

struct result {
    struct profile profile; /* as analysed; live until result_free() */
    struct account account;
};

/* Progress may be NULL. False: nothing could be exported, and e says why. True with problems or losses: see there. */
bool prof_export(const char *prof_path, const struct output_options *options, struct progress *progress,
                 struct result *out, struct error *e);
void result_clear(struct result *r); /* removes the intermediate databases that the reference has left */
void result_free(struct result *r);

#endif
