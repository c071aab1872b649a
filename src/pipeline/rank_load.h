/* SPDX-License-Identifier: Apache-2.0 */
/* rank_load.h - what is known of a rank, from its collection, for `ascope cluster` and for summaries.
 *
 * The collection is analysed, and its tables are read from where `ascope analyse` writes them: temporary databases, which are removed
 * at once. A rank is therefore the same from its collection and from its results, by construction.
 */
#ifndef ASCOPE_PIPELINE_RANK_LOAD_H
#define ASCOPE_PIPELINE_RANK_LOAD_H

#include "cluster/job.h"
#include "pipeline/account.h"
#include "pipeline/framework_kinds.h"

/* A collection of a framework or a PROF directory. As rank_loader. */
bool rank_load(const char *path, unsigned parts, struct rank *out, int *exit_code, struct error *e);

/* Where the summary of a collection belongs: in the directory of the collection, or below out_dir. NULL: no memory. */
const char *summary_path(const char *collection, const char *out_dir, int64_t rank, struct arena *mem);

/* What a summary depends on: names, sizes and times of all raw files, and the version of the program. */
uint64_t summary_source(const char *collection);

/* Whether there is a summary of this very data. *exit_code: of the analysis that made it. */
bool summary_is_current(const char *path, uint64_t source, int *exit_code);

/* Analyses the directory, and writes its summary last and atomically. */
bool summary_of_path(const char *collection, const struct output_options *options, uint64_t source, const char *path,
                     int *exit_code, struct error *e);

#endif
