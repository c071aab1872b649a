/* SPDX-License-Identifier: Apache-2.0 */
/* results_file.h - folders of results (ASCEND_PROFILER_OUTPUT, cluster_analysis_output): which files in them are read
 * or shown. */
#ifndef ASCOPE_OPEN_RESULTS_FILE_H
#define ASCOPE_OPEN_RESULTS_FILE_H

#include "base/memory/arena.h"

/* The file to open for a folder with results and without raw data; the folder itself, if its tables are shown; NULL: it
 * is not a folder of results. */
const char *results_file(const char *dir, struct arena *mem);
bool results_have_raw(const char *dir); /* recorded data, of which a timeline can be drawn */

/* The files with the timelines of ranks in a directory, its ASCEND_PROFILER_OUTPUT or mindstudio_profiler_output:
 * databases, or else a trace. Recorded data beside them is not looked at. False: no memory. */
struct results_files {
    LIST(const char *) list;
};
bool results_of_ranks(struct results_files *out, const char *dir, struct arena *mem);

/* What a directory or a file is that has no timeline, and what reads it, as the end of a sentence. NULL: nothing that
 * is known. */
const char *results_instead(const char *path);
const char *results_instead_of_ranks(const char *path); /* the same where ascope cluster has found nothing */

#endif
