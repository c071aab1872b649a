/* SPDX-License-Identifier: Apache-2.0 */
/* view_results.h - folders of results (ASCEND_PROFILER_OUTPUT, cluster_analysis_output): which file in them is
 * shown. */
#ifndef ASCOPE_VIEW_VIEW_RESULTS_H
#define ASCOPE_VIEW_VIEW_RESULTS_H

#include "base/arena.h"

/* The file to open for a folder with results and without raw data; the folder itself, if its tables are shown; NULL: it
 * is not a folder of results. */
const char *view_results_file(const char *dir, struct arena *mem);
bool view_has_raw(const char *dir); /* recorded data, of which a timeline can be drawn */

#endif
