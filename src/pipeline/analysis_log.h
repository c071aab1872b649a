/* SPDX-License-Identifier: Apache-2.0 */
/* analysis_log.h - logs/: what an analysis found, wrote and lost, as lines of text. */
#ifndef ASCOPE_PIPELINE_ANALYSIS_LOG_H
#define ASCOPE_PIPELINE_ANALYSIS_LOG_H

#include "pipeline/collection_write.h"

/* Writes DIR/logs/profiler_{YYYYmmddHHMMSS}_{pid}_ascope.log, or {pid}_1, {pid}_2 ... if that exists: a process in
 * another container may have the same pid in the same second. False: see e. */
bool analysis_log_write(const struct collection_result *r, const char *dir, struct error *e);

#endif
