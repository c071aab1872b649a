/* SPDX-License-Identifier: Apache-2.0 */
/* results_file.h - folders of results (ASCEND_PROFILER_OUTPUT, cluster_analysis_output): which file in them is
 * shown. */
#ifndef ASCOPE_OPEN_RESULTS_FILE_H
#define ASCOPE_OPEN_RESULTS_FILE_H

#include "base/arena.h"

/* The file to open for a folder with results and without raw data; the folder itself, if its tables are shown; NULL: it
 * is not a folder of results. */
const char *results_file(const char *dir, struct arena *mem);
bool results_have_raw(const char *dir); /* recorded data, of which a timeline can be drawn */

#endif
