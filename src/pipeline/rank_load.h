/* SPDX-License-Identifier: Apache-2.0 */
/* rank_load.h - loads the data of a rank from its collection, for `ascope cluster` and for summaries.
 *
 * The collection is analysed. The functions that write its databases hand over the rows of their tables, without a
 * file. A rank therefore has the same data whether it is read from its collection or from its results.
 */
#ifndef ASCOPE_PIPELINE_RANK_LOAD_H
#define ASCOPE_PIPELINE_RANK_LOAD_H

#include "cluster/job/job.h"
#include "pipeline/account.h"
#include "export/output_options.h"
#include "open/framework_kinds.h"

/* A rank_loader (cluster/job/job.h) for collections of frameworks and PROF directories. */
bool rank_load(const char *path, unsigned parts, struct rank *out, int *exit_code, struct error *e);

/* The path of a collection's summary: in its directory, or below out_dir. NULL: no memory. */
const char *summary_path(const char *collection, const char *out_dir, int64_t rank, struct arena *mem);

/* A hash of everything that a summary depends on: names, sizes and times of all raw files, and the version of
 * ascope. */
uint64_t summary_source(const char *collection);

/* Whether a summary of the same source exists. *exit_code: that of the analysis that made it. */
bool summary_is_current(const char *path, uint64_t source, int *exit_code);

/* Analyses the collection and writes its summary atomically. False: see e. */
bool summary_of_path(const char *collection, const struct output_options *options, uint64_t source, const char *path,
                     int *exit_code, struct error *e);

#endif
