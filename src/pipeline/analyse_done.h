/* SPDX-License-Identifier: Apache-2.0 */
/* analyse_done.h - analyse.done: the last file of an analysis, with its result.
 *
 * Other tools only check that it exists. It is JSON: what was written, what was lost, what failed, and the exit code
 * that this directory alone would give.
 */
#ifndef ASCOPE_PIPELINE_ANALYSE_DONE_H
#define ASCOPE_PIPELINE_ANALYSE_DONE_H

#include "pipeline/collection_write.h"

extern const char ANALYSE_RESULTS[]; /* the directory of the results, in that of the collection */
extern const char ANALYSE_DONE[];    /* its name in that directory */
bool analyse_done_write(const struct collection_result *r, int code_of_losses, const char *dir, struct error *e);

#endif
