/* SPDX-License-Identifier: Apache-2.0 */
/* rank_text.h - what text results say about a rank: step_trace_time.csv, communication.json, communication_matrix.json,
 * profiler_metadata.json.
 */
#ifndef ASCOPE_CLUSTER_JOB_RANK_TEXT_H
#define ASCOPE_CLUSTER_JOB_RANK_TEXT_H

#include <jansson.h>

#include "cluster/job/job.h"

/* Reads the wanted parts, and profiler_metadata.json. A file that does not exist is a part that the rank lacks. False:
 * a file cannot be read, is not JSON, or there is no memory. */
bool rank_text_load(const struct job_rank *r, unsigned parts, struct rank *out, struct error *e);

/* Reads distributed_args and parallel_group_info from profiler_metadata.json, if the identity lacks them. False: no
 * memory. */
bool rank_text_metadata(const char *collection, struct rank *out, struct error *e);

json_t *rank_text_json(const char *path); /* NULL: it cannot be read, or is not JSON */

#endif
